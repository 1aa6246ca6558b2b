// A tool server that runs as our child and speaks over its standard streams.
#pragma once

#include "async/worker.hpp"
#include "port/settings.hpp"
#include "port/upstream.hpp"
#include "upstream/asked_requests.hpp"
#include "upstream/child_guard.hpp"
#include "upstream/child_restarts.hpp"
#include "upstream/observer.hpp"
#include "upstream/stdio_exchange.hpp"
#include "upstream/stdio_session.hpp"
#include "upstream/stdio_upkeep.hpp"
#include "upstream/told_level.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::upstream {

/// Keeps one child alive and multiplexes every worker's calls over its pipes (MCP 2025-11-25 and 2026-07-28,
/// basic/transports stdio). The child, its pipes and all bookkeeping live on the control worker; call() runs on the
/// caller's worker and meets them by posting. A call that arrives while the child is starting waits for it within its
/// own deadline; while starts keep failing it is answered at once with the reason of the last failure.
///
/// A child of both eras is modern here, unless the role has abilities: then the client that the session is for is a
/// legacy one, and so is the session.
///
/// Must outlive the loops of all workers, or be destroyed on the control thread by a step that is posted when stop()
/// and every call() have completed: what they posted has then run.
class stdio_upstream final : public port::upstream, private stdio_session::events {
 public:
  /// What happened besides calls, since the start. Readable from any thread.
  struct counters {
    std::atomic<std::uint64_t> starts{0};        ///< children started, or attempts to
    std::atomic<std::uint64_t> late_answers{0};  ///< answers or progress to calls that had been given up: dropped
    std::atomic<std::uint64_t> noise_lines{0};   ///< lines on stdout that were no message for us: skipped
  };

  /// `guard` outlives it and may be null. `index` is passed to every call of `watcher`. `seed` feeds the jitter of the
  /// pauses between starts.
  stdio_upstream(async::worker& control, unsigned index, port::upstream_settings settings, observer& watcher,
                 std::uint32_t seed, const port::session_role& role = {}, child_guard* guard = nullptr);

  /// Starts the child and keeps it alive from now on. Control thread, once. Sets SIGPIPE to be ignored if it has its
  /// default effect: a child that closes its stdin must not end the gateway.
  void start();

  /// Ends the child (stdin closed, then SIGTERM, then SIGKILL, 2 s apart, to its whole process group) and completes
  /// when it has been reaped. Calls in flight end as lost. Control thread; no start() afterwards.
  boost::asio::awaitable<void> stop();

  boost::asio::awaitable<port::reply> call(async::worker& on, port::outgoing_request request,
                                           async::interrupt& interrupt, port::client_side* client) override;
  port::upstream_status status() const override;
  protocol::era era() const override { return era_.load(std::memory_order_relaxed); }
  void watch(std::set<std::string> uris) override;
  const counters& counted() const { return counted_; }

 private:
  enum class phase : std::uint8_t { paused, starting, ready };

  boost::asio::awaitable<void> supervise();
  boost::asio::awaitable<void> pause_before_start();
  boost::asio::awaitable<void> run_child();
  boost::asio::awaitable<bool> make_ready(stdio_session& session, std::string& why);
  boost::asio::awaitable<bool> begin_upkeep(const stdio_asking& asking, server_hello hello, protocol::era era,
                                            std::string& why);
  void became_ready(const server_hello& hello, protocol::era era);
  boost::asio::awaitable<void> serve(stdio_session& session);
  boost::asio::awaitable<void> end_child(stdio_session& session);
  boost::asio::awaitable<bool> finished_within(const stdio_session& session, duration limit);
  boost::asio::awaitable<void> wait_until(time_point due);
  opening how_to_begin() const;
  bool probe_harmed(const stdio_session& session);

  void list_changed() override;
  void notified(kept_message message) override;
  void asked(asked_request question) override;
  void withdrawn(std::string_view question) override;
  void late_answer() override;
  void noise(std::string_view line) override;
  void error_line(std::string_view line) override;
  void session_changed() override;

  boost::asio::awaitable<std::optional<port::reply>> attempt(async::worker& on, const port::outgoing_request& request,
                                                             async::interrupt& interrupt, port::client_side* client,
                                                             std::optional<asked_requests>& questions);
  void submit(std::shared_ptr<stdio_exchange> exchange);
  void tell_level(std::string_view raw_level);
  void abandon(const std::shared_ptr<stdio_exchange>& exchange, bool sent, std::string_view why);
  bool may_wait(time_point now);
  void fail_waiting();
  void became(port::upstream_state state, std::string reason);

  async::worker& control_;
  const unsigned index_;
  const port::upstream_settings settings_;
  const port::session_role role_;
  child_guard* const guard_;  ///< may be null
  observer& watcher_;
  counters counted_;
  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<protocol::era> era_{protocol::era::legacy};

  // Control worker only, down to the mutex.
  std::minstd_rand random_;
  child_restarts restarts_;
  boost::asio::steady_timer wake_;     // what supervise() waits on: expires when something is due, cancelled by events
  boost::asio::steady_timer stopped_;  // never expires: cancelling it ends stop()
  std::shared_ptr<stdio_session> session_;
  std::optional<stdio_upkeep> upkeep_;  // of the session, once it was greeted
  std::set<std::string> watched_;
  asked_requests questions_;                             // those of no call
  time_point legacy_until_{};                            // so long the child is not asked whether it is modern
  std::deque<std::shared_ptr<stdio_exchange>> waiting_;  // calls that came while the child was starting
  bool child_logs_ = false;
  std::optional<told_level> level_;  // of the present child
  phase phase_ = phase::paused;
  port::fault last_fault_ = port::fault::not_ready;  // of a call that does not wait
  bool running_ = false;
  bool stopping_ = false;
  bool start_wanted_ = false;
  bool opened_as_modern_ = false;
  bool remarked_late_ = false;  // one line a child is enough
  bool remarked_noise_ = false;

  mutable std::mutex status_mutex_;
  port::upstream_status status_;
};

}  // namespace switchgear::upstream
