// The concurrency limit of one tool or one server: who may call now, who waits for a slot, who is refused.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "call/principal_shares.hpp"
#include "cascade/concurrency.hpp"
#include "cascade/limit_gradient.hpp"
#include "port/limit_figures.hpp"

#include <boost/asio/awaitable.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::call {

class limiter;

/// Leave to have one call under way. Comes back by itself, to whoever waits longest. Move-only; not bound to a thread.
class slot {
 public:
  slot() = default;
  slot(slot&& other) noexcept : of_(std::exchange(other.of_, nullptr)), part_(std::move(other.part_)) {}
  slot& operator=(slot&& other) noexcept {
    if (this != &other) {
      give_back();
      of_ = std::exchange(other.of_, nullptr);
      part_ = std::move(other.part_);
    }
    return *this;
  }
  ~slot() { give_back(); }

  explicit operator bool() const { return of_ != nullptr; }

  /// The call succeeded after `took`, or ran into its deadline. Other ends say nothing of the limit. At most one, once.
  void answered(duration took);
  void timed_out();

 private:
  friend class limiter;
  slot(limiter& of, principal_shares::part part) : of_(&of), part_(std::move(part)) {}
  void give_back() noexcept;

  limiter* of_ = nullptr;
  principal_shares::part part_;
};

/// Shared by all workers. A slot that is free costs one atomic operation, and one when it comes back; with a share for
/// each principal a short lock besides. A mutex is taken when the limit is reached, and never held over a suspension.
class limiter {
 public:
  /// `policy.limits()`. `name` as port::limit_figures.
  limiter(std::string name, bool of_server, const cascade::concurrency_policy& policy);
  limiter(const limiter&) = delete;
  limiter& operator=(const limiter&) = delete;
  /// After the last slot.
  ~limiter();

  /// A slot if one is free, nobody waits, and `principal` may have one more. "" is the anonymous principal, who stands
  /// for any number of callers and has no share. Any thread.
  bool take(std::string_view principal, slot& into);

  /// A slot even beyond the limit. For probes, of which the breaker allows a few: calls that hang must not keep it from
  /// finding out that the tool is well again.
  slot force();

  /// As take(), or waits for a turn, first come, first served: for queue_timeout at most, and only as long as an answer
  /// could still come before `until`'s deadline. When the queue is full, one of it that can no longer make it has to
  /// go first. Nothing: there is a slot in `into`. Else why not: `full` also when the wait was interrupted. On `on`'s
  /// own thread, `into` and `until` living until then. The place in the queue or the slot comes back when the frame is
  /// destroyed.
  boost::asio::awaitable<std::optional<port::limit_refusal>> wait(async::worker& on, std::string_view principal,
                                                                  async::interrupt& until, slot& into);

  const std::string& name() const { return name_; }
  bool of_server() const { return of_server_; }
  unsigned limit() const { return limit_.load(std::memory_order_relaxed); }
  unsigned share() const { return policy_.share_at(limit()); }
  /// What a call usually takes; zero: not known yet.
  duration typical() const { return duration(typical_.load(std::memory_order_relaxed)); }
  /// Any thread.
  port::limit_figures figures() const;

 private:
  friend class slot;
  struct waiter;
  class turn;
  using woken = std::vector<std::shared_ptr<waiter>>;

  // word: the flag that somebody waits 1 | calls in flight 32. The flag changes under the mutex. While it is up nobody
  // enters past the queue, and a slot that comes back is passed on under the mutex.
  static constexpr std::uint64_t waiting_flag = std::uint64_t{1} << 32;
  static constexpr std::uint64_t count_mask = waiting_flag - 1;

  // What becomes of a call that asks for a slot under the mutex.
  enum class place : std::uint8_t { slot, queue, none };

  unsigned in_flight() const noexcept {
    return static_cast<unsigned>(word_.load(std::memory_order_relaxed) & count_mask);
  }
  bool enter() noexcept;
  void leave() noexcept;
  void pass_on() noexcept;
  bool take_part(std::string_view principal, principal_shares::part& into);
  place line_up(const std::shared_ptr<waiter>& who, time_point now);
  std::optional<port::limit_refusal> end_wait(const std::shared_ptr<waiter>& who, time_point begun,
                                              const async::interrupt& until);
  std::optional<port::limit_refusal> refuse(port::limit_refusal why);
  void ended(unsigned in_window);

  // Under the mutex.
  place enter_or_flag(bool room) noexcept;
  bool shed_one(time_point now, woken& wake);
  void hand_over(woken& wake);
  void step_out(const std::shared_ptr<waiter>& who);
  void learn(const cascade::limit_window& seen);

  static void wake_up(const woken& all);

  const std::string name_;
  const bool of_server_;
  const cascade::concurrency_policy policy_;
  const std::unique_ptr<principal_shares> shares_;  // null: no principal is counted

  alignas(64) std::atomic<std::uint64_t> word_{0};
  std::atomic<unsigned> limit_;
  std::atomic<duration::rep> typical_{0};
  cascade::limit_tally tally_;

  mutable std::mutex guard_;
  std::deque<std::shared_ptr<waiter>> queue_;  // who has waited longest first
  std::optional<cascade::limit_gradient> gradient_;
  std::array<std::uint64_t, port::limit_refusal_count> refused_{};
  port::wait_lengths waits_;
};

}  // namespace switchgear::call
