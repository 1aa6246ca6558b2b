#include "cascade/placeholder.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace switchgear::cascade {
namespace {

TEST(a_placeholder, is_found_with_its_place_and_its_path) {
  const auto found = next_placeholder("ab{{ q }}c", 1).value();

  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 2U);
  EXPECT_EQ(found->end, 9U);
  EXPECT_EQ(found->path, "q");
  EXPECT_FALSE(next_placeholder("ab{{ q }}c", 3).value());
}

TEST(a_placeholder, that_is_wrong_is_found_wherever_it_stands) {
  EXPECT_FALSE(check_placeholders("a {{b}} {{/c/0}} } {"));
  EXPECT_EQ(check_placeholders("a {{b}} {{c"), errc::bad_placeholder);
  EXPECT_EQ(check_placeholders("{{}}"), errc::bad_placeholder);
  EXPECT_EQ(check_placeholders("{{a}}{{/~}}"), errc::bad_pointer);
}

TEST(a_name, is_that_of_a_member_whatever_is_in_it) {
  const auto from = boost::json::parse(R"({"a.b":1,"~x":2})");

  EXPECT_EQ(find_value(from, "a.b")->as_int64(), 1);
  EXPECT_EQ(find_value(from, "~x")->as_int64(), 2);
  EXPECT_EQ(find_value(from, "c"), nullptr);
  EXPECT_EQ(find_value(boost::json::value(5), "c"), nullptr);
}

TEST(the_first_member, of_a_path_is_an_argument) {
  EXPECT_EQ(first_member("query"), "query");
  EXPECT_EQ(first_member("/filter/0/name"), "filter");
  EXPECT_EQ(first_member("/a~1b~0c"), "a/b~c");
  EXPECT_EQ(first_member("/"), "");
}

}  // namespace
}  // namespace switchgear::cascade
