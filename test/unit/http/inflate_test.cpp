#include "http/inflate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <zlib.h>

namespace switchgear::http {
namespace {

std::string compressed(std::string_view text, int window_bits, int flush = Z_FINISH) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, flush);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

constexpr int gzip = 15 + 16, zlib = 15, raw = -15;
constexpr std::size_t plenty = 1 << 20;

TEST(a_compressed_body, is_read_in_each_form_and_however_it_is_cut) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"result":{"content":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"}})";
  for (const int form : {gzip, zlib, raw}) {
    const std::string whole = compressed(text, form);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, whole.size()}) {
      inflater in;
      buffer out;
      for (std::size_t at = 0; at < whole.size(); at += piece) {
        EXPECT_FALSE(in.decode(std::string_view(whole).substr(at, piece), out, plenty)) << form << " by " << piece;
      }
      EXPECT_EQ(out.view(), text) << form << " by " << piece;
    }
  }
}

TEST(a_compressed_body, gives_what_was_flushed_before_it_ends) {
  inflater in;
  buffer out;
  EXPECT_FALSE(in.decode(compressed("data: 1\n\n", gzip, Z_SYNC_FLUSH), out, plenty));
  EXPECT_EQ(out.view(), "data: 1\n\n");
}

TEST(a_compressed_body, may_be_several_texts) {
  inflater in;
  buffer out;
  EXPECT_FALSE(in.decode(compressed("one", gzip) + compressed("two", gzip), out, plenty));
  EXPECT_EQ(out.view(), "onetwo");
}

TEST(a_compressed_body, that_is_none_is_an_error) {
  inflater in;
  buffer out;
  EXPECT_EQ(in.decode("this is no compressed text at all", out, plenty), errc::bad_encoding);
}

TEST(a_compressed_body, cannot_grow_beyond_its_limit) {
  inflater in;
  buffer out;
  EXPECT_EQ(in.decode(compressed(std::string(8 << 20, 'x'), gzip), out, plenty), errc::too_much);
  EXPECT_LE(out.capacity(), 4 * plenty);
}

TEST(an_encoding, is_known_or_not) {
  EXPECT_TRUE(inflater::knows("GZip"));
  EXPECT_TRUE(inflater::knows("deflate"));
  EXPECT_FALSE(inflater::knows("br"));
  EXPECT_FALSE(inflater::knows(""));
}

}  // namespace
}  // namespace switchgear::http
