#include "upstream/told_level.hpp"

#include <gtest/gtest.h>

namespace switchgear::upstream {
namespace {

TEST(the_level_of_a_session, is_told_once) {
  told_level level;
  EXPECT_EQ(level.next("", true), "");
  EXPECT_EQ(level.next(R"("loud")", true), "");
  EXPECT_EQ(level.next(R"("warning")", true), "warning");
  EXPECT_EQ(level.next(R"("warning")", true), "");
}

TEST(the_level_of_a_session, that_is_shared_only_becomes_more_talkative) {
  told_level level;
  EXPECT_EQ(level.next(R"("info")", true), "info");
  EXPECT_EQ(level.next(R"("error")", true), "");
  EXPECT_EQ(level.next(R"("debug")", true), "debug");
}

TEST(the_level_of_a_session, of_one_client_is_that_clients) {
  told_level level;
  EXPECT_EQ(level.next(R"("debug")", false), "debug");
  EXPECT_EQ(level.next(R"("error")", false), "error");
}

}  // namespace
}  // namespace switchgear::upstream
