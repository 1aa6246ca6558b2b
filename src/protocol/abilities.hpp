// What a client lets servers ask of it: sampling, elicitation, roots.
// Source: MCP 2025-11-25 schema ClientCapabilities; 2026-07-28 basic "clientCapabilities".
#pragma once

#include "protocol/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Small enough to travel in a session's id. Capabilities that servers need not know of are not here.
struct client_abilities {
  bool roots = false;
  bool roots_changed = false;  ///< it tells when its roots change
  bool sampling = false;
  bool sampling_tools = false;
  bool sampling_context = false;
  bool elicitation_form = false;
  bool elicitation_url = false;

  /// Whether there is anything that a server may ask.
  bool any() const { return roots || sampling || elicitation_form || elicitation_url; }

  std::uint8_t bits() const;
  static client_abilities of_bits(std::uint8_t bits);

  bool operator==(const client_abilities&) const = default;
};

/// Reads a client's `capabilities` object. What is not understood is not there; text that is no object is an empty one.
/// An `elicitation` that names no mode means forms (MCP 2025-06-18).
client_abilities read_abilities(std::string_view capabilities);

/// The `capabilities` object that says the same.
std::string write_abilities(const client_abilities& abilities);

/// Whether a client with these abilities may be sent this request of a server. `ping` may always be.
bool may_ask(const client_abilities& abilities, const message& request, std::string_view text);

}  // namespace switchgear::protocol
