// Carries news between this replica's gates and the board: counts out, state and probes' leases in.
#pragma once

#include "breaker/gate.hpp"
#include "peers/flush_interval.hpp"
#include "peers/recent_latency.hpp"
#include "port/board.hpp"
#include "port/breakers.hpp"
#include "port/recorder.hpp"

#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace switchgear::peers {

/// Works on the control thread: every board::interval, and within 10 ms of a kick, it hears the gates that have
/// something to say; less often when the board is slow or has many scopes to hear of (flush_interval). Calls never wait
/// for it, except the one call a scope that waits for a probe's place. Must outlive the run of the control worker's
/// io_context.
class flusher : public port::breakers {
 public:
  static constexpr duration refresh = std::chrono::seconds(1);   // shown figures are no older
  static constexpr duration patience = std::chrono::seconds(2);  // an operator's order is given up after this

  /// `stripes`: number of workers that make calls, the control worker included.
  flusher(async::worker& control, port::board& board, port::recorder& recorder, unsigned stripes);
  ~flusher() override;

  /// Begins to work. Once.
  void start();
  /// Says what is left to say, gives back the leases of probes that nobody will make any more, and ends the work. When
  /// no more calls come. Control thread; no longer than two exchanges.
  boost::asio::awaitable<void> finish();
  /// Ends the work; the control thread's io_context is then free of it. Any thread, repeatable.
  void stop();

  breaker::gate& tool(std::string_view exported_name, const breaker::settings& values) override;
  breaker::gate& server(std::string_view alias, const breaker::settings& values) override;
  void kick(breaker::gate& gate) noexcept override;
  boost::asio::awaitable<void> probe(async::worker& on, breaker::gate& gate, time_point until) override;
  std::vector<port::circuit> snapshot() const override;
  port::board_figures board() const override;
  boost::asio::awaitable<bool> admin(port::command what) override;

 private:
  struct waiter;
  struct member;

  breaker::gate& find_or_make(std::string name, breaker::scope scope, const breaker::settings& values);
  boost::asio::awaitable<void> run();
  enum class pass_kind : std::uint8_t { raised, all, last };
  boost::asio::awaitable<void> pass(pass_kind which);
  bool hear(member& from, time_point now, port::board_entry& into, pass_kind which);
  void tell(member& to, const port::board_entry& entry, time_point sent);
  void record(const member& of, const breaker::transition& change);
  static port::circuit describe(const member& of, time_point now);
  void changed(std::string_view name);
  void wake();

  async::worker& control_;
  port::board& board_;
  port::recorder& recorder_;
  unsigned stripes_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> wake_posted_{false};
  bool woken_ = false;                    // control thread
  bool stopping_ = false;                 // control thread
  bool finishing_ = false;                // control thread: one more pass before the end
  bool ended_ = false;                    // control thread
  flush_interval interval_;               // control thread
  time_point hurry_ = time_point::max();  // control thread: a waiting call may get its lease then
  boost::asio::steady_timer passed_;      // control thread: cancelled after each pass, for those who wait for one

  port::board_figures figures_;  // under guard_, as of the last pass
  mutable std::mutex guard_;     // members_ and what they hold besides their gates; never across a co_await
  std::map<std::string, std::unique_ptr<member>, std::less<>> members_;  // grows only: gates stay where they are
  std::map<const breaker::gate*, std::shared_ptr<waiter>> waiters_;
};

}  // namespace switchgear::peers
