// Asks a server for everything that it offers, page by page: which request comes next, and what came of it.
// Source: MCP 2025-11-25 and 2026-07-28 server/{tools,prompts,resources}, "Pagination".
#pragma once

#include "protocol/message.hpp"
#include "upstream/handshake.hpp"
#include "upstream/observer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::upstream {

/// Usage: while (!done()) send request(id), give the response to take(). A kind that cannot be read to its end fails
/// the whole listing: a short list would look like tools that went away. Not thread-safe; does no I/O.
class listing_reader {
 public:
  /// How much we take from one server: it must not fill our memory or keep us asking for ever.
  static constexpr std::size_t most_pages = 1000;
  static constexpr std::size_t most_bytes = 32 * 1024 * 1024;

  /// Tools are asked for whatever the server declares, since some forget to; the others only if it declares them.
  listing_reader(const server_hello& hello, protocol::era era);

  bool done() const { return kind_ == kinds.size(); }
  /// The method of the request that comes next.
  std::string_view method() const { return kinds[kind_].method; }
  /// The whole request that comes next, on one line.
  std::string request(std::uint64_t id) const;

  /// The response to it. False and a failure in `why` (one line for people) if the listing cannot go on; an error that
  /// says that the method does not exist ends the kind with no page.
  bool take(const protocol::message& response, std::string_view text, std::string& why);

  /// What was listed. Once, when done().
  listing finish() { return std::move(listed_); }

 private:
  struct kind {
    std::string_view method;
    std::vector<std::string> listing::* pages;
    bool protocol::server_abilities::* declared;  // null: always asked for
  };
  static const std::array<kind, 4> kinds;

  void next_kind();

  std::array<bool, 4> asked_for_{};
  std::size_t kind_ = 0;
  std::string cursor_;  // raw; empty for the first page
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
  listing listed_;
};

/// Whether this notification says that one of the lists is not what it was.
bool says_list_changed(std::string_view method);

}  // namespace switchgear::upstream
