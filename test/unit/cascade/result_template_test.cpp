#include "cascade/result_template.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>

namespace switchgear::cascade {
namespace {

const auto answer = boost::json::parse(R"({"content":[{"text":"12 degrees"}],"structuredContent":{"count":3}})");

TEST(a_result_template, takes_text_and_structure_of_an_answer) {
  const auto made =
      result_template::compile({"It is {{/content/0/text}}.", R"({"n":"{{/structuredContent/count}}","unit":"C"})"});

  const auto said = made->fill(answer);

  EXPECT_EQ(said->text, "It is 12 degrees.");
  EXPECT_EQ(said->structured, R"({"n":3,"unit":"C"})");
}

TEST(a_result_template, may_take_one_of_them_alone) {
  EXPECT_EQ(result_template::compile({"x", ""})->fill(answer)->structured, "");
  EXPECT_EQ(result_template::compile({"", "{}"})->fill(answer)->text, "");
}

TEST(a_result_template, names_what_the_answer_does_not_have) {
  for (const result_mapping& how :
       {result_mapping{"{{/content/1/text}}", ""}, result_mapping{"", R"({"n":"{{/content/1/text}}"})"}}) {
    std::string missing;
    const auto said = result_template::compile(how)->fill(answer, &missing);
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error(), errc::unmapped);
    EXPECT_EQ(missing, "/content/1/text");
  }
}

TEST(a_result_template, that_is_wrong_is_refused_when_it_is_read) {
  EXPECT_EQ(result_template::compile({"{{/~2}}", ""}).error(), errc::bad_pointer);
  EXPECT_EQ(result_template::compile({"", "[1]"}).error(), errc::bad_template);
}

}  // namespace
}  // namespace switchgear::cascade
