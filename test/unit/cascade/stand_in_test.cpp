#include "cascade/stand_in.hpp"

#include "cascade/errc.hpp"
#include "cascade/wording.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

trail steps_of(std::initializer_list<trail::entry> entries) {
  trail made;
  for (const auto& entry : entries) made.entries[made.size++] = entry;
  return made;
}

marker cached() {
  marker made;
  made.served_by = served_by::cache;
  made.reason = reason::open;
  made.state = "open";
  made.age = 81'250ms;
  made.retry_after = 21s;
  made.steps = steps_of({{"primary", ending::refused}, {"cache", ending::hit}});
  return made;
}

constexpr std::string_view cached_json =
    R"({"degraded":true,"served_by":"cache","reason":"open","state":"open","age_ms":81250,"retry_after_ms":21000,)"
    R"("steps":["primary:refused","cache:hit"]})";

TEST(a_marker, says_what_the_contract_says) {
  EXPECT_EQ(to_json(cached()), cached_json);
}

TEST(a_marker, leaves_out_what_is_not_known) {
  marker bare;
  bare.reason = reason::timeout;
  bare.outcome_unknown = true;
  bare.steps = steps_of({{"primary", ending::timed_out}});

  EXPECT_EQ(to_json(bare), R"({"degraded":true,"served_by":"none","reason":"timeout","outcome":"unknown",)"
                           R"("steps":["primary:timeout"]})");
}

TEST(a_marked_answer, gets_meta_and_note_and_keeps_every_other_byte) {
  const auto out =
      marked(R"( {"content":[ {"type":"text","text":"hi"} ] , "structuredContent":{"n":1e400} } )", cached(), "stale");

  ASSERT_TRUE(out);
  EXPECT_EQ(*out, R"( {"content":[ {"type":"text","text":"hi"} ,{"type":"text","text":"stale"}] , )"
                  R"("structuredContent":{"n":1e400} ,"_meta":{"dev.switchgear/call":)" +
                      std::string(cached_json) + "}}");
}

TEST(a_marked_answer, keeps_the_meta_it_had) {
  const auto out = marked(R"({"_meta":{"a":{"b":1}},"content":[]})", cached(), "stale");

  EXPECT_EQ(*out, R"({"_meta":{"a":{"b":1},"dev.switchgear/call":)" + std::string(cached_json) +
                      R"(},"content":[{"type":"text","text":"stale"}]})");
}

TEST(a_marked_answer, fills_an_empty_meta) {
  EXPECT_EQ(*marked(R"({"content":[],"_meta":{ } })", cached(), ""),
            R"({"content":[],"_meta":{ "dev.switchgear/call":)" + std::string(cached_json) + "} }");
}

TEST(a_marked_answer, replaces_the_marker_of_another_switchgear) {
  EXPECT_EQ(*marked(R"({"content":[],"_meta":{"dev.switchgear/call":{"served_by":"tool"},"k":1}})", cached(), ""),
            R"({"content":[],"_meta":{"k":1,"dev.switchgear/call":)" + std::string(cached_json) + "}}");
}

TEST(a_marked_answer, without_content_gets_some) {
  EXPECT_EQ(*marked("{}", cached(), "stale"), R"({"content":[{"type":"text","text":"stale"}],"_meta":{)"
                                              R"("dev.switchgear/call":)" +
                                                  std::string(cached_json) + "}}");
}

TEST(an_answer_that_is_no_object, cannot_be_marked) {
  for (const char* text : {"", "[]", "1", "{", R"({"content":[1)", R"({"_meta":{)", "null"}) {
    EXPECT_EQ(marked(text, cached(), "stale").error(), errc::bad_result) << text;
  }
}

TEST(the_structured_content, of_a_result_is_its_own_bytes) {
  EXPECT_EQ(structured_of(R"({"content":[],"structuredContent":{"n": 9007199254740993 } , "_meta":{}})"),
            R"({"n": 9007199254740993 })");
  EXPECT_EQ(structured_of(R"({"content":[]})"), "");
  EXPECT_EQ(structured_of("[1"), "");
}

TEST(a_plain_answer, has_its_text_and_its_structure) {
  EXPECT_EQ(plain_result({"a \"b\"", ""}), R"({"content":[{"type":"text","text":"a \"b\""}]})");
  EXPECT_EQ(plain_result({"", R"({"n":1})"}),
            R"({"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}})");
}

TEST(a_failure, is_an_error_result_with_the_marker) {
  marker none = cached();
  none.served_by = served_by::none;
  none.age.reset();

  EXPECT_EQ(failure_result("down", none),
            R"({"content":[{"type":"text","text":"down"}],"isError":true,"_meta":{"dev.switchgear/call":)" +
                to_json(none) + "}}");
}

account sick() {
  account made;
  made.tool = "search__query";
  made.server = "search";
  made.waited = 5s;
  made.steps = steps_of({{"primary", ending::refused}});
  return made;
}

TEST(the_text_of_a_failure, tells_what_is_down_since_when_when_to_retry_and_what_else_there_is) {
  account what = sick();
  what.reason = reason::open;
  what.why_refused = account::refusal::open;
  what.since = 12s;
  what.retry_after = 18'200ms;
  what.alternatives = {"backup__query", "archive__query"};

  EXPECT_EQ(failure_text(what),
            "Not called: the tool search__query (server search) keeps failing, so calls to it are stopped (for 12 s "
            "now). Retry in 19 s. You can use instead: backup__query or archive__query.");
}

TEST(the_text_of_a_failure, says_when_the_outcome_is_unknown) {
  account what = sick();
  what.reason = reason::timeout;
  what.outcome_unknown = true;

  EXPECT_EQ(failure_text(what),
            "The tool search__query (server search) did not answer within 5 s. It is not known whether the call took "
            "effect; find out before you repeat it.");
}

TEST(the_text_of_a_failure, lists_the_steps_and_holds_the_primarys_error) {
  const plan fallback{{cache_step{}, tool_step{"backup__query", ""}}};
  account what = sick();
  what.reason = reason::upstream_error;
  what.detail = "HTTP 502, text/html: <h1>Bad Gateway</h1>";
  what.fallback = &fallback;
  what.steps = steps_of({{"primary", ending::failed}, {"cache", ending::miss}, {"tool", ending::timed_out}});

  EXPECT_EQ(failure_text(what),
            "The tool search__query failed at the server search: HTTP 502, text/html: <h1>Bad Gateway</h1>. Fallbacks "
            "tried: cache (no answer stored), tool backup__query (no answer in time).");
}

TEST(the_text_of_a_failure, names_the_server_when_its_breaker_refused) {
  account what = sick();
  what.reason = reason::open;
  what.why_refused = account::refusal::open;
  what.server_scope = true;

  EXPECT_EQ(failure_text(what),
            "Not called: the server search, which has the tool search__query, keeps failing, so calls to it are "
            "stopped.");
}

TEST(a_length_of_time, is_readable_and_never_too_short) {
  EXPECT_EQ(readable(-1s), "0 ms");
  EXPECT_EQ(readable(1ns), "1 ms");
  EXPECT_EQ(readable(350ms), "350 ms");
  EXPECT_EQ(readable(1'001ms), "2 s");
  EXPECT_EQ(readable(60s), "1 min");
  EXPECT_EQ(readable(185s), "3 min 5 s");
  EXPECT_EQ(readable(2h + 10min), "2 h 10 min");
}

TEST(the_note_of_a_stand_in, is_short_and_says_what_it_is) {
  EXPECT_EQ(note("search__query", cached()),
            "[Switchgear: this is a cached answer, 1 min 22 s old, since search__query is not answering (open); it may "
            "be back in 21 s.]");
}

}  // namespace
}  // namespace switchgear::cascade
