#include "cascade/template.hpp"

#include "cascade/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::cascade {
namespace {

std::string filled(std::string_view pattern, std::string_view arguments) {
  const auto made = argument_template::compile(pattern);
  if (!made) return made.error().message();
  const auto out = made->fill(arguments);
  return out ? *out : out.error().message();
}

TEST(a_placeholder_alone, keeps_the_type_of_the_argument) {
  const auto arguments = R"({"n":9007199254740993,"s":"x","b":true,"o":{"a":[1,null]}})";

  EXPECT_EQ(filled(R"({"v":"{{n}}"})", arguments), R"({"v":9007199254740993})");
  EXPECT_EQ(filled(R"({"v":"{{s}}"})", arguments), R"({"v":"x"})");
  EXPECT_EQ(filled(R"({"v":"{{b}}"})", arguments), R"({"v":true})");
  EXPECT_EQ(filled(R"({"v":"{{ o }}"})", arguments), R"({"v":{"a":[1,null]}})");
}

TEST(a_placeholder_within_text, becomes_text) {
  const auto arguments = R"({"n":5,"s":"a \"b\"","l":[1,2]})";

  EXPECT_EQ(filled(R"({"v":"<{{s}}>"})", arguments), R"({"v":"<a \"b\">"})");
  EXPECT_EQ(filled(R"({"v":"{{n}} of {{l}}"})", arguments), R"({"v":"5 of [1,2]"})");
}

TEST(a_template, leaves_everything_else_as_it_is) {
  EXPECT_EQ(filled(R"({"a":1,"b":[true,{"c":"plain }} text"}],"{{s}}":null})", R"({"s":"x"})"),
            R"({"a":1,"b":[true,{"c":"plain }} text"}],"{{s}}":null})");
}

TEST(a_template, is_not_filled_twice) {
  EXPECT_EQ(filled(R"({"v":"-{{s}}"})", R"({"s":"{{n}}","n":1})"), R"({"v":"-{{n}}"})");
}

TEST(a_template, names_the_argument_that_is_missing) {
  const auto made = argument_template::compile(R"({"v":"{{query}}"})");
  std::string missing;

  const auto out = made->fill(R"({"q":1})", &missing);

  ASSERT_FALSE(out);
  EXPECT_EQ(out.error(), errc::unknown_argument);
  EXPECT_EQ(missing, "query");
}

TEST(a_template, of_no_placeholders_needs_no_arguments) {
  EXPECT_EQ(filled(R"({"v":1})", ""), R"({"v":1})");
}

TEST(a_template, that_is_malformed_is_refused_when_it_is_read) {
  EXPECT_EQ(argument_template::compile("[1]").error(), errc::bad_template);
  EXPECT_EQ(argument_template::compile("{").error(), errc::bad_template);
  EXPECT_EQ(argument_template::compile(R"({"v":"{{q"})").error(), errc::bad_placeholder);
  EXPECT_EQ(argument_template::compile(R"({"v":["{{ }}"]})").error(), errc::bad_placeholder);
  EXPECT_EQ(argument_template::compile(R"({"v":)" + std::string(100, '[') + std::string(100, ']') + "}").error(),
            errc::bad_template);
}

TEST(arguments, that_are_no_object_are_an_error) {
  const auto made = argument_template::compile(R"({"v":"{{q}}"})");

  EXPECT_EQ(made->fill("[1]").error(), errc::bad_arguments);
  EXPECT_EQ(made->fill("{").error(), errc::bad_arguments);
}

}  // namespace
}  // namespace switchgear::cascade
