#include "http/chunks.hpp"

#include "http/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::http {
namespace {

struct outcome {
  std::string payload;
  bool done = false;
  bool bad = false;
  std::size_t left = 0;  // bytes behind the end
};

outcome decode_in_pieces(std::string text, std::size_t piece) {
  chunk_reader reader;
  outcome seen;
  for (std::size_t at = 0; at < text.size() && !reader.done(); at += piece) {
    const std::size_t size = std::min(piece, text.size() - at);
    const auto made = reader.decode(text.data() + at, size);
    if (!made) {
      seen.bad = true;
      return seen;
    }
    seen.payload.append(text.data() + at, made->produced);
    if (reader.done()) seen.left = text.size() - at - made->consumed;
  }
  seen.done = reader.done();
  return seen;
}

TEST(chunk_reader, gives_the_payload_whatever_the_pieces) {
  const std::string text = "4\r\nWiki\r\n6;name=value\r\npedia \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nNEXT";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const outcome seen = decode_in_pieces(text, piece);
    EXPECT_EQ(seen.payload, "Wikipedia 0123456789") << piece;
    EXPECT_TRUE(seen.done) << piece;
    EXPECT_EQ(seen.left, 4u) << piece;
  }
}

TEST(chunk_reader, is_not_done_before_the_last_line) {
  EXPECT_FALSE(decode_in_pieces("3\r\nabc\r\n0\r\n", 100).done);
  EXPECT_FALSE(decode_in_pieces("3\r\nab", 100).done);
}

TEST(chunk_reader, refuses_what_is_no_chunk) {
  for (const char* text :
       {"x\r\n", "\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "3\r\nabc\n0\r\n\r\n", "-1\r\n", "3 \r\nabc\r\n",
        "0x3\r\nabc\r\n", "fffffffffffffffff\r\n", "0\r\nTrailer\n\r\n", "3;\nabc\r\n"}) {
    EXPECT_TRUE(decode_in_pieces(text, 1).bad) << text;
    EXPECT_TRUE(decode_in_pieces(text, 100).bad) << text;
  }
}

TEST(chunk_reader, bounds_extensions_and_trailers) {
  EXPECT_TRUE(decode_in_pieces("3;" + std::string(10'000, 'a'), 1000).bad);
  EXPECT_TRUE(decode_in_pieces("0\r\n" + std::string(100'000, 'a'), 1000).bad);
}

}  // namespace
}  // namespace switchgear::http
