#include "route/names.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace switchgear::route {
namespace {

TEST(exported_name, is_alias_and_tool_where_that_fits) {
  EXPECT_EQ(exported_name(naming::prefix, "search", "query"), "search__query");
  EXPECT_EQ(exported_name(naming::prefix, "a-1", "b_c-D"), "a-1__b_c-D");
  EXPECT_EQ(exported_name(naming::plain, "search", "query"), "query");
}

// RC-043. `printf 'files\0read.file' | sha256sum` begins with the same eight digits.
TEST(exported_name, replaces_other_characters_and_says_so_in_a_hash) {
  EXPECT_EQ(exported_name(naming::prefix, "files", "read.file"), "files__read_file_97875296");
  EXPECT_TRUE(exported_name(naming::prefix, "u", "größe").starts_with("u__gr__e_"));
  EXPECT_TRUE(exported_name(naming::plain, "u", "a/b").starts_with("a_b_"));
}

TEST(exported_name, is_cut_to_what_agents_accept) {
  const std::string stem(89, 'x');
  const std::string a = exported_name(naming::prefix, "up", stem + "a");
  const std::string b = exported_name(naming::prefix, "up", stem + "b");
  EXPECT_EQ(a.size(), longest_name);
  EXPECT_TRUE(a.starts_with("up__xxx"));
  EXPECT_NE(a, b);
  EXPECT_EQ(exported_name(naming::prefix, "up", std::string(60, 'y')).size(), longest_name);
  EXPECT_EQ(exported_name(naming::prefix, "up", std::string(60, 'y')), "up__" + std::string(60, 'y'));
}

// RC-043
TEST(exported_name, is_unique_and_exportable_for_every_pair) {
  std::set<std::string> names;
  std::size_t pairs = 0;
  for (const char* alias : {"a", "a_b", "a_", "a__b", "a-b", "an_alias_of_fifty_characters_is_what_stands_in_here"}) {
    for (const char* tool : {"send", "b_send", "_send", "__send", "b__send", "Send", "a.b", "a_b", "a/b", "a b", "ä",
                             "ö", "", "a_b_00000000"}) {
      const std::string name = exported_name(naming::prefix, alias, tool);
      EXPECT_TRUE(is_exportable(name)) << name;
      names.insert(name);
      ++pairs;
    }
  }
  EXPECT_EQ(names.size(), pairs);
}

TEST(exportable_name, has_one_to_64_plain_characters) {
  EXPECT_TRUE(is_exportable("a"));
  EXPECT_TRUE(is_exportable(std::string(64, 'a')));
  EXPECT_FALSE(is_exportable(std::string(65, 'a')));
  EXPECT_FALSE(is_exportable(""));
  EXPECT_FALSE(is_exportable("a.b"));
}

}  // namespace
}  // namespace switchgear::route
