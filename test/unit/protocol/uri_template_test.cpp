#include "protocol/uri_template.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace switchgear::protocol {
namespace {

bool matches(std::string_view text, std::string_view uri) {
  const auto compiled = uri_template::compile(text);
  EXPECT_TRUE(compiled) << text;
  return compiled && compiled->matches(uri);
}

TEST(uri_template, without_expressions_is_one_uri) {
  EXPECT_TRUE(matches("test://a", "test://a"));
  EXPECT_FALSE(matches("test://a", "test://"));
  EXPECT_FALSE(matches("test://a", "test://ab"));
  EXPECT_FALSE(matches("test://a", ""));
  EXPECT_TRUE(matches("", ""));
}

TEST(uri_template, has_simple_expressions_within_a_segment) {
  EXPECT_TRUE(matches("test://template/{id}/data", "test://template/42/data"));
  EXPECT_TRUE(matches("test://template/{id}/data", "test://template/a%20b/data"));
  EXPECT_TRUE(matches("{x}-{y}.txt", "a-b-c.txt"));
  EXPECT_TRUE(matches("a/{x,y}", "a/1,2"));
  EXPECT_FALSE(matches("test://template/{id}/data", "test://template//data"));
  EXPECT_FALSE(matches("test://template/{id}/data", "test://template/4/2/data"));
  EXPECT_FALSE(matches("a/{x}", "a/1?q=2"));
  EXPECT_FALSE(matches("a/{x}", "a/1#2"));
}

// Taking the first `x` that comes along would be wrong.
TEST(uri_template, tries_every_way_to_divide_the_uri) {
  EXPECT_TRUE(matches("{+a}x{b}", "1x2/3x4"));
  EXPECT_TRUE(matches("{a}{b}{c}", "abc"));
  EXPECT_FALSE(matches("{a}{b}{c}", "ab"));
  EXPECT_TRUE(matches("{+a}ab{+b}ab", "zabababab"));
}

TEST(uri_template, has_the_operators_of_level_three) {
  EXPECT_TRUE(matches("file:///{+path}", "file:///a/b?c#d"));
  EXPECT_FALSE(matches("file:///{+path}", "file:///"));
  EXPECT_TRUE(matches("a{#part}", "a#b/c"));
  EXPECT_TRUE(matches("a{.ext}", "a.tar.gz"));
  EXPECT_FALSE(matches("a{.ext}", "a.b/c"));
  EXPECT_TRUE(matches("a{/x,y*}", "a/b/c"));
  EXPECT_TRUE(matches("a{;v}", "a;v=1"));
  EXPECT_TRUE(matches("a{?q,r}", "a?q=1&r=/2"));
  EXPECT_FALSE(matches("a{?q}", "a?q=1#f"));
  EXPECT_TRUE(matches("a?fixed=1{&more}", "a?fixed=1&more=2"));
  EXPECT_TRUE(matches("a{x:3}", "abcd"));
}

TEST(uri_template, may_lack_what_an_operator_other_than_plus_begins) {
  EXPECT_TRUE(matches("a{#x}", "a"));
  EXPECT_TRUE(matches("a{/x}{.y}{;z}{?q}{&r}", "a"));
  EXPECT_TRUE(matches("a{/x}{?q}", "a?q=1"));
  EXPECT_FALSE(matches("a{?q}", "a?"));
  EXPECT_FALSE(matches("a{x}", "a"));
  EXPECT_FALSE(matches("a{?q}", "aq=1"));
}

TEST(uri_template, is_refused_when_it_is_none) {
  for (std::string_view bad :
       {"{", "}", "a{b", "a}b", "{}", "{+}", "{?}", "{{a}}", "{=a}", "{,a}", "{!a}", "{@a}", "{|a}"}) {
    const auto compiled = uri_template::compile(bad);
    ASSERT_FALSE(compiled) << bad;
    EXPECT_EQ(compiled.error(), errc::bad_template) << bad;
  }
  EXPECT_EQ(uri_template::compile(std::string(longest_uri + 1, 'a')).error(), errc::too_large);
  std::string many;
  for (std::size_t i = 0; i <= most_expressions; ++i) many += "{a}";
  EXPECT_EQ(uri_template::compile(many).error(), errc::too_large);
}

// Each `{+a}` could end at any `a`: trying them one after the other would take longer than the universe has.
TEST(uri_template, costs_little_whatever_the_uri) {
  std::string hard;
  for (std::size_t i = 0; i < most_expressions; ++i) hard += "{+a}a";
  EXPECT_FALSE(matches(hard + "b", std::string(longest_uri, 'a')));
  EXPECT_FALSE(matches("{+a}", std::string(longest_uri + 1, 'a')));
}

TEST(uri_template, says_how_much_of_it_is_literal) {
  EXPECT_EQ(uri_template::compile("ab{c}de{f}")->literal_size(), 4u);
  EXPECT_EQ(uri_template::compile("{+all}")->literal_size(), 0u);
}

}  // namespace
}  // namespace switchgear::protocol
