#include "call/idempotency.hpp"

#include "protocol/scan.hpp"
#include "protocol/text.hpp"

#include <array>
#include <random>

namespace switchgear::call {
namespace {

enum class presence : std::uint8_t { absent, there, unclear };

// An argument that is there as null is one that the caller left out, and cannot be added.
presence find_member(std::string_view object, std::string_view name) {
  protocol::token_index index;
  protocol::scanner in(object, index);
  std::string space;
  presence found = presence::absent;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view raw, key, value;
    if (!in.key(raw) || !protocol::text_of(raw, space, key) || !in.skip(value)) return presence::unclear;
    if (key == name) found = value == "null" ? presence::unclear : presence::there;
  }
  return in.finish() ? found : presence::unclear;
}

bool is_blank(std::string_view inside) {
  return inside.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// `object`, a JSON object in `text`, with one more member at its beginning.
void append_with(buffer& out, std::string_view text, std::string_view object, std::string_view member) {
  const auto begin = static_cast<std::size_t>(object.data() - text.data()) + 1;
  out.append(text.substr(0, begin));
  out.append(member);
  if (!is_blank(object.substr(1, object.size() - 2))) out.append(",");
  out.append(text.substr(begin));
}

}  // namespace

key_maker::key_maker() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device device;
  for (int word = 0; word < 4; ++word) {
    std::uint32_t bits = device();
    for (int i = 0; i < 8; ++i, bits >>= 4) own_ += digits[bits & 15];
  }
  own_ += '-';
}

std::string key_maker::next() {
  return own_ + std::to_string(++made_);
}

bool keyed_request::make(const port::incoming_call& call, const tool& called, key_maker& keys) {
  const std::string_view arguments = call.seen->arguments.in(call.text);
  const presence present = arguments.empty() ? presence::absent : find_member(arguments, called.idempotency_key);
  if (present != presence::absent) return present == presence::there;

  std::string member = protocol::quoted(called.idempotency_key) + R"(:")" + keys.next() + '"';
  std::string_view into = arguments;
  if (arguments.empty()) {
    into = call.seen->params.in(call.text);
    member = R"("arguments":{)" + member + '}';
  }
  if (!into.starts_with('{')) return false;
  append_with(text_, call.text, into, member);
  const auto seen = protocol::peek(text_.view(), space_);
  if (!seen) {
    text_.clear();
    return false;
  }
  seen_ = *seen;
  return true;
}

}  // namespace switchgear::call
