// Every row of the table of outcomes.
#include "call/classify.hpp"

#include "support/fake_upstream.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::call {
namespace {

using breaker::verdict;
using cascade::ending;
using cascade::reason;
using port::fault;
using test::reply_of;

struct row {
  const char* what;
  verdict server, tool;
  ending how;
  cascade::reason why;
  bool slow = false;
  bool connect = false;
};

void expect(const meaning& got, const row& wanted) {
  EXPECT_EQ(got.server.verdict, wanted.server) << wanted.what;
  EXPECT_EQ(got.tool.verdict, wanted.tool) << wanted.what;
  EXPECT_EQ(got.how, wanted.how) << wanted.what;
  EXPECT_EQ(got.reason, wanted.why) << wanted.what;
  EXPECT_EQ(got.tool.slow, wanted.slow) << wanted.what;
  EXPECT_EQ(got.server.connect, wanted.connect) << wanted.what;
}

meaning of(const port::reply& reply) {
  return classify(reply, {}, false);
}

std::string error(int code) {
  return R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + std::to_string(code) + R"(,"message":"m"}})";
}

constexpr auto good = verdict::success;
constexpr auto bad = verdict::failure;
constexpr auto neither = verdict::neutral;
constexpr std::string_view result = R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})";
constexpr std::string_view is_error =
    R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"quota \"used\" up"}],"isError":true}})";

TEST(an_upstream_that_was_not_reached, is_the_servers_failure_and_not_the_tools) {
  for (const fault why :
       {fault::not_ready, fault::resolve_failed, fault::connect_failed, fault::tls_failed, fault::start_failed}) {
    expect(of(reply_of(why)), {"connect", bad, neither, ending::unreachable, reason::unreachable, false, true});
  }
}

TEST(a_connection_lost_before_any_byte_came, is_the_servers_failure) {
  auto lost = reply_of(fault::lost);
  lost.head_seen = false;

  expect(of(lost), {"reset", bad, neither, ending::failed, reason::upstream_error, false, true});
}

TEST(a_connection_lost_within_an_answer, is_the_tools_failure) {
  auto lost = reply_of(fault::lost, 200);
  lost.head_seen = true;

  expect(of(lost), {"reset in the answer", good, bad, ending::failed, reason::upstream_error});
}

TEST(a_child_that_ended, is_the_servers_failure_even_after_progress) {
  auto lost = reply_of(fault::lost);
  lost.head_seen = true;

  expect(of(lost), {"exit", bad, neither, ending::failed, reason::upstream_error, false, true});
}

TEST(a_deadline, blames_both_if_nothing_came_and_the_tool_alone_if_something_did) {
  expect(of(reply_of(fault::deadline)), {"silence", bad, bad, ending::timed_out, reason::timeout, true});
  expect(of(reply_of(fault::deadline_after_head)), {"head", good, bad, ending::timed_out, reason::timeout, true});
}

TEST(a_deadline_before_anything_was_sent, is_the_servers_failure) {
  const auto got = of(reply_of(fault::deadline_before_send));

  expect(got, {"black hole", bad, neither, ending::timed_out, reason::timeout, false, true});
  EXPECT_TRUE(got.server.slow);
}

TEST(a_gateway_status, is_the_servers_failure) {
  for (const int status : {502, 503, 504}) {
    expect(of(reply_of(fault::bad_status, status)), {"502", bad, neither, ending::failed, reason::upstream_error});
    expect(of(reply_of(error(-32603), status)), {"502+", bad, neither, ending::failed, reason::upstream_error});
  }
}

TEST(a_server_error_status, is_the_tools_failure) {
  for (const int status : {500, 501, 505}) {
    expect(of(reply_of(fault::bad_status, status)), {"500", good, bad, ending::failed, reason::upstream_error});
    expect(of(reply_of(error(-32602), status)), {"500+", good, bad, ending::failed, reason::upstream_error});
  }
}

TEST(an_internal_or_unknown_error_code, is_the_tools_failure) {
  for (const int code : {-32603, -32000, -32001, -32003, -32019}) {
    expect(of(reply_of(error(code))), {"-32603", good, bad, ending::failed, reason::upstream_error});
  }
}

TEST(an_answer_that_is_no_message, is_the_tools_failure) {
  for (const fault why : {fault::bad_media_type, fault::bad_message}) {
    expect(of(reply_of(why, 200)), {"garbage", good, bad, ending::failed, reason::upstream_error});
  }
}

TEST(a_throttle, is_no_failure) {
  auto busy = reply_of(fault::bad_status, 503);
  busy.retry_after = std::chrono::seconds(3);

  expect(of(reply_of(fault::bad_status, 429)), {"429", neither, neither, ending::throttled, reason::throttled});
  expect(of(busy), {"503 with Retry-After", neither, neither, ending::throttled, reason::throttled});
}

TEST(a_rejected_credential, says_nothing_about_the_tool) {
  for (const int status : {401, 403}) {
    expect(of(reply_of(fault::bad_status, status)), {"401", good, neither, ending::denied, reason::denied});
    expect(of(reply_of(error(-32600), status)), {"401+", good, neither, ending::denied, reason::denied});
  }
}

TEST(an_error_that_blames_the_caller, is_a_timely_answer) {
  for (const int code : {-32602, -32600, -32002, 4711}) {
    expect(of(reply_of(error(code))), {"-32602", good, good, ending::answered, reason::none});
  }
  for (const int status : {400, 404, 405, 422}) {
    expect(of(reply_of(error(-32602), status)), {"400+", good, good, ending::answered, reason::none});
    expect(of(reply_of(error(-32000), status)), {"400+pool", good, good, ending::answered, reason::none});
  }
}

TEST(an_unknown_tool, is_an_answer_that_says_nothing_about_the_tool) {
  expect(of(reply_of(error(-32601))), {"-32601", good, neither, ending::answered, reason::none});
}

TEST(a_client_error_without_a_message, says_nothing_about_anybody) {
  for (const int status : {302, 400, 404, 410}) {
    expect(of(reply_of(fault::bad_status, status)), {"404", neither, neither, ending::failed, reason::upstream_error});
  }
}

TEST(a_version_mismatch, says_nothing_about_anybody) {
  for (const int code : {-32700, -32020, -32021, -32022}) {
    expect(of(reply_of(error(code))), {"-32020", neither, neither, ending::answered, reason::none});
  }
}

TEST(a_result, is_a_success) {
  expect(of(reply_of(result)), {"result", good, good, ending::answered, reason::none});
}

TEST(a_result_with_is_error, counts_by_policy_and_is_always_the_primarys_own) {
  const auto reply = reply_of(is_error);
  port::tool_policy neutral, failure, success;
  failure.breaker.is_error = breaker::is_error::failure;
  success.breaker.is_error = breaker::is_error::success;

  expect(classify(reply, neutral, false), {"neutral", good, neither, ending::answered, reason::none});
  expect(classify(reply, failure, false), {"failure", good, bad, ending::answered, reason::none});
  expect(classify(reply, success, false), {"success", good, good, ending::answered, reason::none});
}

TEST(a_result_with_is_error, shows_in_a_probe_that_the_tool_works) {
  expect(classify(reply_of(is_error), {}, true), {"probe", good, good, ending::answered, reason::none});
}

// RC-011.
TEST(a_result_with_is_error, is_a_failure_when_its_text_is_one_that_the_policy_names) {
  port::tool_policy named, other;
  named.error_text = {"nothing like it", R"(quota "used")"};
  other.error_text = {"isError", "not there"};

  expect(classify(reply_of(is_error), named, false), {"named", good, bad, ending::answered, reason::none});
  expect(classify(reply_of(is_error), other, false), {"other", good, neither, ending::answered, reason::none});
}

TEST(a_good_result, is_not_searched_for_error_texts) {
  port::tool_policy named;
  named.error_text = {""};

  expect(classify(reply_of(result), named, false), {"good", good, good, ending::answered, reason::none});
}

TEST(a_lost_session, is_the_servers_failure) {
  expect(of(reply_of(fault::session_lost, 404)), {"404", bad, neither, ending::failed, reason::upstream_error});
}

TEST(a_call_that_was_cancelled, says_nothing_about_anybody) {
  expect(of(reply_of(fault::cancelled)), {"cancel", neither, neither, ending::cancelled, reason::none});
}

TEST(a_limit_of_our_own, says_nothing_about_the_tool) {
  expect(of(reply_of(fault::overloaded)), {"full", neither, neither, ending::refused, reason::overloaded});
  expect(of(reply_of(fault::too_large, 200)), {"large", good, neither, ending::failed, reason::upstream_error});
}

}  // namespace
}  // namespace switchgear::call
