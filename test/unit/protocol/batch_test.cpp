#include "protocol/batch.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::protocol {
namespace {

std::string numbers(std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(std::to_string(i));
  return text.append("]");
}

TEST(a_batch, is_told_from_a_message_by_its_first_character) {
  EXPECT_TRUE(is_batch(" \r\n\t[]"));
  EXPECT_FALSE(is_batch(R"({"a":[]})"));
  EXPECT_FALSE(is_batch(""));
  EXPECT_FALSE(is_batch("   "));
}

TEST(a_batch, is_split_into_its_elements_whatever_they_say) {
  const auto elements = split_batch(R"( [ {"id":1} , 7,["x"], "a,b" ] )");
  ASSERT_TRUE(elements);
  EXPECT_EQ(*elements, (std::vector<std::string_view>{R"({"id":1})", "7", R"(["x"])", R"("a,b")"}));
}

TEST(a_batch, is_refused_when_it_is_empty_or_too_long) {
  EXPECT_EQ(split_batch("[]").error(), errc::batch);
  EXPECT_TRUE(split_batch(numbers(most_in_batch)));
  EXPECT_EQ(split_batch(numbers(most_in_batch + 1)).error(), errc::batch);
}

TEST(a_batch, is_refused_when_it_is_not_json) {
  for (const char* text : {"[", "[1", "[1,", "[1,]", "[1]x", "[1 2]", "[{]}", ""}) {
    EXPECT_EQ(split_batch(text).error(), errc::not_json) << text;
  }
}

}  // namespace
}  // namespace switchgear::protocol
