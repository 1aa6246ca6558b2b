// JSON-RPC batches: only MCP 2025-03-26 has them. Source: JSON-RPC 2.0 section 6; MCP 2025-03-26 basic.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// Messages that one batch may hold.
inline constexpr std::size_t most_in_batch = 100;

/// Whether a text can only be a batch, if it is anything.
bool is_batch(std::string_view text);

/// The elements of a batch, each a JSON value of its own, whatever it says. Errors: errc::not_json, errc::too_deep,
/// errc::batch when it is empty or holds more than most_in_batch.
result<std::vector<std::string_view>> split_batch(std::string_view text);

}  // namespace switchgear::protocol
