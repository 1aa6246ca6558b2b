#include "protocol/schema.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {
namespace {

struct example {
  std::string_view schema;
  std::vector<std::string_view> good, bad;
};

TEST(compiled_schema, enforces_each_keyword) {
  const example examples[] = {
      {"true", {"1", "null"}, {}},
      {"false", {}, {"1", "{}"}},
      {"{}", {"1", "[]"}, {"", "{", "nul"}},
      {R"({"type":"integer"})", {"1", "-0", "1.0", "18446744073709551615"}, {"1.5", "\"1\"", "null"}},
      {R"({"type":"number"})", {"1", "1.5"}, {"\"1\"", "true"}},
      {R"({"type":["string","null"]})", {"\"\"", "null"}, {"0", "[]"}},
      {R"({"const":{"a":[1,2]}})", {R"({"a":[1.0,2]})"}, {R"({"a":[2,1]})", "{}"}},
      {R"({"enum":["a",1,null]})", {"\"a\"", "1.0", "null"}, {"\"b\"", "2", "false"}},
      {R"({"minimum":1,"maximum":3})", {"1", "3", "\"x\""}, {"0.99", "3.01"}},
      {R"({"exclusiveMinimum":1,"exclusiveMaximum":3})", {"2"}, {"1", "3"}},
      {R"({"multipleOf":0.1})", {"0.3", "7"}, {"0.35"}},
      {R"({"minLength":2,"maxLength":3})", {"\"üü\"", "\"abc\"", "5"}, {"\"ü\"", "\"abcd\""}},
      {R"({"pattern":"^[a-z]+$"})", {"\"abc\"", "1"}, {"\"a1\"", "\"\""}},
      {R"({"pattern":"b"})", {"\"abc\""}, {"\"ac\""}},
      {R"({"items":{"type":"integer"},"minItems":1,"maxItems":2})", {"[1]", "[1,2]"}, {"[]", "[1,2,3]", "[\"a\"]"}},
      {R"({"prefixItems":[{"type":"string"}],"items":false})", {"[\"a\"]", "[]"}, {"[1]", "[\"a\",1]"}},
      {R"({"items":[{"type":"string"}],"additionalItems":{"type":"null"}})", {"[\"a\",null]"}, {"[1]", "[\"a\",1]"}},
      {R"({"contains":{"const":1}})", {"[2,1]"}, {"[]", "[2]"}},
      {R"({"contains":{"const":1},"minContains":2,"maxContains":2})", {"[1,2,1]"}, {"[1]", "[1,1,1]"}},
      {R"({"uniqueItems":true})", {"[1,2]", "[[1],[2]]"}, {"[1,1.0]", "[{\"a\":1},{\"a\":1}]"}},
      {R"({"properties":{"a":{"type":"integer"}},"required":["a"]})", {R"({"a":1,"b":2})"}, {"{}", R"({"a":"x"})"}},
      {R"({"properties":{"a":true},"additionalProperties":false})", {"{}", R"({"a":1})"}, {R"({"b":1})"}},
      {R"({"patternProperties":{"^x":{"type":"null"}},"additionalProperties":{"type":"integer"}})",
       {R"({"x1":null,"b":1})"},
       {R"({"x1":1})", R"({"b":null})"}},
      {R"({"propertyNames":{"maxLength":1},"minProperties":1,"maxProperties":2})",
       {R"({"a":1})"},
       {"{}", R"({"ab":1})", R"({"a":1,"b":1,"c":1})"}},
      {R"({"dependentRequired":{"a":["b"]}})", {"{}", R"({"a":1,"b":1})"}, {R"({"a":1})"}},
      {R"({"dependentSchemas":{"a":{"required":["b"]}}})", {"{}", R"({"a":1,"b":1})"}, {R"({"a":1})"}},
      {R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})", {"{}"}, {R"({"a":1})", R"({"c":1})"}},
      {R"({"allOf":[{"minimum":1},{"maximum":3}]})", {"2"}, {"0", "4"}},
      {R"({"anyOf":[{"type":"string"},{"minimum":3}]})", {"\"a\"", "4"}, {"2"}},
      {R"({"oneOf":[{"minimum":1},{"maximum":3}]})", {"0", "4"}, {"2"}},
      {R"({"not":{"type":"null"}})", {"1"}, {"null"}},
      {R"({"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"null"}})", {"\"a\"", "null"}, {"\"\"", "1"}},
      {R"({"then":false})", {"1"}, {}},
      {R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"null"}}})", {"null"}, {"1"}},
      {R"({"$ref":"#/$defs/a%20b","$defs":{"a b":{"type":"null"}}})", {"null"}, {"1"}},
      {R"({"$ref":"#n","$defs":{"a":{"$anchor":"n","type":"null"}}})", {"null"}, {"1"}},
      {R"({"$ref":"#/definitions/a","maximum":1,"definitions":{"a":{"type":"integer"}}})", {"1"}, {"2", "0.5"}},
      {R"({"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["next"]})",
       {R"({"next":{"next":null}})"},
       {R"({"next":{"next":1}})", R"({"next":{}})"}},
      {R"({"format":"date","unevaluatedProperties":false})", {"\"x\"", R"({"a":1})"}, {}},
  };
  for (const example& each : examples) {
    std::string why;
    const auto compiled = schema::compile(each.schema, &why);
    ASSERT_TRUE(compiled) << each.schema << ": " << why;
    for (std::string_view value : each.good)
      EXPECT_TRUE((*compiled)->accepts(value, &why)) << each.schema << " " << value << why;
    for (std::string_view value : each.bad) EXPECT_FALSE((*compiled)->accepts(value)) << each.schema << " " << value;
  }
}

TEST(compiled_schema, says_where_and_what_does_not_fit) {
  const auto compiled = schema::compile(
      R"({"properties":{"rows":{"items":{"properties":{"id":{"type":"integer"}},"required":["id"]}}}})");
  std::string why;

  EXPECT_FALSE((*compiled)->accepts(R"({"rows":[{"id":1},{"id":"x"}]})", &why));
  EXPECT_EQ(why, "/rows/1/id: must be integer");
  EXPECT_FALSE((*compiled)->accepts(R"({"rows":[{}]})", &why));
  EXPECT_EQ(why, "/rows/0: lacks the member id");
}

TEST(schema_text, is_refused_with_a_reason_if_it_is_none) {
  for (std::string_view text : {"",
                                "{",
                                "1",
                                "[]",
                                R"({"type":"text"})",
                                R"({"type":5})",
                                R"({"minimum":"1"})",
                                R"({"minLength":-1})",
                                R"({"required":"a"})",
                                R"({"required":[1]})",
                                R"({"properties":[]})",
                                R"({"allOf":{}})",
                                R"({"multipleOf":0})",
                                R"({"$ref":"http://127.0.0.1/x"})",
                                R"({"$ref":"other.json"})",
                                R"({"$ref":"#/nowhere"})",
                                R"({"$ref":"#gone"})",
                                R"({"$ref":5})",
                                R"({"properties":{"a":{"$ref":"#/type"}},"type":"object"})",
                                R"({"pattern":5})",
                                R"({"enum":1})"}) {
    std::string why;
    const auto compiled = schema::compile(text, &why);
    EXPECT_FALSE(compiled) << text;
    if (!compiled) EXPECT_EQ(compiled.error(), errc::bad_schema);
    EXPECT_FALSE(why.empty()) << text;
  }
}

TEST(schema_text, with_an_unreadable_pattern_does_not_enforce_it) {
  const auto value = schema::compile(R"({"pattern":"["})");
  const auto members = schema::compile(R"({"patternProperties":{"[":true},"additionalProperties":false})");
  EXPECT_TRUE((*value)->accepts("\"x\""));
  EXPECT_TRUE((*members)->accepts(R"({"x":1})"));
}

class hostile_schema : public testing::TestWithParam<std::pair<std::string, std::string>> {};

// None of these may crash, overflow the stack or run on; what cannot be decided does not fit.
TEST_P(hostile_schema, costs_no_more_than_its_budget) {
  const auto& [text, value] = GetParam();
  const auto begin = std::chrono::steady_clock::now();

  std::string why;
  const auto compiled = schema::compile(text, &why);
  if (compiled) EXPECT_FALSE((*compiled)->accepts(value, &why)) << text.substr(0, 200);

  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

std::string chain(int links) {
  std::string text = R"({"$ref":"#/$defs/0","$defs":{)";
  for (int i = 0; i < links; ++i) {
    text += "\"" + std::to_string(i) + R"(":{"$ref":"#/$defs/)" + std::to_string((i + 1) % links) + "\"},";
  }
  return text + R"("x":true}})";
}

std::string doubling(int levels) {
  std::string text = R"({"$ref":"#/$defs/0","$defs":{)";
  for (int i = 0; i < levels; ++i) {
    const std::string next = R"({"$ref":"#/$defs/)" + std::to_string(i + 1) + "\"}";
    text += "\"" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  return text + "\"" + std::to_string(levels) + R"(":{"type":"string"}}})";
}

std::string numbers(int count) {
  std::string text = "[0";
  for (int i = 1; i < count; ++i) text += "," + std::to_string(i);
  return text + "]";
}

INSTANTIATE_TEST_SUITE_P(
    each, hostile_schema,
    testing::Values(std::pair{std::string(R"({"$ref":"#"})"), std::string("1")},
                    std::pair{std::string(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})"), std::string("1")},
                    std::pair{std::string(R"({"not":{"$ref":"#"}})"), std::string("1")},
                    std::pair{chain(5000), std::string("1")}, std::pair{chain(50000), std::string("1")},
                    std::pair{doubling(40), std::string("\"x\"")},
                    std::pair{std::string(R"({"items":{"allOf":[{"$ref":"#"},{"$ref":"#"}]},"type":"array"})"),
                              std::string(60, '[') + std::string(60, ']')},
                    std::pair{std::string(R"({"uniqueItems":true})"), numbers(50000)},
                    std::pair{std::string(R"({"pattern":"^(a+)+$"})"), "\"" + std::string(5000, 'a') + "b\""},
                    std::pair{std::string(R"({"pattern":"^(.|\\s)*x$"})"), "\"" + std::string(200000, 'a') + "\""},
                    std::pair{std::string(R"({"pattern":"^(a|b|ab)*c$"})"), "\"" + std::string(300000, 'a') + "\""},
                    std::pair{R"({"x":)" + std::string(100000, '[') + "}", std::string("1")}));

TEST(value_to_check, may_be_broken_or_too_deep) {
  const auto compiled = schema::compile("true");
  EXPECT_TRUE((*compiled)->accepts(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE((*compiled)->accepts(std::string(100000, '[') + std::string(100000, ']')));
  EXPECT_FALSE((*compiled)->accepts("\"\xff\""));
}

}  // namespace
}  // namespace switchgear::protocol
