// A message with the memory that it points into.
#pragma once

#include "base/buffer.hpp"
#include "protocol/message.hpp"

#include <string_view>

namespace switchgear::test {

struct peeked {
  buffer bytes;
  protocol::scratch space;
  protocol::message seen;

  explicit peeked(std::string_view from) {
    bytes.append(from);
    seen = protocol::peek(bytes.view(), space).value();
  }
  peeked(const peeked&) = delete;
  peeked& operator=(const peeked&) = delete;

  std::string_view text() const { return bytes.view(); }
};

}  // namespace switchgear::test
