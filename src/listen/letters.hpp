// What replicas tell each other about their clients' sessions, as bytes. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::listen {

enum class letter_kind : std::uint8_t {
  cancel,    ///< the client takes back its request; body: the raw id
  response,  ///< the client answers a server's request; body: the message
  deliver,   ///< for the client's stream; body: the message
  moved,     ///< the client has opened its stream here; body: when, in microseconds since 1970
  level,     ///< the client wants log messages from this level on; body: the raw level
};

/// A message to all other replicas. The views of a letter that was read point into its text.
struct letter {
  letter_kind kind{};
  std::string_view session;
  std::string_view body;

  bool operator==(const letter&) const = default;
};

/// `session` is at most 255 bytes.
std::string write_letter(const letter& one);

/// Nothing for a text that is no letter, or of a later format: replicas of two versions may live side by side.
std::optional<letter> read_letter(std::string_view text);

}  // namespace switchgear::listen
