// The decoders that read what peers send, each as a function of any bytes at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace switchgear::fuzz {

/// Ends the program if a promise of the decoder does not hold: libFuzzer and the replay both see that.
inline void must(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// The first byte of the input picks how the rest is cut into pieces.
inline std::size_t piece_size(std::string_view& input) {
  if (input.empty()) return 1;
  const auto size = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return size == 0 ? 1 : size;
}

void peek(std::string_view input);
void sse(std::string_view input);
void line_reader(std::string_view input);
void tools_list(std::string_view input);
void canonical(std::string_view input);
void schema(std::string_view input);
void http_head(std::string_view input);
void chunks(std::string_view input);
void redis(std::string_view input);
void header_value(std::string_view input);
void letters(std::string_view input);
void batch(std::string_view input);
void mirrored(std::string_view input);
void sealed(std::string_view input);
void uri_template(std::string_view input);
void definitions(std::string_view input);
void placeholders(std::string_view input);

}  // namespace switchgear::fuzz
