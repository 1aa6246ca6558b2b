// Answers whose stream has ended before them: the client comes back for them with the id of the stream's first event.
// Source: MCP 2025-11-25 basic/transports "Resumability and Redelivery"; earlier revisions are not served this way.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchgear::listen {

/// Thread-safe but for take(), which belongs to its worker. An answer is given once, to its own session.
class parked_answers {
 public:
  /// `replica`: what no other replica calls itself; letters and digits.
  explicit parked_answers(std::string replica) : prefix_(std::move(replica) + "-s") {}

  /// A stream begins whose answer may have to be kept: the id of its first event. "" when too many are open.
  std::string begin(std::string_view session);
  /// The client has come for the answer already: it does not listen at the old stream any more.
  bool is_wanted(std::string_view id) const;
  /// The answer went out on its own stream, or there is none.
  void drop(std::string_view id);
  /// Keeps the answer, as events, for a client that comes back within `kept`.
  void settle(std::string_view id, std::string events, time_point now);

  /// Waits for the answer and gives it. Nothing if there is no such stream of the session, if somebody waits for it
  /// already, or when `until` is raised.
  boost::asio::awaitable<std::optional<std::string>> take(async::worker& on, std::string session, std::string id,
                                                          async::interrupt& until);
  /// Whether take() would wait for something.
  bool has(std::string_view session, std::string_view id) const;

  /// The session has ended.
  void forget(std::string_view session);
  /// To be called every few seconds.
  void sweep(time_point now);

  static constexpr duration kept = std::chrono::minutes(1);
  static constexpr std::size_t most_open = 10'000;
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;  ///< of all answers that wait; more are dropped

 private:
  struct visitor;
  struct entry {
    std::string session;
    std::optional<std::string> events;  // once settled
    time_point due{};                   // until then they are kept
    std::shared_ptr<visitor> wanted_by;
  };
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using entries = std::unordered_map<std::string, entry, text_hash, std::equal_to<>>;

  void erase(entries::iterator at);

  const std::string prefix_;
  mutable std::mutex mutex_;
  std::uint64_t begun_ = 0;
  std::size_t bytes_ = 0;
  entries open_;
};

}  // namespace switchgear::listen
