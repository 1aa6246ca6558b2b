#include "cascade/url_template.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::cascade {
namespace {

std::string filled(std::string_view url, std::string_view arguments) {
  const auto made = url_template::compile(url);
  if (!made) return made.error().message();
  const auto out = made->fill(boost::json::parse(arguments));
  return out ? *out : out.error().message();
}

const std::string unusable = make_error_code(errc::unusable_argument).message();
const std::string misplaced = make_error_code(errc::misplaced_placeholder).message();

TEST(a_url, is_taken_apart_without_its_placeholders_being_read_as_parts_of_it) {
  const auto made = url_template::compile("https://api.example.com:8443/v1/{{/a/b?c}}/x?q={{query}}&r=1");

  ASSERT_TRUE(made);
  EXPECT_EQ(made->origin(), "https://api.example.com:8443");
  EXPECT_EQ(made->authority(), "api.example.com:8443");
  EXPECT_EQ(made->path(), "/v1/{{/a/b?c}}/x");
  EXPECT_EQ(made->paths(), (std::vector<std::string>{"/a/b?c", "query"}));
  EXPECT_EQ(made->breaker_name("GET"), "http:GET api.example.com:8443/v1/{{/a/b?c}}/x");
  EXPECT_EQ(url_template::compile("http://h?q={{a}}")->breaker_name("PUT"), "http:PUT h/");
  EXPECT_EQ(authority_of("http://[::1]:81/x"), "[::1]:81");
  EXPECT_EQ(authority_of("http://h?x"), "h");
}

TEST(a_url, gets_its_values_percent_encoded) {
  EXPECT_EQ(filled("http://h/a/{{p}}?q={{p}}", R"({"p":"x y/z?&#%é~-._"})"),
            "/a/x%20y%2Fz%3F%26%23%25%C3%A9~-._?q=x%20y%2Fz%3F%26%23%25%C3%A9~-._");
  EXPECT_EQ(filled("http://h/{{n}}/{{/l/0}}?all={{l}}", R"({"n":5,"l":[true]})"), "/5/true?all=%5Btrue%5D");
  EXPECT_EQ(filled("http://h/a%20b?c=%41", "{}"), "/a%20b?c=%41");
}

TEST(a_url, without_a_path_has_the_root) {
  EXPECT_EQ(filled("http://h", "{}"), "/");
  EXPECT_EQ(filled("http://h?q={{q}}", R"({"q":""})"), "/?q=");
}

TEST(a_value, stays_in_its_place_in_the_path) {
  for (const char* value : {R"("")", R"(".")", R"("..")"}) {
    const std::string arguments = R"({"v":)" + std::string(value) + "}";
    EXPECT_EQ(filled("http://h/a/{{v}}/b", arguments), unusable) << value;
    EXPECT_EQ(filled("http://h/a/{{v}}", arguments), unusable) << value;
    EXPECT_EQ(filled("http://h/a/{{v}}?x=1", arguments), unusable) << value;
    EXPECT_EQ(filled("http://h/{{v}}?x={{v}}", arguments), unusable) << value;
  }
  EXPECT_EQ(filled("http://h/a/.{{v}}/b", R"({"v":"."})"), unusable);
  EXPECT_EQ(filled("http://h/a/v{{v}}/b", R"({"v":".."})"), "/a/v../b");
  EXPECT_EQ(filled("http://h/a/{{v}}", R"({"v":"../../etc"})"), "/a/..%2F..%2Fetc");
  EXPECT_EQ(filled("http://h/a?x={{v}}", R"({"v":".."})"), "/a?x=..");
}

TEST(a_value, cannot_make_a_url_without_end) {
  const std::string long_text(url_template::longest_target, 'x');
  EXPECT_EQ(filled("http://h/{{v}}", R"({"v":")" + long_text + R"("})"), unusable);
  EXPECT_EQ(filled("http://h/{{v}}", R"({"v":")" + long_text.substr(1) + R"("})"), "/" + long_text.substr(1));
}

TEST(a_url, names_the_value_that_is_missing) {
  std::string missing;
  const auto made = url_template::compile("http://h/{{/a/0}}");

  EXPECT_EQ(made->fill(boost::json::parse(R"({"a":[]})"), &missing).error(), errc::unknown_argument);
  EXPECT_EQ(missing, "/a/0");
}

// Where a request goes is the operator's to say, not the caller's.
TEST(a_placeholder, may_not_stand_in_scheme_host_or_port) {
  for (const char* url : {"{{s}}://h/", "http://{{h}}/", "http://{{/h}}/", "http://h:{{p}}/x",
                          "http://a{{h}}.example?x", "http://{{u}}@h/", "{{url}}", "http://{{h}}"}) {
    EXPECT_EQ(filled(url, "{}"), misplaced) << url;
  }
}

TEST(a_url, with_a_bad_placeholder_is_refused) {
  EXPECT_EQ(url_template::compile("http://h/{{").error(), errc::bad_placeholder);
  EXPECT_EQ(url_template::compile("http://h/{{/~}}").error(), errc::bad_pointer);
}

}  // namespace
}  // namespace switchgear::cascade
