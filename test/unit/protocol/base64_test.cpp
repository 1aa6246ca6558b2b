#include "protocol/base64.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace switchgear::protocol {
namespace {

// RFC 4648 section 10.
TEST(base64, makes_what_its_document_says) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64_encode(bytes, base64_form::padded), text);
    EXPECT_EQ(base64_decode(text, base64_form::padded), bytes);
  }
}

TEST(base64, has_two_alphabets) {
  const std::string bytes = "\xfb\xff\xfe";
  EXPECT_EQ(base64_encode(bytes, base64_form::padded), "+//+");
  EXPECT_EQ(base64_encode(bytes, base64_form::url), "-__-");
  EXPECT_EQ(base64_decode("-__-", base64_form::url), bytes);
  EXPECT_FALSE(base64_decode("-__-", base64_form::padded));
  EXPECT_FALSE(base64_decode("+//+", base64_form::url));
}

TEST(base64, gives_back_every_byte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string part = bytes.substr(0, size);
    for (base64_form form : {base64_form::padded, base64_form::url}) {
      EXPECT_EQ(base64_decode(base64_encode(part, form), form), part);
    }
  }
}

TEST(base64, has_one_text_for_each_run_of_bytes) {
  for (const char* bad :
       {"Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9v====", "=Zm9"}) {
    EXPECT_FALSE(base64_decode(bad, base64_form::padded)) << bad;
  }
  for (const char* bad : {"Zg==", "Zh", "Zm9vY", "Zm9"}) EXPECT_FALSE(base64_decode(bad, base64_form::url)) << bad;
  EXPECT_EQ(base64_decode("Zm8", base64_form::url), "fo");
}

}  // namespace
}  // namespace switchgear::protocol
