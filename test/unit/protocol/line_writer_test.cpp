#include "protocol/line_writer.hpp"

#include <gtest/gtest.h>

namespace switchgear::protocol {
namespace {

TEST(line, is_one_line_however_the_client_wrote_it) {
  const std::string line = write_line(parts{"{\r\n  \"a\": \"one\\ntwo", "\"\n}"});

  EXPECT_EQ(line, "{    \"a\": \"one\\ntwo\" }\n");
}

TEST(line, escapes_the_separators_that_some_readers_take_for_line_ends) {
  EXPECT_EQ(write_line(parts{"\"a\xE2\x80\xA8"
                             "b\xE2\x80\xA9\xE2\x80\xA7\xE2\x80\""}),
            "\"a\\u2028b\\u2029\xE2\x80\xA7\xE2\x80\"\n");
}

}  // namespace
}  // namespace switchgear::protocol
