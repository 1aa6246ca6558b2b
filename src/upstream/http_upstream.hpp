// A tool server behind HTTP, of either era.
// Source: MCP 2025-03-26, 2025-06-18, 2025-11-25 basic/transports; 2026-07-28 basic/versioning.
#pragma once

#include "async/worker.hpp"
#include "port/settings.hpp"
#include "port/upstream.hpp"
#include "upstream/handshake.hpp"
#include "upstream/http_exchange.hpp"
#include "upstream/http_heads.hpp"
#include "upstream/latest_credential.hpp"
#include "upstream/observer.hpp"
#include "upstream/session_loss.hpp"
#include "upstream/told_level.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace switchgear::upstream {

class sse_link;

/// What one http_upstream does differently from the next.
struct http_options {
  port::session_role role;
  /// How long a server that was found to be legacy is taken for one; a modern one contradicts by itself.
  duration legacy_verdict = std::chrono::hours(1);
  /// At least so long between two attempts to open a session; longer when they keep failing.
  duration attempt_gap = std::chrono::milliseconds(500);
  /// At least so long between two listings, however often the server says that a list changed.
  duration listing_gap = std::chrono::seconds(1);
};

/// One session with the server, shared by all workers (docs/decisions/0009). With a legacy server it is an MCP session;
/// with a modern one, which has none, it is what was agreed on. The control worker opens it, keeps the listing up to
/// date, and opens a new one, once, when the server has forgotten it; a call that met the loss is sent again once,
/// since the server refused it unread. Calls run on their own worker over its own connections.
///
/// With a role that has a credential it is the session of one principal: whatever is sent goes with the credential of
/// the latest call. A server that denies it the session is asked again when a call comes, and not by itself.
///
/// Outlives the loops of all workers.
class http_upstream final : public port::upstream {
 public:
  /// `workers` are all of them, the control worker last. `index` is passed to `watcher`. `seed` feeds the jitter of
  /// retries. Throws if the URL or the CA file is bad (config has checked both): start-up.
  http_upstream(std::vector<async::worker*> workers, unsigned index, port::upstream_settings settings,
                observer& watcher, std::uint64_t seed, http_options options = {});
  ~http_upstream() override;

  /// Begins to open the session, and keeps it from now on. Control thread, once.
  void start();
  /// Ends the session politely (DELETE) within a second. Control thread; no start() afterwards.
  boost::asio::awaitable<void> stop();

  /// Destroys what each worker owns, on its own thread, so that the rest may be destroyed while the loops run. Control
  /// thread, once, after stop(), and when nothing of it is under way any more.
  boost::asio::awaitable<void> release();

  boost::asio::awaitable<port::reply> call(async::worker& on, port::outgoing_request request,
                                           async::interrupt& interrupt, port::client_side* client) override;
  port::upstream_status status() const override;
  protocol::era era() const override { return era_.load(std::memory_order_relaxed); }
  void watch(std::set<std::string> uris) override;

 private:
  struct session {
    std::uint64_t epoch = 0;  ///< rises with each session
    protocol::era era = protocol::era::legacy;
    bool has_id = false;             ///< or a link, which the server forgets as well
    std::shared_ptr<sse_link> link;  ///< with HTTP with SSE
    std::string target;              ///< then: where to post
    server_hello hello;
    mutable told_level level;
    std::string post_head;
    std::string get_head;     ///< of what the server says by itself, and of the rest of a stream; empty: modern
    std::string delete_head;  ///< of the DELETE that ends it; empty: nothing has to be ended
  };
  using session_ptr = std::shared_ptr<const session>;
  enum class phase : std::uint8_t { starting, ready, renewing, down };
  /// Why there is no session.
  struct outage {
    std::string why;
    int denied = 0;          ///< 401 or 403: the server wants no session with this credential
    std::string credential;  ///< the principal's, that it was asked with
    time_point since{};
  };
  class voice;
  class ear;

  /// What a worker knows and owns. Touched on that worker's thread only.
  struct seat {
    seat(async::worker& on, std::size_t most_connections, duration keep_alive)
        : pool(on, most_connections, keep_alive), changed(on.io, boost::asio::steady_timer::time_point::max()) {}
    connection_pool pool;
    session_ptr current;
    http_upstream::phase phase = phase::starting;
    outage down;
    std::uint64_t next_id = 0;
    unsigned notes = 0;                 ///< messages on their way that no call waits for
    boost::asio::steady_timer changed;  ///< cancelled when current or phase change
  };

  // On any worker.
  boost::asio::awaitable<void> clear_seat(std::size_t worker);
  boost::asio::awaitable<session_ptr> usable_session(seat& here, std::string_view credential,
                                                     async::interrupt& interrupt, port::reply& reply);
  bool is_worth_asking(const outage& denied, std::string_view credential) const;
  void ask_again(seat& here);
  bool is_of_principal() const { return options_.role.credential.has_value(); }
  std::uint64_t next_id(async::worker& on);
  void after_call(async::worker& on, const session_ptr& used, const port::reply& reply, std::uint64_t id,
                  std::string_view credential);
  void note(async::worker& on, session_ptr used, std::string text, unsigned most_notes, std::string credential);
  boost::asio::awaitable<void> send_note(async::worker& on, session_ptr used, std::string text, std::string credential);
  boost::asio::awaitable<void> exchange(async::worker& on, const session& used, const http_request& request,
                                        async::interrupt& interrupt, port::client_side* client, exchange_session* voice,
                                        http_reply& out);
  boost::asio::awaitable<void> tell_level(async::worker& on, const session& used, const port::client& client,
                                          std::string_view credential, async::interrupt& interrupt);
  static loss loss_of(const session& used, const http_reply& got);
  void lose_session(seat& here, const session_ptr& lost);
  void lists_changed(std::uint64_t epoch);
  void suspect();

  // On the control worker: the session (http_session.cpp).
  boost::asio::awaitable<void> manage();
  boost::asio::awaitable<bool> renew_session();
  boost::asio::awaitable<void> wait_for_call();
  void note_denial(int status);
  boost::asio::awaitable<void> space_attempts();
  duration pause_after(unsigned failures);
  boost::asio::awaitable<session_ptr> open_session(std::string& why);
  boost::asio::awaitable<session_ptr> open_legacy(std::string& why);
  boost::asio::awaitable<session_ptr> open_link(std::string& why);
  boost::asio::awaitable<bool> greet(std::shared_ptr<session> fresh, http_reply& said, std::string& why);
  boost::asio::awaitable<session_ptr> discover(std::optional<protocol::era>& shown, http_reply& said);
  boost::asio::awaitable<session_ptr> discover_once(std::optional<protocol::era>& shown, http_reply& said);
  boost::asio::awaitable<void> ask(const session& of, const std::string& fields, std::string text, std::string id,
                                   http_reply& out);
  boost::asio::awaitable<void> pause(duration length, bool may_be_suspected);
  void wake();
  void use_session(session_ptr fresh);
  void drop_session();
  boost::asio::awaitable<void> end_session(session_ptr old);
  std::shared_ptr<session> new_session(protocol::era era);
  void write_heads(session& of, std::string_view id) const;
  void publish(http_upstream::phase phase, session_ptr next, outage down);
  void set_state(port::upstream_state state, std::string reason, int denied = 0);

  // On the control worker: what the server offers and tells (http_listing.cpp).
  time_point next_listing() const;
  boost::asio::awaitable<bool> list();
  boost::asio::awaitable<void> update_watches();
  boost::asio::awaitable<void> check_era();
  /// `fresh`: resources that are watched from now on.
  void listen(std::set<std::string> fresh = {});
  static boost::asio::awaitable<void> hear(std::shared_ptr<ear> one);

  std::vector<async::worker*> workers_;
  async::worker& control_;
  const unsigned index_;
  const port::upstream_settings settings_;
  const http_options options_;
  http_endpoint endpoint_;
  const http_heads::fields fields_;  ///< the configured ones that go with every request, whoever's it is
  http_heads heads_;
  latest_credential credential_;  ///< of the session's own requests: a principal's, else the operator's, if it differs
  observer& watcher_;
  std::vector<std::unique_ptr<seat>> seats_;
  std::atomic<bool> suspected_{false};
  std::atomic<bool> change_told_{false};
  std::atomic<protocol::era> era_{protocol::era::legacy};

  // Control thread only.
  std::minstd_rand random_;
  session_ptr session_;
  std::shared_ptr<ear> ear_;
  std::uint64_t epoch_ = 0;
  std::uint64_t lost_epoch_ = 0;  ///< the newest session that somebody found lost
  time_point legacy_until_{};     ///< until then no server/discover is tried
  unsigned failures_ = 0;
  time_point last_attempt_{};
  int denied_ = 0;                                 ///< of the last attempt
  std::shared_ptr<const std::string> asked_with_;  ///< credential of the session's own last request
  bool waits_for_call_ = false, was_called_ = false;
  time_point last_listing_{};
  bool listed_ = false;  ///< in this session
  bool listing_wanted_ = false;
  std::set<std::string> wanted_;    ///< resources to be watched
  std::set<std::string> watching_;  ///< those that the server was asked for in this session
  boost::asio::steady_timer wake_;
  bool woken_ = false;
  bool pausing_ = false;
  bool pause_suspectable_ = false;
  bool stopping_ = false;

  mutable std::mutex status_mutex_;
  port::upstream_status status_;
};

}  // namespace switchgear::upstream
