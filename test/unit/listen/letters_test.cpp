#include "listen/letters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::listen {
namespace {

TEST(a_letter, says_the_same_when_it_is_read) {
  const std::string long_session(255, 's');
  for (letter_kind kind :
       {letter_kind::cancel, letter_kind::response, letter_kind::deliver, letter_kind::moved, letter_kind::level}) {
    for (std::string_view session : {std::string_view(), std::string_view("one"), std::string_view(long_session)}) {
      for (std::string_view body : {std::string_view(), std::string_view("\0{\"id\":1}\n", 10)}) {
        const letter sent{kind, session, body};
        const std::string text = write_letter(sent);
        EXPECT_EQ(read_letter(text), sent);
      }
    }
  }
}

TEST(a_letter, is_not_read_when_it_is_cut_short_or_of_another_kind_or_format) {
  const std::string text = write_letter({letter_kind::cancel, "session", {}});
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(read_letter(text.substr(0, size))) << size;
  std::string other = text;
  other[0] = 2;
  EXPECT_FALSE(read_letter(other));
  other = text;
  other[1] = 5;
  EXPECT_FALSE(read_letter(other));
}

}  // namespace
}  // namespace switchgear::listen
