// Which rule of `tools` holds for which tool, and what a fallback may say.
#include "reading.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;
using test::errors_of;
using test::joined;
using test::lines;
using test::read;

gateway good(std::string_view text) {
  reading made = read(text);
  EXPECT_TRUE(made.gateway) << joined(lines(made.errors));
  return made.gateway.value_or(gateway{});
}

TEST(a_rule, with_an_exact_name_covers_that_tool_alone) {
  const gateway made = good("tools: {s__q: {deadline: 5s}}");
  EXPECT_EQ(made.policy_for("s__q").deadline, 5s);
  EXPECT_EQ(made.policy_for("s__qq").deadline, 30s);
  EXPECT_EQ(made.policy_for("s__").deadline, 30s);
}

TEST(the_more_specific_rule, wins_whatever_the_order_of_the_file) {
  for (const char* text :
       {"tools: {'*': {deadline: 1m}, 's__*': {deadline: 20s}, 's__q*': {deadline: 10s}, s__q: {deadline: 5s}}",
        "tools: {s__q: {deadline: 5s}, 's__q*': {deadline: 10s}, 's__*': {deadline: 20s}, '*': {deadline: 1m}}"}) {
    const gateway made = good(text);
    EXPECT_EQ(made.policy_for("s__q").deadline, 5s);
    EXPECT_EQ(made.policy_for("s__qx").deadline, 10s);
    EXPECT_EQ(made.policy_for("s__x").deadline, 20s);
    EXPECT_EQ(made.policy_for("t__x").deadline, 60s);
  }
}

TEST(the_more_specific_rule, changes_only_what_it_sets) {
  const gateway made = good(
      "breaker: {window: 20s}\n"
      "tools: {'s__*': {read_only: true, breaker: {error_rate: 10%, cooldown: 5s}}, s__q: {deadline: 5s, breaker: "
      "{cooldown: 9s}}}");
  const auto policy = made.policy_for("s__q");
  EXPECT_EQ(policy.read_only, true);
  EXPECT_EQ(policy.deadline, 5s);
  EXPECT_EQ(policy.breaker.error_rate, 0.10);
  EXPECT_EQ(policy.breaker.cooldown, 9s);
  EXPECT_EQ(policy.breaker.window, 20s);
}

TEST(the_more_specific_rule, can_take_a_fallback_away) {
  const gateway made = good("tools: {'s__*': {fallback: [{cache: {}}]}, s__q: {fallback: []}}");
  EXPECT_TRUE(made.policy_for("s__x").fallback.uses_cache());
  EXPECT_TRUE(made.policy_for("s__q").fallback.steps.empty());
}

TEST(the_more_specific_rule, may_set_a_limit_in_the_queue_of_a_less_specific_one) {
  const gateway made = good("tools: {'s__*': {concurrency: {limit: adaptive, queue: 3}}, s__q: {concurrency: 64}}");
  EXPECT_TRUE(made.policy_for("s__x").concurrency.adaptive());
  EXPECT_EQ(made.policy_for("s__q").concurrency.limit, 64U);
  EXPECT_EQ(made.policy_for("s__q").concurrency.queue, 3U);
}

TEST(the_limit_of_a_tool, is_warned_of_when_it_is_over_that_of_its_server) {
  const auto said = [](const std::string& limits, const std::string& tools) {
    return joined(
        lines(read("upstreams: {s: {url: 'http://h', concurrency: " + limits + "}}\ntools: {" + tools + "}").warnings));
  };
  EXPECT_EQ(
      said("10", "s__q: {concurrency: 64}"),
      "test.yaml:2:29: tools.s__q.concurrency: the limit of 64 is over that of the server s, which is 10, so that "
      "this tool alone can keep all others of the server waiting\n");
  for (const char* pattern : {"'*'", "'s*'", "'s__*'", "'s__q*'"}) {
    EXPECT_NE(said("10", std::string(pattern) + ": {concurrency: 64}"), "") << pattern;
  }
  EXPECT_EQ(said("10", "t__q: {concurrency: 64}"), "");
  EXPECT_EQ(said("10", "s__q: {concurrency: 10}"), "");
  EXPECT_EQ(said("0", "s__q: {concurrency: 10}"), "");
  EXPECT_EQ(said("adaptive", "s__q: {concurrency: 10}"), "");
  EXPECT_EQ(said("10", "s__q: {concurrency: adaptive}"), "");
}

TEST(a_pattern, is_a_name_or_its_beginning) {
  for (const char* wrong : {"'*a'", "'a*b'", "'a**'", "'a b'", "a.b", "'a?'", "''"}) {
    EXPECT_NE(joined(errors_of("tools: {" + std::string(wrong) + ": {}}")).find("is not a tool pattern"),
              std::string::npos)
        << wrong;
  }
}

TEST(a_fallback, keeps_the_order_of_its_steps) {
  const gateway made = good(
      "tools:\n  s__q:\n    fallback:\n      - cache: {max_age: 10m}\n"
      "      - tool: {name: backup__query, arguments: {q: \"{{query}}\"}}\n"
      "      - static: {text: \"Search is unavailable.\"}\n");
  const auto plan = made.policy_for("s__q").fallback;
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(std::get<cascade::cache_step>(plan.steps[0]).max_age, 10min);
  EXPECT_EQ(std::get<cascade::tool_step>(plan.steps[1]).arguments, R"({"q":"{{query}}"})");
  EXPECT_EQ(std::get<cascade::fixed_step>(plan.steps[2]).text, "Search is unavailable.");
}

TEST(a_fallback, that_cannot_work_is_an_error) {
  const auto said = [](const std::string& steps) {
    return joined(errors_of("tools: {s__q: {fallback: [" + steps + "]}}"));
  };
  EXPECT_NE(said("{tool: {name: s__q}}").find("tools.s__q.fallback[1]: names the tool itself"), std::string::npos);
  EXPECT_NE(said("{tool: {}}").find("`name` is missing"), std::string::npos);
  EXPECT_NE(said("{tool: {name: 'a b'}}").find("is not an exported tool name"), std::string::npos);
  EXPECT_NE(said("{static: {}}").find("`text` is missing"), std::string::npos);
  EXPECT_NE(said("{model: {}}").find("needs a model, and this version can ask none"), std::string::npos);
  EXPECT_NE(said("{modal: {}}").find("unknown key"), std::string::npos);
  EXPECT_NE(said("{cache: {}, static: {text: a}}").find("exactly one key"), std::string::npos);
  EXPECT_NE(said("{}").find("exactly one key"), std::string::npos);
  EXPECT_NE(said("{tool: {name: b, arguments: {q: '{{x'}}}").find("placeholder"), std::string::npos);
  EXPECT_NE(said("{tool: {name: b, arguments: [x]}}").find("a mapping is needed"), std::string::npos);
  EXPECT_NE(said("{static: {text: a, structured: 5}}").find("a mapping is needed"), std::string::npos);
  EXPECT_NE(said("{static: {text: a, structured: {x: 1e999}}}").find("too large"), std::string::npos);
  EXPECT_NE(said("{cache: {max_age: 5s, fresh_for: 6s}}")
                .find("test.yaml:1:60: tools.s__q.fallback[1].cache.fresh_for: is longer than `max_age`, which is 5s"),
            std::string::npos)
      << said("{cache: {max_age: 5s, fresh_for: 6s}}");
  EXPECT_EQ(said("{cache: {max_age: 5s, fresh_for: 5s}}"), "");
  EXPECT_NE(said("{cache: {share: everybody}}").find("principal"), std::string::npos);
  EXPECT_NE(said("{cache: {}}, {cache: {}}, {cache: {}}, {cache: {}}, {cache: {}}, {cache: {}}, {cache: {}}, {cache: "
                 "{}}, {cache: {}}")
                .find("more than 8 steps"),
            std::string::npos);
}

// RC-070.
TEST(fallbacks_that_lead_back, are_refused_with_the_way_around) {
  const auto said = [](const std::string& rules) { return joined(errors_of("tools:\n" + rules)); };
  const std::string to = ": {fallback: [{cache: {}}, {tool: {name: ";

  EXPECT_EQ(said("  a__q" + to + "b__q}}]}\n  b__q" + to + "a__q}}]}\n"),
            "test.yaml:3:34: tools.b__q.fallback[2]: closes a circle of fallbacks: a__q -> b__q -> a__q; leave one of "
            "them out\n");
  EXPECT_EQ(said("  c__q" + to + "a__q}}]}\n  a__q" + to + "b__q}}]}\n  b__q" + to + "c__q}}]}\n"),
            "test.yaml:2:34: tools.c__q.fallback[2]: closes a circle of fallbacks: a__q -> b__q -> c__q -> a__q; leave "
            "one of them out\n");
  // A way into a circle is no part of it, and two circles are two errors.
  EXPECT_EQ(said("  a__q" + to + "b__q}}, {tool: {name: d__q}}]}\n  b__q" + to + "c__q}}]}\n  c__q" + to +
                 "b__q}}]}\n  d__q" + to + "a__q}}]}\n"),
            "test.yaml:4:34: tools.c__q.fallback[2]: closes a circle of fallbacks: b__q -> c__q -> b__q; leave one of "
            "them out\ntest.yaml:5:34: tools.d__q.fallback[2]: closes a circle of fallbacks: a__q -> d__q -> a__q; "
            "leave one of them out\n");
}

TEST(fallbacks_that_lead_on, are_no_circle) {
  const std::string to = ": {fallback: [{tool: {name: ";
  EXPECT_EQ(joined(errors_of("tools:\n  a__q" + to + "b__q}}, {tool: {name: c__q}}]}\n  b__q" + to +
                             "c__q}}]}\n  c__q" + to + "d__q}}]}\n")),
            "");
  // What a pattern covers is cut at run time, where each target is tried once.
  EXPECT_EQ(joined(errors_of("tools:\n  'a*'" + to + "b__q}}]}\n  b__q" + to + "a__q}}]}\n")), "");
}

TEST(a_template, that_is_wrong_is_reported_where_it_stands) {
  const auto said = [](const std::string& more) {
    return joined(
        errors_of("tools:\n  s__q:\n    fallback:\n      - tool:\n          name: b\n          " + more + "\n"));
  };
  EXPECT_EQ(
      said("arguments: {a: 1, q: ['{{/f~2}}']}"),
      "test.yaml:6:33: tools.s__q.fallback[1].tool.arguments.q[1]: a placeholder is no JSON Pointer; in one, ~ is "
      "written ~0, and / within a name ~1\n");
  EXPECT_EQ(said("result: {text: 'a {{ }} b'}"),
            "test.yaml:6:26: tools.s__q.fallback[1].tool.result.text: a placeholder is not of the form {{name}}\n");
  EXPECT_NE(
      said("result: {structured: {n: '{{n'}}").find("test.yaml:6:36: tools.s__q.fallback[1].tool.result.structured.n"),
      std::string::npos);
  EXPECT_NE(said("result: {}").find("tool.result: is empty"), std::string::npos);
}

TEST(a_fallback, that_will_hardly_be_meant_is_a_warning) {
  const auto said = [](const std::string& rule) { return joined(lines(read("tools: {" + rule + "}").warnings)); };
  EXPECT_NE(said("s__q: {fallback: [{static: {text: a}}, {cache: {}}]}").find("comes after a static answer"),
            std::string::npos);
  EXPECT_NE(said("s__q: {read_only: false, fallback: [{cache: {}}]}").find("can never answer"), std::string::npos);
  EXPECT_NE(said("s__q: {fallback: [{tool: {name: b}}, {tool: {name: b}}]}").find("it is tried once"),
            std::string::npos);
  EXPECT_NE(
      said("s__q: {deadline: 1s, fallback: [{tool: {name: b, minimum_time: 1s}}]}").find("fallback[1]: can never run"),
      std::string::npos);
  EXPECT_NE(said("'b*': {fallback: [{tool: {name: b}}]}").find("covers too"), std::string::npos);
  EXPECT_NE(said("s__q: {deadline: 2m}").find("common clients give up"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::config
