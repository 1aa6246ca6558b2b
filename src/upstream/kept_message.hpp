// A message of a server that outlives what it came in.
#pragma once

#include "base/buffer.hpp"
#include "base/result.hpp"
#include "protocol/message.hpp"

#include <memory>
#include <string_view>

namespace switchgear::upstream {

/// The bytes belong to no pool, so that any thread may free them.
struct kept_message {
  buffer text;
  protocol::message seen;                    ///< of text, with all its views
  std::unique_ptr<protocol::scratch> space;  ///< of the strings that hold escapes; null when there are none
};

/// Copies the text. `space` is memory for the reading alone. Errors: those of protocol::peek.
result<kept_message> read_message(std::string_view text, protocol::scratch& space);

}  // namespace switchgear::upstream
