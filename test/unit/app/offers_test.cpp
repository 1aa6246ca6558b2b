#include "app/offers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::app {
namespace {

using port::listed;
using protocol::era;

constexpr definition_arrays lists{R"([{"name":"t"}])", "[]", R"([{"uri":"a:1"}])", "[]"};

TEST(offer, has_each_list_complete_in_both_eras) {
  const port::offer made = merged_offer({}, lists, true);

  EXPECT_EQ(made.list(era::legacy, listed::tools), R"({"tools":[{"name":"t"}]})");
  EXPECT_EQ(made.list(era::legacy, listed::prompts), R"({"prompts":[]})");
  EXPECT_EQ(made.list(era::legacy, listed::resources), R"({"resources":[{"uri":"a:1"}]})");
  EXPECT_EQ(made.list(era::legacy, listed::templates), R"({"resourceTemplates":[]})");
  EXPECT_EQ(made.list(era::modern, listed::tools),
            R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"t"}]})");
}

TEST(offer, is_everything_until_all_upstreams_were_tried) {
  const port::offer early = merged_offer({}, lists, false);

  EXPECT_EQ(early.has, (std::array<bool, port::listed_count>{true, true, true, true}));
  EXPECT_TRUE(early.completes && early.subscribes && early.logs);
  EXPECT_EQ(early.legacy_capabilities,
            R"({"tools":{"listChanged":true},"prompts":{"listChanged":true},)"
            R"("resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}})");
  EXPECT_EQ(early.modern_capabilities, early.legacy_capabilities);
}

TEST(offer, is_what_some_upstream_has_afterwards) {
  const introduction upstreams[] = {{"a", {.tools = true, .prompts = true}, ""}, {"b", {.logging = true}, ""}};

  const port::offer made = merged_offer(upstreams, lists, true);

  EXPECT_EQ(made.has, (std::array<bool, port::listed_count>{true, true, false, false}));
  EXPECT_TRUE(made.logs);
  EXPECT_FALSE(made.completes || made.subscribes);
  EXPECT_EQ(made.legacy_capabilities, R"({"tools":{"listChanged":true},"prompts":{"listChanged":true},"logging":{}})");
  EXPECT_EQ(merged_offer({}, lists, true).legacy_capabilities, R"({"tools":{"listChanged":true}})");
}

TEST(instructions, of_the_only_upstream_stay_as_they_are) {
  const std::string text(20'000, 'x');
  const introduction only[] = {{"a", {}, text}};
  EXPECT_EQ(merged_offer(only, lists, true).instructions, text);
}

TEST(instructions, of_several_stand_under_their_aliases) {
  const introduction upstreams[] = {{"a", {}, "Ask politely."}, {"b", {}, ""}, {"c", {}, "Be quick."}};
  EXPECT_EQ(merged_offer(upstreams, lists, true).instructions, "a:\nAsk politely.\n\nc:\nBe quick.");
}

TEST(instructions, are_bounded) {
  const std::string text(20'000, 'x');
  const std::vector<introduction> many(50, introduction{"a", {}, text});
  const std::string made = merged_offer(many, lists, true).instructions;
  EXPECT_GE(made.size(), longest_instructions);
  EXPECT_LE(made.size(), all_instructions);
}

}  // namespace
}  // namespace switchgear::app
