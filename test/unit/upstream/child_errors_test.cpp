#include "upstream/child_errors.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;

constexpr time_point begin{1000s};

std::vector<std::string> shown(child_errors& errors, std::string_view piece, time_point now = begin) {
  std::vector<std::string> lines;
  errors.add(piece, now, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(stderr_of_a_child, is_shown_line_by_line_however_it_is_cut) {
  child_errors errors;

  EXPECT_TRUE(shown(errors, "one").empty());
  EXPECT_EQ(shown(errors, " line\r\n\n  \ntwo\nthr"), (std::vector<std::string>{"one line", "two"}));
  EXPECT_EQ(shown(errors, "ee\n"), (std::vector<std::string>{"three"}));
}

TEST(stderr_of_a_child, is_made_safe_to_print) {
  child_errors errors;

  EXPECT_EQ(shown(errors, "\x1b[31mr\xC3\xB6t\xFF\xC0\xAF\n"), (std::vector<std::string>{"?[31mr\xC3\xB6t???"}));
}

TEST(stderr_of_a_child, is_bounded_when_no_line_ever_ends) {
  child_errors errors;

  for (int piece = 0; piece < 1000; ++piece) EXPECT_TRUE(shown(errors, std::string(10'000, 'x')).empty());
  const auto lines = shown(errors, "\nnext\n");

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], std::string(child_errors::longest_line, 'x') + "...");
  EXPECT_EQ(lines[1], "next");
}

TEST(stderr_of_a_child, is_shown_at_a_limited_rate_and_says_what_it_left_out) {
  child_errors errors;
  std::string flood;
  for (int line = 0; line < 100; ++line) flood += "again\n";

  EXPECT_EQ(shown(errors, flood).size(), child_errors::burst);
  EXPECT_EQ(errors.hidden(), 80U);
  EXPECT_EQ(shown(errors, "later\n", begin + 1s), (std::vector<std::string>{"later (80 lines before it not shown)"}));
}

TEST(last_words_of_a_child, are_its_last_whole_lines) {
  child_errors errors;
  shown(errors, "first\nsecond\nthird");

  EXPECT_EQ(errors.last_words(), "first | second | third");
  EXPECT_EQ(errors.last_words(15), "second | third");
  EXPECT_EQ(errors.last_words(3), "thi");
}

TEST(last_words_of_a_child, are_empty_when_it_said_nothing) {
  EXPECT_EQ(child_errors().last_words(), "");
}

}  // namespace
}  // namespace switchgear::upstream
