#include "cascade/template.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::cascade {
namespace {

std::string filled(std::string_view pattern, std::string_view arguments) {
  const auto made = json_template::compile(pattern);
  if (!made) return made.error().message();
  const auto given = read_arguments(arguments);
  if (!given) return given.error().message();
  const auto out = made->fill(*given);
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
  const auto made = json_template::compile(R"({"v":"{{query}}"})");
  std::string missing;

  const auto out = made->fill(boost::json::parse(R"({"q":1})"), &missing);

  ASSERT_FALSE(out);
  EXPECT_EQ(out.error(), errc::unknown_argument);
  EXPECT_EQ(missing, "query");
}

// The examples of RFC 6901, section 5.
TEST(a_pointer, leads_to_any_value) {
  const auto arguments =
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";
  const auto at = [&](std::string_view pointer) {
    return filled(R"({"v":"{{)" + std::string(pointer) + R"(}}"})", arguments);
  };

  EXPECT_EQ(at("/foo"), R"({"v":["bar","baz"]})");
  EXPECT_EQ(at("/foo/0"), R"({"v":"bar"})");
  EXPECT_EQ(at("/"), R"({"v":0})");
  EXPECT_EQ(at("/a~1b"), R"({"v":1})");
  EXPECT_EQ(at("/c%d"), R"({"v":2})");
  EXPECT_EQ(at("/e^f"), R"({"v":3})");
  EXPECT_EQ(at("/g|h"), R"({"v":4})");
  EXPECT_EQ(at(R"(/i\\j)"), R"({"v":5})");
  EXPECT_EQ(at(R"(/k\"l)"), R"({"v":6})");
  EXPECT_EQ(at("/m~0n"), R"({"v":8})");
}

TEST(a_pointer, that_leads_nowhere_is_what_is_missing) {
  const auto arguments = R"({"a":[{"b":1}],"n":5})";
  for (const char* nowhere :
       {"/x", "/a/1", "/a/-", "/a/00", "/a/01", "/a/b", "/a/0/b/c", "/n/0", "/a/99999999999999999999"}) {
    const auto made = json_template::compile(R"({"v":"-{{)" + std::string(nowhere) + R"(}}"})");
    ASSERT_TRUE(made) << nowhere;
    std::string missing;
    const auto out = made->fill(boost::json::parse(arguments), &missing);
    ASSERT_FALSE(out) << nowhere;
    EXPECT_EQ(out.error(), errc::unknown_argument);
    EXPECT_EQ(missing, nowhere);
  }
}

TEST(a_pointer, that_is_none_is_refused_when_it_is_read) {
  for (const char* wrong : {"/a~", "/a~2", "/~/b", "/a/~x"}) {
    EXPECT_EQ(json_template::compile(R"({"v":"{{)" + std::string(wrong) + R"(}}"})").error(), errc::bad_pointer)
        << wrong;
  }
}

TEST(a_template, tells_which_values_it_needs) {
  const auto made = json_template::compile(R"({"a":"{{q}} and {{/f/0/n}}","b":[{"c":"{{q}}"}],"d":"none"})");

  EXPECT_EQ(made->paths(), (std::vector<std::string>{"q", "/f/0/n", "q"}));
}

TEST(a_text_template, writes_every_value_as_text) {
  const auto from = boost::json::parse(R"({"t":"It's","n":[1,{"x":null}]})");
  const auto made = text_template::compile("<{{t}}> {{/n/1}}{{ /n/0 }}");

  EXPECT_EQ(made->fill(from).value(), R"(<It's> {"x":null}1)");
  EXPECT_EQ(text_template::compile("{{t").error(), errc::bad_placeholder);
  EXPECT_EQ(text_template::compile("plain").value().fill(from).value(), "plain");
}

TEST(a_template, of_no_placeholders_needs_no_arguments) {
  EXPECT_EQ(filled(R"({"v":1})", ""), R"({"v":1})");
}

TEST(a_template, that_is_malformed_is_refused_when_it_is_read) {
  EXPECT_EQ(json_template::compile("[1]").error(), errc::bad_template);
  EXPECT_EQ(json_template::compile("{").error(), errc::bad_template);
  EXPECT_EQ(json_template::compile(R"({"v":"{{q"})").error(), errc::bad_placeholder);
  EXPECT_EQ(json_template::compile(R"({"v":["{{ }}"]})").error(), errc::bad_placeholder);
  EXPECT_EQ(json_template::compile(R"({"v":)" + std::string(100, '[') + std::string(100, ']') + "}").error(),
            errc::bad_template);
}

TEST(arguments, that_are_no_object_are_an_error) {
  EXPECT_EQ(read_arguments("[1]").error(), errc::bad_arguments);
  EXPECT_EQ(read_arguments("{").error(), errc::bad_arguments);
  EXPECT_EQ(read_arguments("").value(), boost::json::object());
}

}  // namespace
}  // namespace switchgear::cascade
