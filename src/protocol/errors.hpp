// JSON-RPC errors that we write ourselves. Source: JSON-RPC 2.0 section 5.1; MCP basic, "Error Codes".
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::protocol {

namespace code {

inline constexpr std::int64_t parse_error = -32700;
inline constexpr std::int64_t invalid_request = -32600;
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t internal_error = -32603;
// MCP 2026-07-28
inline constexpr std::int64_t header_mismatch = -32020;      ///< a header does not say what the body says
inline constexpr std::int64_t missing_capability = -32021;   ///< data: requiredCapabilities
inline constexpr std::int64_t unsupported_version = -32022;  ///< data: supported, requested

// Ours. They lie outside -32768..-32000, which JSON-RPC and MCP keep for themselves.
inline constexpr std::int64_t open = -31001;             ///< a breaker refused
inline constexpr std::int64_t deadline = -31002;         ///< no answer in time
inline constexpr std::int64_t overloaded = -31003;       ///< a limit of the gateway
inline constexpr std::int64_t unreachable = -31004;      ///< nothing was sent
inline constexpr std::int64_t outcome_unknown = -31005;  ///< sent, and the answer was lost
inline constexpr std::int64_t denied = -31006;           ///< this caller may not
inline constexpr std::int64_t throttled = -31007;        ///< the upstream asked for fewer calls
inline constexpr std::int64_t too_large = -31008;        ///< over a size limit

}  // namespace code

/// What to answer when no id can be read.
inline constexpr std::string_view no_id = "null";

/// A complete JSON-RPC error response. `id` is a raw token (string, integer or `null`); `message` is plain text;
/// `data` is JSON, or empty for none.
std::string write_error(std::string_view id, std::int64_t code, std::string_view message, std::string_view data = {});

/// The answer to a text that peek() refused with `why`: the JSON-RPC code that fits, with the request's id if one can
/// still be read without doubt, else null.
std::string write_refusal(std::string_view text, error_code why);

/// The code of that answer: parse_error, invalid_request, invalid_params or too_large.
std::int64_t refusal_code(error_code why);

/// The answer to a request of a revision that is not served.
std::string write_unsupported_version(std::string_view id, std::string_view requested);

}  // namespace switchgear::protocol
