#include "http/date.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::http {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::sys_seconds moment = std::chrono::sys_days(1994y / 11 / 6) + 8h + 49min + 37s;

TEST(date, has_three_forms) {
  EXPECT_EQ(read_date("Sun, 06 Nov 1994 08:49:37 GMT"), moment);
  EXPECT_EQ(read_date("Sunday, 06-Nov-94 08:49:37 GMT"), moment);
  EXPECT_EQ(read_date("Sun Nov  6 08:49:37 1994"), moment);
  EXPECT_EQ(read_date("Saturday, 01-Jan-00 00:00:00 GMT"), std::chrono::sys_days(2000y / 1 / 1));
}

TEST(date, is_one_that_the_calendar_has) {
  EXPECT_TRUE(read_date("Thu, 29 Feb 2024 23:59:60 GMT"));
  for (const char* text : {"Wed, 29 Feb 2023 00:00:00 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(read_date(text)) << text;
  }
}

TEST(date, is_no_other_text) {
  for (const char* text :
       {"", " ", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94x 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:4a:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT more", "Sun, -6 Nov 1994 +8:49:37 GMT",
        "a b c d e", "a b c d e f g h", "1994-11-06T08:49:37Z"}) {
    EXPECT_FALSE(read_date(text)) << text;
  }
}

TEST(retry_after, is_a_number_of_seconds_of_a_day_at_most) {
  EXPECT_EQ(read_retry_after("7", moment), duration(7s));
  EXPECT_EQ(read_retry_after("0", moment), duration(0s));
  EXPECT_EQ(read_retry_after("999999", moment), duration(24h));
  EXPECT_EQ(read_retry_after(std::string(40, '9'), moment), duration(24h));
}

TEST(retry_after, may_be_a_date) {
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 1994 08:49:44 GMT", moment), duration(7s));
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 1994 08:49:30 GMT", moment), duration(0s)) << "it has passed";
  EXPECT_EQ(read_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", moment), duration(24h));
}

TEST(retry_after, is_nothing_else) {
  for (const char* text : {"", " ", "-5", "+5", "abc", "1.5", "5s", "5, 6", "0x10"}) {
    EXPECT_FALSE(read_retry_after(text, moment)) << text;
  }
}

}  // namespace
}  // namespace switchgear::http
