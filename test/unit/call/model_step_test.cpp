// A model in a tool's place, as far as the seam goes: there is none in this version.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::fixed_step;
using cascade::model_step;
using port::fault;
using test::reply_of;

constexpr std::string_view described_tool =
    R"([{"name":"query","description":"Finds \"switches\".","inputSchema":{"type":"object"}}])";

class fake_model final : public port::model {
 public:
  std::vector<std::string> prompts;
  port::model_reply next{fault::none, "A switch is a switch.", {}};
  bool hangs = false;

  boost::asio::awaitable<port::model_reply> answer(async::worker& on, std::string_view prompt,
                                                   async::interrupt& interrupt) override {
    prompts.emplace_back(prompt);
    co_await boost::asio::post(on.io, boost::asio::use_awaitable);
    if (hangs) {
      co_await test::until_interrupted(on, interrupt);
      co_return port::model_reply{fault::deadline, {}, {}};
    }
    co_return next;
  }
  std::string_view name() const override { return "fake"; }
};

std::string steps_of(const heard& answer) {
  return boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps"));
}

struct a_model : testing::Test {
  a_model() {
    gate.model = &model;
    gate.policy().fallback.steps = {model_step{}, fixed_step{"sorry", ""}};
    gate.search.answer(reply_of(fault::connect_failed));
  }
  fake_model model;
  gateway gate{described_tool};
};

TEST_F(a_model, is_told_of_the_tool_and_the_arguments_and_its_text_stands_in) {
  gate.policy().note = true;

  const heard answer = gate.ask(R"({"q":"what is a switch?"})");

  ASSERT_EQ(model.prompts.size(), 1U);
  EXPECT_EQ(model.prompts[0],
            "The tool search__query cannot be reached. Answer in its place from what you know. Say so where you do not "
            "know, and never say that something was done.\n\nWhat the tool does: Finds \"switches\".\n\nIts arguments, "
            "as JSON: {\"q\":\"what is a switch?\"}");
  EXPECT_EQ(answer.words(0), "A switch is a switch.");
  EXPECT_EQ(answer.words(1),
            "[Switchgear: this answer was written by a model, since search__query is not answering (unreachable).]");
  EXPECT_EQ(answer.marker(), R"({"degraded":true,"served_by":"model","reason":"unreachable","state":"closed",)"
                             R"("steps":["primary:unreachable","model:hit"]})");
  EXPECT_EQ(gate.recorder.calls[0].served_by, cascade::served_by::model);
  EXPECT_EQ(gate.counted("model:fake").calls, 1U);
}

TEST_F(a_model, stands_behind_its_own_breaker) {
  gate.known();
  gate.breakers.open("model:fake", 1s, 5s);

  EXPECT_EQ(steps_of(gate.ask()), R"(["primary:unreachable","model:refused","static:hit"])");
  EXPECT_TRUE(model.prompts.empty());
}

TEST_F(a_model, that_fails_or_hangs_ends_the_step) {
  model.next = {fault::bad_status, {}, "no credit"};
  EXPECT_EQ(steps_of(gate.ask()), R"(["primary:unreachable","model:failed","static:hit"])");

  gate.policy().deadline = 50ms;
  gate.list(described_tool, plain_tool);
  gate.search.answer(reply_of(fault::connect_failed));
  model.hangs = true;
  EXPECT_EQ(steps_of(gate.ask()), R"(["primary:unreachable","model:timeout","static:hit"])");
}

TEST_F(a_model, says_nothing_that_fits_an_output_schema) {
  gate.list(structured_tool, plain_tool);

  EXPECT_EQ(steps_of(gate.ask()), R"(["primary:unreachable","model:unfit","static:unfit"])");
}

TEST_F(a_model, that_is_not_there_is_a_problem) {
  gate.model = nullptr;

  EXPECT_EQ(gate.known().problems(), std::vector<std::string>{"search__query: there is no model for its fallback"});
  EXPECT_EQ(steps_of(gate.ask()), R"(["primary:unreachable","model:unreachable","static:hit"])");
}

}  // namespace
}  // namespace switchgear::call
