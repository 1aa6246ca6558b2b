#include "call/directory.hpp"

#include "protocol/definitions_list.hpp"
#include "route/prompts.hpp"
#include "support/fake_breakers.hpp"
#include "support/fake_recorder.hpp"
#include "support/fake_upstream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::call {
namespace {

using protocol::definition_kind;

std::vector<protocol::definition> read(definition_kind kind, std::string_view page) {
  return protocol::read_definitions_page(kind, page)->definitions;
}

// Two servers: `a` has prompts, both have resources.
class directory_of_everything : public testing::Test {
 protected:
  directory_of_everything() {
    const auto prompts = read(definition_kind::prompt, R"({"prompts":[{"name":"greet"}]})");
    const auto one = read(definition_kind::resource, R"({"resources":[{"uri":"x:1","name":"n"}]})");
    const auto pattern =
        read(definition_kind::resource_template, R"({"resourceTemplates":[{"uriTemplate":"t://{id}","name":"n"}]})");
    const route::upstream_prompts with_prompts[] = {{"a", 0, prompts}};
    const route::upstream_resources with_resources[] = {{"a", 0, one, {}}, {"b", 1, one, pattern}};
    directory::sources from;
    from.catalogue = std::make_shared<const route::catalogue>();
    from.upstreams = {&a, &b};
    from.policy_for = [](std::string_view) { return port::tool_policy{}; };
    from.server_breaker = [](std::string_view alias) {
      breaker::settings values;
      if (alias == "b") values.minimum_calls = 77;
      return values;
    };
    from.breakers = &breakers;
    from.recorder = &recorder;
    from.prompts =
        std::make_shared<const route::table<route::item>>(route::merged_prompts(with_prompts, route::naming::prefix));
    from.resources = std::make_shared<const route::resources>(with_resources);
    known = directory::build(std::move(from));
  }

  test::fake_breakers breakers;
  test::fake_recorder recorder;
  test::fake_upstream a, b;
  std::shared_ptr<const directory> known;
};

TEST_F(directory_of_everything, sends_a_prompt_to_its_server_under_its_own_name) {
  const destination found = known->find_prompt("a__greet");

  ASSERT_NE(found.through, nullptr);
  EXPECT_EQ(found.through->upstream, &a);
  EXPECT_EQ(found.target, "greet");
  EXPECT_EQ(found.through->gate, &breakers.named("a:prompts/get"));
  EXPECT_EQ(found.through->server_gate, &breakers.named("server:a"));
  EXPECT_EQ(known->find_prompt("greet").through, nullptr);
  EXPECT_EQ(known->find_prompt("").through, nullptr);
}

TEST_F(directory_of_everything, sends_a_resource_to_its_server_under_its_own_uri) {
  EXPECT_EQ(known->find_resource("x:1").through->upstream, &a);
  const destination other = known->find_resource("switchgear://b/x:1");
  EXPECT_EQ(other.through->upstream, &b);
  EXPECT_EQ(other.target, "x:1");
  EXPECT_EQ(other.through->gate, &breakers.named("b:resources/read"));
  EXPECT_EQ(other.through->policy.breaker.minimum_calls, 77u);
  EXPECT_EQ(known->find_resource("t://7").through, other.through);
  EXPECT_EQ(known->find_resource("nowhere").through, nullptr);
}

TEST_F(directory_of_everything, completes_for_prompts_templates_and_uris) {
  const destination prompt = known->find_completion("a__greet", "");
  EXPECT_EQ(prompt.target, "greet");
  EXPECT_EQ(prompt.through->gate, &breakers.named("a:completion/complete"));
  const destination pattern = known->find_completion("", "t://{id}");
  EXPECT_EQ(pattern.target, "t://{id}");
  EXPECT_EQ(pattern.through->gate, &breakers.named("b:completion/complete"));
  EXPECT_EQ(known->find_completion("a__none", "x:1").through, nullptr);
  EXPECT_EQ(known->find_completion("", "").through, nullptr);
}

// The breaker of a server's resources is no breaker of its prompts.
TEST_F(directory_of_everything, has_one_breaker_for_each_method_of_a_server) {
  const tool* prompts = known->find_prompt("a__greet").through;
  const tool* resources = known->find_resource("x:1").through;
  EXPECT_NE(prompts->gate, resources->gate);
  EXPECT_EQ(prompts->server_gate, resources->server_gate);
  EXPECT_TRUE(prompts->repeatable && resources->repeatable);
  EXPECT_TRUE(resources->policy.fallback.steps.empty());
  EXPECT_THROW(breakers.named("b:prompts/get"), std::out_of_range);
}

}  // namespace
}  // namespace switchgear::call
