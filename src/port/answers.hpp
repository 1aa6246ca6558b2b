// Seam: stored answers that replicas keep for each other.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::port {

/// What was asked, by whom, of which tool, as a digest that nobody can make meet another one.
using question_digest = std::array<unsigned char, 16>;

/// Ages and lifetimes are lengths, never moments: the replicas' clocks need not agree. Nothing here is certain to
/// arrive, and all of it may be forgotten at any time.
class answers {
 public:
  static constexpr std::size_t largest = 1024 * 1024;  ///< bytes of one; a larger one is not kept
  static constexpr duration longest_look = std::chrono::milliseconds(50);

  struct found {
    std::shared_ptr<const std::string> result;  ///< JSON, as it was stored
    duration age{};                             ///< since it was given by its tool
  };

  virtual ~answers() = default;

  /// The newest answer, to be kept for `life` from now on. Copies what it needs; never waits. Any thread.
  virtual void store(const question_digest& asked, std::string_view result, duration life) = 0;

  /// An answer that is no older than `max_age`, of whichever replica. None: there is none, or nobody said so within
  /// longest_look or before `until` ended. On `on`'s thread; `until` outlives the wait.
  virtual boost::asio::awaitable<std::optional<found>> find(async::worker& on, question_digest asked, duration max_age,
                                                            async::interrupt& until) = 0;
};

/// Stored answers of a gateway, for whoever shows them.
struct answer_figures {
  std::size_t bytes = 0;  ///< of this gateway's own memory
  std::size_t count = 0;  ///< in it
  /// Since the start: what was told to other replicas, what found no room on its way to them, what was asked of them,
  /// and of these, what nobody answered in time.
  std::uint64_t told = 0, dropped = 0, asked = 0, unanswered = 0;
};

}  // namespace switchgear::port
