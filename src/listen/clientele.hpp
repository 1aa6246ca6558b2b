// All clients of the gateway, over its workers and in its fleet: their sessions, their streams, what they ask for and
// what they are asked.
#pragma once

#include "async/worker.hpp"
#include "listen/letters.hpp"
#include "listen/parked_answers.hpp"
#include "listen/questions.hpp"
#include "listen/session_keys.hpp"
#include "listen/sessions.hpp"
#include "listen/shard.hpp"
#include "listen/watch_list.hpp"
#include "port/audience.hpp"
#include "port/fleet.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::listen {

/// Whom the clientele tells. The functions are called on the control thread; empty ones are not.
struct clientele_links {
  async::worker& control;
  port::fleet* fleet = nullptr;  ///< null: a gateway on its own
  /// The resources whose changes clients want to hear of have become this set, by the names that clients know.
  std::function<void(std::vector<std::string> uris)> on_watch;
  /// A client's session has ended: by the client, unused for too long, or elsewhere in the fleet.
  std::function<void(std::string_view session)> on_session_end;
};

/// What came of looking for a session that another replica opened.
struct adoption {
  std::shared_ptr<listen::session> session;  ///< null: there is none
  bool full = false;                         ///< there is one, but too many live here already
};

/// Whether to serve a session that another replica opened `age` ago and of which the fleet says `known`. Sessions live
/// for `idle` after each use. Nobody's word is needed for one that cannot be too old; an age below zero is a clock's.
bool is_trusted(port::presence known, std::chrono::seconds age, duration idle);

/// Any thread, unless said otherwise. Outlives the workers' loops.
class clientele final : public port::audience {
 public:
  /// `handlers` has one a worker, in their order. Before the loops run.
  clientele(const std::vector<async::worker*>& workers, const port::listen_settings& settings,
            const std::vector<port::call_handler*>& handlers, port::recorder& recorder, clientele_links links);
  ~clientele();
  clientele(const clientele&) = delete;
  clientele& operator=(const clientele&) = delete;

  std::size_t size() const { return shards_.size(); }
  shard& at(std::size_t worker) { return *shards_[worker]; }

  // --- port::audience
  void use(std::shared_ptr<const port::offer> fresh) override;
  void resource_updated(std::string_view uri) override;
  void send(std::string_view session, std::string message) override;
  boost::asio::awaitable<std::string> ask(async::worker& on, std::string session, std::string_view text,
                                          const protocol::message& seen, async::interrupt& until) override;

  // --- sessions

  /// Opens one. Null when there are too many.
  std::shared_ptr<session> open(std::string_view revision, const protocol::client_abilities& abilities,
                                std::string_view principal, time_point now);
  /// A session that lives here, which counts as used; null if it does not, or belongs to somebody else.
  std::shared_ptr<session> find(std::string_view id, std::string_view principal, time_point now);
  /// A session that another replica opened. Takes 100 ms at most. On `on`'s thread.
  boost::asio::awaitable<adoption> adopt(async::worker& on, std::string id, std::string principal, time_point now);
  /// Ends it in the whole fleet.
  void end(const session& one);
  /// To be called every few seconds.
  void sweep(time_point now);

  // --- what clients send besides requests

  /// Interrupts the client's request, wherever it runs.
  void cancel(std::string_view client, std::string_view id);
  /// A response to a server's question, wherever that was asked.
  void answer(const session& from, std::string_view text, const protocol::message& seen);
  /// False if it is no level.
  bool set_level(session& of, std::string_view raw_level);

  // --- streams and subscriptions

  /// From now on the session's stream is `stream`, on the worker of `here`; one that it had before, anywhere, ends.
  void attach(shard& here, subscriber& stream, session& of);
  /// The stream has ended. Another may have taken its place by now.
  void detach(const subscriber& stream, session& of);

  listen::questions& questions() { return questions_; }
  parked_answers& parked() { return parked_; }
  watch_list& watches() { return watches_; }

  /// Standing streams end, idle connections close, and no connection goes on after its present request.
  void begin_drain();
  void interrupt_calls();

 private:
  void hear(std::string_view text);
  void hear_moved(std::string_view session, std::string_view when);
  void keep(session& one, time_point now);
  void tell(letter_kind kind, std::string_view session, std::string_view body);
  void cancel_here(std::string_view client, std::string_view id);
  void end_stream(std::uint64_t mark);
  bool deliver(std::string_view session, std::string message);
  void announce_watches();
  void session_ended(session& one);
  template <class Function>
  void on_each(Function function);

  clientele_links links_;
  duration idle_;
  std::vector<std::unique_ptr<shard>> shards_;
  const std::string replica_;  ///< what no other replica calls itself
  session_keys keys_;
  watch_list watches_;
  sessions sessions_;
  listen::questions questions_;
  parked_answers parked_;
  std::mutex offer_mutex_;
  std::shared_ptr<const port::offer> offer_;
  std::atomic<bool> announcing_{false};
};

}  // namespace switchgear::listen
