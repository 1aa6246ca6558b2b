#include "listen/principal.hpp"

#include "http/fields.hpp"
#include "protocol/canonical.hpp"
#include "protocol/errors.hpp"

#include <algorithm>

namespace switchgear::listen {

namespace {

refused_request refuse(std::string_view why) {
  return {400, protocol::code::invalid_request, why};
}

bool is_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

bool is_printable(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7f;
}

std::string digest_text(std::string_view credentials) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = " ";
  for (const unsigned char byte : protocol::digest_of({credentials}).bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// All of them as one text that no other values give; empty if there is none.
refused_request read_credentials(std::string_view head, const std::vector<std::string>& names, std::string& all) {
  for (const std::string& name : names) {
    const auto value = http::single_field(head, name);
    if (!value) return refuse("a header with a credential stands there twice");
    if (value->data() == nullptr) continue;
    if (std::ranges::any_of(*value, is_control)) return refuse("a header with a credential holds a control character");
    all.append(name).append(":").append(std::to_string(value->size())).append(":").append(*value);
  }
  return {};
}

}  // namespace

refused_request identify(std::string_view head, const port::listen_settings& settings, std::string& who) {
  if (settings.principal.empty() && settings.credentials.empty()) return {};
  std::string credentials;
  refused_request refused = read_credentials(head, settings.credentials, credentials);
  if (refused.status != 0) return refused;
  if (!settings.principal.empty()) {
    const auto named = http::single_field(head, settings.principal);
    if (!named) return refuse("the header that names who calls stands there twice");
    if (named->size() > longest_principal) return refuse("the name of who calls is longer than 256 bytes");
    if (!std::ranges::all_of(*named, is_printable)) return refuse("the name of who calls is no printable ASCII");
    who = *named;
  }
  if (who.empty() && !credentials.empty()) who = digest_text(credentials);
  return {};
}

}  // namespace switchgear::listen
