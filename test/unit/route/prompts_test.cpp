#include "route/prompts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::route {
namespace {

std::vector<protocol::definition> prompts(std::initializer_list<std::string_view> names) {
  std::string text = R"({"prompts":[)";
  for (std::string_view name : names) {
    if (text.back() != '[') text += ',';
    text.append(R"({"name":")").append(name).append(R"("})");
  }
  return protocol::read_definitions_page(protocol::definition_kind::prompt, text.append("]}"))->definitions;
}

TEST(merged_prompts, have_names_like_tools) {
  const auto one = prompts({"greet", "say.it"}), two = prompts({"greet"});
  const upstream_prompts upstreams[] = {{"mail", 3, one}, {"chat", 5, two}};

  const table<item> all = merged_prompts(upstreams, naming::prefix);

  ASSERT_EQ(all.items().size(), 3u);
  const item* found = all.find("mail__greet");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->upstream, 3u);
  EXPECT_EQ(found->original, "greet");
  EXPECT_EQ(found->definition, R"({"name":"mail__greet"})");
  EXPECT_EQ(all.find("chat__greet")->upstream, 5u);
  EXPECT_EQ(all.items()[2].original, "say.it");
  EXPECT_TRUE(all.items()[2].name.starts_with("mail__say_it_"));
  EXPECT_EQ(all.find("greet"), nullptr);
}

TEST(merged_prompts, keep_their_own_names_with_one_upstream) {
  const auto one = prompts({"greet"});
  const upstream_prompts upstreams[] = {{"mail", 0, one}};

  EXPECT_EQ(merged_prompts(upstreams, naming::plain).definitions(), R"([{"name":"greet"}])");
}

TEST(merged_prompts, are_the_same_whatever_the_order) {
  const auto one = prompts({"a", "b"}), turned = prompts({"b", "a"}), two = prompts({"a"});
  const upstream_prompts forward[] = {{"x", 0, one}, {"y", 1, two}}, backward[] = {{"y", 1, two}, {"x", 0, turned}};

  EXPECT_EQ(merged_prompts(forward, naming::prefix).definitions(),
            merged_prompts(backward, naming::prefix).definitions());
}

TEST(merged_prompts, leave_out_what_is_listed_twice_and_say_so) {
  const auto twice = prompts({"a", "a"});
  const upstream_prompts upstreams[] = {{"u", 0, twice}};

  EXPECT_EQ(merged_prompts(upstreams, naming::prefix).problems(),
            std::vector<std::string>{"prompt a of u is left out: it is listed twice"});
}

}  // namespace
}  // namespace switchgear::route
