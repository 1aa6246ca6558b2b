#include "upstream/kept_message.hpp"

#include <algorithm>
#include <functional>

namespace switchgear::upstream {

namespace {

bool lies_in(std::string_view part, std::string_view whole) {
  const std::less_equal<const char*> not_after;
  return part.empty() ||
         (not_after(whole.data(), part.data()) && not_after(part.data() + part.size(), whole.data() + whole.size()));
}

bool lies_in(const protocol::message& seen, std::string_view text) {
  return std::ranges::all_of(
      std::initializer_list<std::string_view>{seen.method, seen.name_text, seen.uri_text, seen.protocol_version,
                                              seen.meta_version, seen.error_message},
      [&](std::string_view view) { return lies_in(view, text); });
}

}  // namespace

result<kept_message> read_message(std::string_view line, protocol::scratch& space) {
  kept_message message;
  message.text.reserve(line.size());
  message.text.append(line);
  const result<protocol::message> seen = protocol::peek(message.text.view(), space);
  if (!seen) return seen.error();
  message.seen = *seen;
  if (!lies_in(message.seen, message.text.view())) {
    message.space = std::make_unique<protocol::scratch>();
    message.seen = protocol::peek(message.text.view(), *message.space).value();
  }
  return message;
}

}  // namespace switchgear::upstream
