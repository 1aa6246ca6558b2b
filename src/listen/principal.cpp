#include "listen/principal.hpp"

#include "http/fields.hpp"
#include "protocol/errors.hpp"

#include <algorithm>

namespace switchgear::listen {

namespace {

refused_request refuse(std::string_view why) {
  return {400, protocol::code::invalid_request, why};
}

bool is_printable(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7f;
}

}  // namespace

refused_request identify(std::string_view head, const port::listen_settings& settings, std::string& who) {
  if (settings.principal.empty()) return {};
  const auto named = http::single_field(head, settings.principal);
  if (!named) return refuse("the header that names who calls stands there twice");
  if (named->size() > longest_principal) return refuse("the name of who calls is longer than 256 bytes");
  if (!std::ranges::all_of(*named, is_printable)) return refuse("the name of who calls is no printable ASCII");
  who = *named;
  return {};
}

}  // namespace switchgear::listen
