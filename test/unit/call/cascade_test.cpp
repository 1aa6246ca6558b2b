// What stands in for a tool that does not answer, and what never does.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::cache_step;
using cascade::fixed_step;
using cascade::served_by;
using cascade::tool_step;
using port::fault;
using test::reply_of;

constexpr std::string_view structured_answer =
    R"({"jsonrpc":"2.0","id":9,"result":{"content":[],"structuredContent":{"n":9007199254740993}}})";

port::reply down() {
  return reply_of(fault::connect_failed);
}

TEST(a_stored_answer, stands_in_marked_with_its_age) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{10min}};
  gate.search.answer(good_answer);
  gate.ask(R"({"a":1,"b":2})");
  gate.breakers.open("search__query", 1s, 21s);

  const heard answer = gate.ask(R"({ "b":2, "a":1 })", "2");

  EXPECT_TRUE(answer.degraded);
  EXPECT_FALSE(answer.is_error());
  EXPECT_EQ(answer.words(), "fine");
  EXPECT_EQ(answer.json.at("id").as_int64(), 2);
  const auto& marker = answer.result().at("_meta").at(cascade::marker_key);
  EXPECT_EQ(marker.at("served_by").as_string(), "cache");
  EXPECT_EQ(marker.at("reason").as_string(), "open");
  EXPECT_EQ(marker.at("state").as_string(), "open");
  EXPECT_LT(marker.at("age_ms").as_int64(), 5000);
  EXPECT_EQ(boost::json::serialize(marker.at("steps")), R"(["primary:refused","cache:hit"])");
  EXPECT_EQ(gate.recorder.calls[1].served_by, served_by::cache);
}

TEST(a_stored_answer, is_given_for_the_same_question_only) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{10min}};
  gate.search.answer(good_answer);
  gate.ask(R"({"a":1})");
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_FALSE(gate.ask(R"({"a":1})").is_error());
  EXPECT_FALSE(gate.ask(R"({"a":1})", "3", R"({"other":true})").is_error());
  for (const char* other : {R"({"a":2})", R"({"a":1.0})", R"({"a":null})", "{}", R"({"a":1,"b":null})"}) {
    EXPECT_TRUE(gate.ask(other).is_error()) << other;
  }
}

TEST(a_stored_answer, is_not_given_to_another_principal) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{10min}};
  gate.principal = "ann";
  gate.search.answer(good_answer);
  gate.ask();
  gate.breakers.open("search__query", 1s, 21s);

  gate.principal = "bob";
  EXPECT_TRUE(gate.ask().is_error());
  gate.principal = "ann";
  EXPECT_FALSE(gate.ask().is_error());
}

TEST(a_stored_answer, is_given_to_everybody_if_the_operator_says_so) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{.max_age = 10min, .share = cascade::share::all}};
  gate.principal = "ann";
  gate.search.answer(good_answer);
  gate.ask();
  gate.breakers.open("search__query", 1s, 21s);

  gate.principal = "bob";
  EXPECT_FALSE(gate.ask().is_error());
}

TEST(a_stored_answer, is_that_of_everybody_only_in_the_step_that_says_so) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{.max_age = 1ms},
                                  cache_step{.max_age = 10min, .share = cascade::share::all}};
  gate.principal = "ann";
  gate.search.answer(good_answer);
  gate.ask();
  EXPECT_EQ(gate.answers.size(), 2U) << "one for each kind";
  gate.breakers.open("search__query", 1s, 21s);

  gate.principal = "bob";
  const heard answer = gate.ask();

  EXPECT_EQ(boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:refused","cache:miss","cache:hit"])");
  EXPECT_EQ(gate.recorder.calls[1].stored, cascade::stored_answer::memory);
}

TEST(a_stored_answer, is_not_given_after_the_tool_has_changed) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{10min}};
  gate.search.answer(good_answer);
  gate.ask();
  gate.list(structured_tool, plain_tool);
  gate.known();
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_TRUE(gate.ask().is_error());
}

TEST(a_stored_answer, that_does_not_fit_the_output_schema_is_not_given) {
  gateway gate(structured_tool);
  gate.policy().fallback.steps = {cache_step{10min}, fixed_step{"sorry", R"({"n":0})"}};
  gate.search.answer(R"({"jsonrpc":"2.0","id":9,"result":{"content":[],"structuredContent":{"n":"x"}}})");
  gate.search.answer(structured_answer);
  gate.ask(R"({"q":1})");
  gate.ask(R"({"q":2})");
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_EQ(boost::json::serialize(gate.ask(R"({"q":1})").result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:refused","cache:unfit","static:hit"])");
  EXPECT_NE(gate.ask(R"({"q":2})").text.find(R"("n":9007199254740993)"), std::string::npos);
}

TEST(a_stored_answer, is_given_though_nobody_can_read_the_output_schema) {
  gateway gate(R"([{"name":"query","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},)"
               R"("outputSchema":{"$ref":"http://elsewhere/"}}])");
  gate.policy().fallback.steps = {cache_step{10min}, fixed_step{"sorry", R"({"n":0})"}};
  gate.search.answer(structured_answer);
  gate.ask();
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_NE(gate.ask().text.find(R"("n":9007199254740993)"), std::string::npos);
  // Once, with the tool's name and the reason.
  const auto& problems = gate.known().problems();
  const auto of_schema = [](const std::string& line) {
    return line.find("outputSchema cannot be checked: ") != line.npos;
  };
  EXPECT_EQ(std::ranges::count_if(problems, of_schema), 1);
  EXPECT_TRUE(
      std::ranges::any_of(problems, [](const std::string& line) { return line.starts_with("search__query: "); }));
}

// RC-071.
TEST(only_the_last_good_answer, is_ever_given_again) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{10min}};
  const auto answer_with = [](std::string_view text) {
    return R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":")" + std::string(text) + R"("}]}})";
  };
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})");
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"m"}})");
  gate.search.answer(reply_of(fault::bad_media_type, 200, "text/html: <p>"));
  gate.search.answer(reply_of(fault::lost));
  gate.search.answer(reply_of(fault::too_large, 200));
  for (int i = 0; i < 5; ++i) gate.ask();
  EXPECT_EQ(gate.answers.size(), 0U);
  gate.search.answer(answer_with("S1"));
  gate.search.answer(answer_with("S2"));
  gate.ask();
  gate.ask();
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})");
  gate.ask();

  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_EQ(gate.ask().words(), "S2");
}

TEST(a_tool_that_is_not_read_only, has_no_stored_answers_unless_the_operator_says_that_it_is) {
  gateway writes(plain_tool), overruled(plain_tool), distrusted(reading_tool);
  overruled.policy().read_only = true;
  distrusted.policy().read_only = false;
  for (gateway* gate : {&writes, &overruled, &distrusted}) {
    gate->policy().fallback.steps = {cache_step{10min}};
    gate->search.answer(good_answer);
    gate->ask();
  }

  EXPECT_EQ(writes.answers.size(), 0U);
  EXPECT_EQ(overruled.answers.size(), 1U);
  EXPECT_EQ(distrusted.answers.size(), 0U);
  EXPECT_EQ(writes.known().problems().size(), 1U);
  EXPECT_EQ(overruled.known().problems().size(), 0U);
}

TEST(another_tool, stands_in_with_the_arguments_of_the_template) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", R"({"text":"{{q}}","note":"for {{q}}"})"}};
  gate.policy().note = true;
  gate.search.answer(down());
  gate.backup.answer(good_answer);

  const heard answer = gate.ask(R"({"q":[1,2]})", "5");

  ASSERT_EQ(gate.backup.calls().size(), 1U);
  EXPECT_EQ(gate.backup.calls()[0].tool, "query");
  EXPECT_EQ(gate.backup.calls()[0].arguments, R"({"text":[1,2],"note":"for [1,2]"})");
  EXPECT_EQ(answer.json.at("id").as_int64(), 5);
  EXPECT_EQ(answer.words(0), "fine");
  EXPECT_EQ(answer.words(1),
            "[Switchgear: this answer comes from another tool, since search__query is not answering (unreachable).]");
  EXPECT_EQ(answer.marker(), R"({"degraded":true,"served_by":"tool","reason":"unreachable","state":"closed",)"
                             R"("steps":["primary:unreachable","tool:hit"]})");
  EXPECT_EQ(gate.counted("backup__query").calls, 1U);
}

TEST(another_tool, gets_the_callers_arguments_without_a_template) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.search.answer(down());
  gate.backup.answer(good_answer);

  EXPECT_FALSE(gate.ask(R"({"q":1})").is_error());
  EXPECT_EQ(gate.backup.calls()[0].arguments, R"({"q":1})");
}

TEST(another_tool, is_not_called_without_an_argument_that_its_template_needs) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", R"({"text":"{{q}}"})"}};
  gate.search.answer(down());

  const heard answer = gate.ask("{}");

  EXPECT_TRUE(gate.backup.calls().empty());
  EXPECT_NE(answer.words().find("tool backup__query (the call lacks an argument that it needs: q)"), std::string::npos);
}

TEST(another_tool, stands_behind_its_own_breaker) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}, fixed_step{"sorry", ""}};
  gate.known();
  gate.breakers.open("server:backup", 1s, 5s);
  gate.search.answer(down());

  const heard answer = gate.ask();

  EXPECT_TRUE(gate.backup.calls().empty());
  EXPECT_EQ(answer.words(), "sorry");
  EXPECT_EQ(boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:unreachable","tool:refused","static:hit"])");
}

TEST(another_tool, that_brings_is_error_is_no_answer) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}, fixed_step{"sorry", ""}};
  gate.search.answer(down());
  gate.backup.answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})");

  EXPECT_EQ(gate.ask().words(), "sorry");
}

TEST(another_tools_answer, keeps_its_digits_and_must_fit_the_output_schema) {
  gateway gate(structured_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.search.answer(down());
  gate.search.answer(down());
  gate.search.answer(down());
  gate.backup.answer(structured_answer);
  gate.backup.answer(good_answer);
  gate.backup.answer(R"({"jsonrpc":"2.0","id":9,"result":{"content":[],"structuredContent":{"n":"x"}}})");

  EXPECT_NE(gate.ask().text.find(R"("structuredContent":{"n":9007199254740993})"), std::string::npos);
  EXPECT_TRUE(gate.ask().is_error());
  const heard misfit = gate.ask();
  EXPECT_TRUE(misfit.is_error());
  EXPECT_NE(misfit.words().find("tool backup__query (its answer does not fit: "), std::string::npos);
}

TEST(another_tools_answer, becomes_what_the_result_template_takes_of_it) {
  gateway gate(structured_tool);
  gate.policy().fallback.steps = {
      tool_step{"backup__query", "", {"{{/content/0/text}}!", R"({"n":"{{/structuredContent/count}}"})"}}};
  gate.search.answer(down());
  gate.backup.answer(R"({"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"three"}],)"
                     R"("structuredContent":{"count":3}}})");

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "three!");
  EXPECT_EQ(boost::json::serialize(answer.result().at("structuredContent")), R"({"n":3})");
  EXPECT_EQ(boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:unreachable","tool:hit"])");
}

TEST(another_tools_answer, that_lacks_what_is_taken_of_it_ends_the_step_and_not_the_cascade) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", "", {"{{/content/3/text}}", ""}}, fixed_step{"sorry", ""}};
  gate.search.answer(down());
  gate.backup.answer(good_answer);

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "sorry");
  EXPECT_EQ(boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:unreachable","tool:unmapped","static:hit"])");
}

TEST(another_tools_answer, must_fit_the_output_schema_once_it_is_mapped) {
  gateway gate(structured_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", "", {"", R"({"n":"{{/content/0/text}}"})"}},
                                  tool_step{"backup__query", "", {"{{/content/5}}", ""}}};
  gate.search.answer(down());
  gate.backup.answer(good_answer);

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.is_error());
  EXPECT_NE(answer.words().find("tool backup__query (its answer does not fit: "), std::string::npos);
}

TEST(a_failed_step, says_why_in_the_error_that_ends_the_cascade) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", "", {"{{/nothing}}", ""}}, tool_step{"backup__other", ""}};
  gate.list(reading_tool, R"([{"name":"query","inputSchema":{},"annotations":{"readOnlyHint":true}},)"
                          R"({"name":"other","inputSchema":{},"annotations":{"readOnlyHint":true}}])");
  gate.search.answer(reply_of(fault::bad_status, 502));
  gate.backup.answer(good_answer);
  gate.backup.answer(reply_of(fault::bad_media_type, 200, "HTTP 200 text/html: <p>"));

  EXPECT_EQ(gate.ask().words(),
            "The tool search__query failed at the server search: HTTP 502. Fallbacks tried: tool backup__query (its "
            "answer lacks what is needed of it: /nothing), tool backup__other (failed: HTTP 200 text/html: <p>).");
}

TEST(a_failed_step, cannot_make_an_error_that_is_no_json) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.search.answer(down());
  gate.backup.answer(reply_of(fault::bad_media_type, 200, "HTTP 200 image/png: \x89PNG"));

  EXPECT_NE(gate.ask().words().find("(failed: HTTP 200 image/png: \xef\xbf\xbdPNG)"), std::string::npos);
}

TEST(a_step_that_needs_an_argument_that_no_call_can_have, is_a_problem) {
  gateway gate(R"([{"name":"query","inputSchema":{"type":"object","properties":{"q":{}}}}])");
  gate.policy().fallback.steps = {tool_step{"backup__query", R"({"a":"{{q}}","b":"{{/filter/name}}"})"}};

  ASSERT_EQ(gate.known().problems().size(), 1U);
  EXPECT_EQ(
      gate.known().problems()[0],
      "search__query: its fallback tool backup__query needs the argument filter, which is not in its inputSchema; "
      "without it the step is passed over");
}

// RC-067.
TEST(a_call_that_may_have_taken_effect, is_not_given_to_another_tool) {
  for (const fault why : {fault::lost, fault::bad_message, fault::session_lost, fault::deadline}) {
    gateway gate;
    gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
    gate.search.answer(reply_of(why));
    gate.backup.answer(good_answer);

    const heard answer = gate.ask();

    EXPECT_TRUE(gate.backup.calls().empty());
    EXPECT_NE(answer.words().find("It is not known whether the call took effect"), std::string::npos);
    EXPECT_EQ(answer.result().at("_meta").at(cascade::marker_key).at("outcome").as_string(), "unknown");
  }
}

TEST(a_call_of_a_reading_tool, is_given_to_another_tool_whatever_became_of_it) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.search.answer(reply_of(fault::lost));
  gate.backup.answer(good_answer);

  EXPECT_FALSE(gate.ask().is_error());
}

TEST(the_operators_word, stands_over_the_servers_hint_when_a_call_may_have_taken_effect) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.policy().read_only = false;
  gate.search.answer(reply_of(fault::lost));

  EXPECT_TRUE(gate.ask().is_error());
  EXPECT_TRUE(gate.backup.calls().empty());
}

TEST(a_fixed_answer, stands_in) {
  gateway gate;
  gate.policy().fallback.steps = {fixed_step{"Answer from what you know.", ""}};
  gate.search.answer(down());

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "Answer from what you know.");
  EXPECT_EQ(answer.marker(), R"({"degraded":true,"served_by":"static","reason":"unreachable","state":"closed",)"
                             R"("steps":["primary:unreachable","static:hit"]})");
}

TEST(a_fixed_answer, that_does_not_fit_the_output_schema_is_a_problem_and_is_never_given) {
  gateway gate(structured_tool);
  gate.policy().fallback.steps = {fixed_step{"text", ""}, fixed_step{"text", R"({"n":"x"})"},
                                  fixed_step{"text", R"({"n":0})"}};
  gate.search.answer(down());

  const heard answer = gate.ask();

  EXPECT_EQ(gate.known().problems().size(), 2U);
  EXPECT_EQ(answer.result().at("structuredContent").at("n").as_int64(), 0);
  EXPECT_EQ(gate.recorder.calls[0].served_by, served_by::fixed);
}

TEST(a_hung_primary, leaves_time_for_what_needs_none) {
  gateway gate(reading_tool);
  gate.policy().deadline = 30ms;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}, fixed_step{"sorry", ""}};
  gate.search.hang();

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "sorry");
  EXPECT_TRUE(gate.backup.calls().empty());
  EXPECT_EQ(boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:timeout","tool:no_time","static:hit"])");
}

TEST(a_hung_step, leaves_time_for_the_one_behind_it) {
  gateway gate(reading_tool, R"([{"name":"query","inputSchema":{},"annotations":{"readOnlyHint":true}},)"
                             R"({"name":"other","inputSchema":{}}])");
  gate.policy().deadline = 500ms;
  gate.policy().fallback.steps = {tool_step{.name = "backup__query"},
                                  tool_step{.name = "backup__other", .minimum_time = 100ms}};
  gate.search.answer(down());
  gate.backup.hang();
  gate.backup.answer(good_answer);

  const auto before = async::worker::now();
  const heard answer = gate.ask();
  const auto took = async::worker::now() - before;

  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 500ms);
  EXPECT_EQ(answer.words(), "fine");
  EXPECT_EQ(boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps")),
            R"(["primary:unreachable","tool:timeout","tool:hit"])");
}

// RC-070: one deadline for all steps together, and one error that lists them.
TEST(a_cascade_that_hangs, ends_at_the_calls_deadline_and_lists_what_was_tried) {
  gateway gate(reading_tool, reading_tool);
  gate.policy().deadline = 100ms;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.search.answer(reply_of(fault::bad_status, 502));
  gate.backup.hang();

  const auto before = async::worker::now();
  const heard answer = gate.ask();
  const auto took = async::worker::now() - before;

  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, 1s);
  EXPECT_EQ(answer.words(),
            "The tool search__query failed at the server search: HTTP 502. Fallbacks tried: tool "
            "backup__query (no answer in time).");
  EXPECT_EQ(answer.result().at("_meta").at(cascade::marker_key).at("reason").as_string(), "exhausted");
  EXPECT_EQ(gate.counted("backup__query").failures, 1U);
}

TEST(an_internal_error, is_told_with_the_steps_when_there_are_some) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {cache_step{1min}};
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"boom"}})");

  EXPECT_EQ(gate.ask().words(),
            R"(The tool search__query failed at the server search: JSON-RPC error -32603, boom. Fallbacks tried: )"
            R"(cache (no answer stored). You can use instead: backup__query.)");
}

TEST(a_denied_call, is_never_replaced) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {fixed_step{"sorry", ""}};
  gate.search.answer(reply_of(fault::bad_status, 403));

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(answer.result().at("_meta").at(cascade::marker_key).at("reason").as_string(), "denied");
}

TEST(a_client_that_cancels, stops_the_cascade) {
  gateway gate(reading_tool);
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}, fixed_step{"sorry", ""}};
  gate.search.answer(down());
  gate.backup.hang();
  gate.cancel_after = 30ms;

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(gate.counted("backup__query"), breaker::counts{});
}

TEST(a_step_to_a_tool_that_is_not_there, is_a_problem_and_is_passed_over) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"nobody__query", ""}, tool_step{"search__query", ""},
                                  tool_step{"backup__query", "{"}, fixed_step{"sorry", ""}};
  gate.search.answer(down());

  EXPECT_EQ(gate.ask().words(), "sorry");
  EXPECT_EQ(gate.known().problems().size(), 3U);
  EXPECT_TRUE(gate.backup.calls().empty());
}

}  // namespace
}  // namespace switchgear::call
