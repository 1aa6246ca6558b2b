// What replicas say to each other through Redis, as bytes. No connection is needed to use this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::peers::redis {

struct mail {
  enum class subject : std::uint8_t {
    told,   ///< whatever a user of the fleet told the others
    ended,  ///< a session, by its id
    noted,  ///< something new stands in the log of pauses; no text
  };
  static constexpr std::size_t longest = 1 << 20;  // text
  static constexpr std::size_t name_size = 8;

  mail::subject subject = mail::subject::told;
  std::string_view from;  ///< the replica's name, of `name_size` bytes
  std::string_view text;  ///< any bytes, at most `longest`
};

std::string written(const mail& of);
/// Nothing for bytes that are no mail: anybody may publish on a channel. The views are into `bytes`.
std::optional<mail> read_mail(std::string_view bytes);

}  // namespace switchgear::peers::redis
