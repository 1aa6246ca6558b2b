// The messages of one batch, answered side by side. Source: MCP 2025-03-26 basic "Batching"; JSON-RPC 2.0 section 6.
#pragma once

#include "listen/dispatch.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::listen {

/// The answers as one JSON array; pieces point into them.
parts as_array(const std::vector<std::string>& answers);

/// Whether clients of that revision may send batches.
bool has_batches(std::string_view revision);

/// The responses, in the order of the requests; none for notifications and responses, an error for what is no message.
/// `elements` point into a text that is followed by buffer::padding readable bytes. Completes when all are answered.
boost::asio::awaitable<std::vector<std::string>> answer_batch(shard& here,
                                                              const std::vector<std::string_view>& elements,
                                                              const sender& from, time_point arrived,
                                                              port::event_sink* client);

}  // namespace switchgear::listen
