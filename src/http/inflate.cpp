#include "http/inflate.hpp"

#include "http/media_type.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <zlib.h>

namespace switchgear::http {

namespace {

constexpr int any_header = 15 + 32;  // gzip or zlib, told apart by its first bytes
constexpr int no_header = -15;       // what some servers call deflate
constexpr std::size_t step = 16 * 1024;

}  // namespace

struct inflater::state {
  z_stream stream{};
  std::string first;
  bool begun = false;
  bool ended = false;
};

bool inflater::knows(std::string_view content_encoding) {
  return same_text(content_encoding, "gzip") || same_text(content_encoding, "x-gzip") ||
         same_text(content_encoding, "deflate");
}

inflater::inflater() : state_(std::make_unique<state>()) {
  if (inflateInit2(&state_->stream, any_header) != Z_OK) throw std::bad_alloc();
}

inflater::~inflater() {
  inflateEnd(&state_->stream);
}

error_code inflater::decode(std::string_view compressed, buffer& out, std::size_t most) {
  // The form shows in the first two bytes, which may come one by one.
  std::string& first = state_->first;
  if (!state_->begun) {
    first.append(compressed);
    if (first.size() < 2) return {};
    compressed = first;
  }
  z_stream& stream = state_->stream;
  const auto give = [&] {
    // zlib's interface of C takes what it only reads as if it wrote it.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream.avail_in = static_cast<uInt>(compressed.size());
  };
  give();
  // A body may be several compressed texts one after the other (RFC 1952 section 2.2).
  while (stream.avail_in != 0 || !state_->ended) {
    if (state_->ended && inflateReset(&stream) != Z_OK) return make_error_code(errc::bad_encoding);
    state_->ended = false;
    if (out.capacity() - out.size() < step) out.reserve(std::max(out.size() + step, out.size() * 2));
    const std::size_t room = out.capacity() - out.size();
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + out.size());
    stream.avail_out = static_cast<uInt>(room);
    const int said = inflate(&stream, Z_SYNC_FLUSH);
    if (!std::exchange(state_->begun, true) && said == Z_DATA_ERROR && stream.total_out == 0) {
      if (inflateReset2(&stream, no_header) != Z_OK) return make_error_code(errc::bad_encoding);
      give();
      continue;
    }
    out.resize(out.size() + room - stream.avail_out);
    if (out.size() > most) return make_error_code(errc::too_much);
    state_->ended = said == Z_STREAM_END;
    if (said != Z_OK && said != Z_STREAM_END && said != Z_BUF_ERROR) return make_error_code(errc::bad_encoding);
    if (said == Z_BUF_ERROR || (stream.avail_in == 0 && stream.avail_out != 0)) break;
  }
  first.clear();
  return {};
}

}  // namespace switchgear::http
