// A tool server behind Streamable HTTP. Source: MCP 2025-03-26, 2025-06-18, 2025-11-25, basic/transports.
#pragma once

#include "async/worker.hpp"
#include "port/settings.hpp"
#include "port/upstream.hpp"
#include "upstream/http_exchange.hpp"
#include "upstream/observer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace switchgear::upstream {

/// One MCP session with the server, shared by all workers (docs/decisions/0009). The control worker opens it, lists the
/// tools, and opens a new one, once, when the server has forgotten it; a call that met the loss is sent again once,
/// since the server refused it unread. Calls run on their own worker over its own connections.
///
/// Outlives the loops of all workers.
class http_upstream final : public port::upstream {
 public:
  /// `workers` are all of them, the control worker last. `index` is passed to `watcher`. `seed` feeds the jitter of
  /// retries. Throws if the URL or the CA file is bad (config has checked both): start-up.
  http_upstream(std::vector<async::worker*> workers, unsigned index, port::upstream_settings settings,
                observer& watcher, std::uint64_t seed);
  ~http_upstream() override;

  /// Begins to open the session, and keeps it from now on. Control thread, once.
  void start();
  /// Ends the session politely (DELETE) within a second. Control thread; no start() afterwards.
  boost::asio::awaitable<void> stop();

  boost::asio::awaitable<port::reply> call(async::worker& on, port::outgoing_request request,
                                           async::interrupt& interrupt, port::client_side* client) override;
  port::upstream_status status() const override;

 private:
  struct session {
    std::uint64_t epoch = 0;  ///< rises with each session
    bool has_id = false;
    std::string post_head;    ///< of every POST, up to the number of Content-Length
    std::string delete_head;  ///< of the DELETE that ends it
  };
  enum class phase : std::uint8_t { starting, ready, renewing, down };

  /// What a worker knows and owns. Touched on that worker's thread only.
  struct seat {
    seat(async::worker& on, std::size_t most_connections)
        : pool(on, most_connections), changed(on.io, boost::asio::steady_timer::time_point::max()) {}
    connection_pool pool;
    std::shared_ptr<const session> current;
    http_upstream::phase phase = phase::starting;
    std::string reason;  ///< why down
    std::uint64_t next_id = 0;
    unsigned cancels = 0;               ///< cancellations on their way
    boost::asio::steady_timer changed;  ///< cancelled when current or phase change
  };

  // On any worker.
  boost::asio::awaitable<std::shared_ptr<const session>> usable_session(seat& here, async::interrupt& interrupt,
                                                                        port::reply& reply);
  std::uint64_t next_id(async::worker& on);
  void after_call(async::worker& on, const std::shared_ptr<const session>& used, const port::reply& reply,
                  std::uint64_t id);
  boost::asio::awaitable<void> send_cancelled(async::worker& on, std::shared_ptr<const session> used, std::uint64_t id,
                                              const char* reason);
  static bool means_session_lost(const session& used, const port::reply& reply);
  void lose_session(seat& here, const std::shared_ptr<const session>& lost);
  void suspect();

  // On the control worker.
  boost::asio::awaitable<void> manage();
  boost::asio::awaitable<void> space_attempts();
  boost::asio::awaitable<bool> open_session();
  boost::asio::awaitable<bool> list_tools();
  boost::asio::awaitable<void> ask(const std::string& head, std::string text, std::string id, http_reply& out);
  boost::asio::awaitable<void> pause(duration length, bool may_be_suspected);
  std::shared_ptr<const session> new_session(std::string_view id, std::string_view version);
  std::string head_for(std::string_view method, std::string_view id, std::string_view version) const;
  void publish(http_upstream::phase phase, std::shared_ptr<const session> next, std::string reason);
  void set_state(port::upstream_state state, std::string reason);

  std::vector<async::worker*> workers_;
  async::worker& control_;
  const unsigned index_;
  const port::upstream_settings settings_;
  http_endpoint endpoint_;
  observer& watcher_;
  std::vector<std::unique_ptr<seat>> seats_;
  std::atomic<bool> suspected_{false};

  // Control thread only.
  std::minstd_rand random_;
  std::shared_ptr<const session> session_;
  std::uint64_t epoch_ = 0;
  std::uint64_t lost_epoch_ = 0;  ///< the newest session that somebody found lost
  unsigned failures_ = 0;
  time_point last_attempt_{};
  boost::asio::steady_timer wake_;
  bool woken_ = false;
  bool pausing_ = false;
  bool pause_suspectable_ = false;
  bool stopping_ = false;
  bool managing_ = false;

  mutable std::mutex status_mutex_;
  port::upstream_status status_;
};

}  // namespace switchgear::upstream
