// Requests of tool servers to clients (sampling, elicitation, roots, ping), from the moment they are sent to a client
// until its response has come in on another connection.
// Source: MCP 2025-11-25 basic/transports, client/sampling, client/elicitation, client/roots.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/call_handler.hpp"
#include "protocol/abilities.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchgear::listen {

/// All questions of this replica. Thread-safe but for ask(), which belongs to its worker. Each goes out under an id of
/// ours that names the replica, so that a response which reaches another one finds its way back.
class questions {
 public:
  /// `replica`: what no other replica calls itself; letters and digits.
  explicit questions(std::string replica) : prefix_("\"" + std::move(replica) + "-") {}

  /// The stream that a question goes out on.
  struct route {
    port::event_sink& stream;
    std::uint64_t number;  ///< of the stream, from new_route()
    std::string_view session;
    const protocol::client_abilities& abilities;
  };
  std::uint64_t new_route() { return ++routes_; }

  /// As port::event_sink::ask. What may not be asked of the client is refused without asking.
  boost::asio::awaitable<std::string> ask(async::worker& on, route by, std::string_view text,
                                          const protocol::message& seen, async::interrupt& until);

  /// The stream is closed: whoever still waits for a response to what went out on it gets an error.
  void close_route(std::uint64_t number);

  /// Hands over a client's response. A response to nothing that we asked, or of another session, is dropped.
  void answer(std::string_view session, std::string_view text, const protocol::message& seen);
  /// Whether the response belongs to another replica's question.
  bool is_foreign(std::string_view text, const protocol::message& seen) const;

  /// Questions that one stream may have open; a server that asks more is refused.
  static constexpr std::size_t most_open = 64;

 private:
  struct waiting;
  struct open_question {
    std::string session;
    std::uint64_t route;
    std::shared_ptr<waiting> asker;
  };

  std::optional<std::uint64_t> number_in(std::string_view id) const;
  bool note(std::uint64_t number, open_question one);
  std::shared_ptr<waiting> take(std::uint64_t number, std::string_view session);

  const std::string prefix_;  // of every id, with its opening quote
  std::atomic<std::uint64_t> routes_{0};
  std::atomic<std::uint64_t> asked_{0};
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, open_question> open_;
};

}  // namespace switchgear::listen
