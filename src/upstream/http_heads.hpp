// The heads of the requests that go to one HTTP upstream.
// Source: MCP 2025-11-25 and 2026-07-28 basic/transports, "Streamable HTTP".
#pragma once

#include "protocol/message.hpp"
#include "upstream/url.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::upstream {

/// Each ends behind its last field; the length of the body and the empty line are still to come.
class http_heads {
 public:
  using fields = std::vector<std::pair<std::string, std::string>>;

  /// Both must outlive this. `own` go with every request.
  http_heads(const url& address, const fields& own) : address_(address), own_(own) {}

  /// `session` and `version` may be empty: then they are not sent. `target`: path and query, if not the address's.
  std::string write(std::string_view verb, std::string_view session, std::string_view version,
                    std::string_view target = {}) const;

 private:
  const url& address_;
  const fields& own_;
};

/// `own` without those that have one of these names (in lower case), and the others as lines.
http_heads::fields without(const http_heads::fields& own, const std::vector<std::string>& names);
std::string lines_of(const http_heads::fields& own, const std::vector<std::string>& names);

/// The fields of these names (in lower case) of a client's head, as they came; nothing for one that is not there.
std::string forwarded_fields(std::string_view head, const std::vector<std::string>& names);

/// The fields in which a modern request repeats what its body says: the method and, where it has one, the name of the
/// tool or prompt or the URI of the resource (`target`, unescaped). `mirrored` are more of them.
std::string mirrored_fields(std::string_view method, std::string_view target, std::string_view mirrored = {});

/// What a request of a client is about, in the words of the server: `target` if it is given, else what the text says.
std::string_view mirrored_target(const protocol::message& request, std::string_view target);

}  // namespace switchgear::upstream
