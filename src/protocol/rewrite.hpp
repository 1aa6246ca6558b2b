// A request on its way from one era to another, a result on its way back. All bytes that need not change stay.
// Source: MCP 2026-07-28 basic (`_meta`, result types), basic/versioning; schema of both eras.
#pragma once

#include "base/parts.hpp"
#include "protocol/abilities.hpp"
#include "protocol/message.hpp"
#include "protocol/version.hpp"

#include <string>
#include <string_view>

namespace switchgear::protocol {

/// A message in pieces, with the memory for those that are new. Not movable once filled.
struct rewritten {
  parts pieces;
  std::string fresh;

  rewritten() = default;
  rewritten(const rewritten&) = delete;
  rewritten& operator=(const rewritten&) = delete;
};

/// How a request goes out. Views must outlive the rewritten message.
struct request_rewriting {
  std::string_view id;              ///< raw
  std::string_view target;          ///< the server's own name or URI, unescaped; empty: stays
  std::string_view progress_token;  ///< raw; takes the place of one that is there
  era to = era::legacy;
  client_abilities abilities;        ///< to modern: what the server may ask for
  std::string_view log_level;        ///< to modern: raw; empty: none
  std::string_view request_state;    ///< raw; empty: stays
  std::string_view input_responses;  ///< JSON; empty: none is added
};

/// A request of a client of era `from`, for a server. What the modern era says of itself in `_meta` is taken out on the
/// way to a legacy server (a server of both eras would judge by it) and put in on the way to a modern one; a modern
/// client's own stays.
void rewrite_request(std::string_view text, const message& seen, era from, const request_rewriting& with,
                     rewritten& out);

/// How a response comes back.
struct response_rewriting {
  era from = era::legacy;          ///< of the server
  era to = era::legacy;            ///< of the client
  std::string_view id;             ///< the client's, raw
  std::string_view method;         ///< of the request
  std::string_view request_state;  ///< raw; in the place of result.requestState; empty: stays
};

/// A response of a server for a client. A legacy result gets the members that modern clients need: resultType, and for
/// resources/read ttlMs and cacheScope. A modern one loses who served it (`_meta` io.modelcontextprotocol/serverInfo),
/// since a result of the legacy era that has a `_meta` is something special to some clients. The code of a resource
/// that is not there is each era's own. Pieces point into `text`, into `with` and into `fresh`, which must not move.
void rewrite_response(std::string_view text, const message& seen, const response_rewriting& with, std::string& fresh,
                      parts& out);

/// Result members that a modern client needs and a legacy server does not write; each with a comma behind it.
inline constexpr std::string_view complete_member = R"("resultType":"complete",)";
inline constexpr std::string_view uncacheable_members = R"("ttlMs":0,"cacheScope":"private",)";

}  // namespace switchgear::protocol
