// One upstream with one session for everybody, and one more for each client that its server may ask something.
#pragma once

#include "async/worker.hpp"
#include "port/audience.hpp"
#include "port/upstream.hpp"
#include "upstream/observer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchgear::upstream {

/// A legacy server asks its questions (sampling, elicitation, roots) in a session whose client said at the beginning
/// that it answers them, and over stdio nothing says which request a question belongs to. So a client that declares any
/// of them gets a session of its own, opened at its first request and ended with the client's; everybody else shares
/// one (docs/decisions/0014). A modern server needs none of it: each request says what may be asked.
class own_sessions final : public port::upstream {
 public:
  /// An upstream that has been made and not yet started. `start` and `stop` are for the control thread, once each. The
  /// last owner may let go of it on any thread, after `stop` has completed.
  struct link {
    std::shared_ptr<port::upstream> upstream;
    std::function<void()> start;
    std::function<boost::asio::awaitable<void>()> stop;
  };
  /// Makes an upstream for this role; it keeps `watcher` until it is gone. Any thread. May throw: start-up.
  using factory = std::function<link(port::session_role role, std::shared_ptr<observer> watcher)>;

  struct limits {
    std::size_t most = 100;                    ///< sessions of clients; more clients share
    duration idle = std::chrono::minutes(30);  ///< one that is not used for this long is ended
  };

  /// `watcher` hears of the shared session, `clients` what the other servers say outside of any request.
  own_sessions(async::worker& control, unsigned index, factory make, observer& watcher, port::audience& clients,
               limits bounds);

  /// Control thread, once each.
  void start();
  boost::asio::awaitable<void> stop();

  boost::asio::awaitable<port::reply> call(async::worker& on, port::outgoing_request request,
                                           async::interrupt& interrupt, port::client_side* client) override;
  port::upstream_status status() const override { return shared_.upstream->status(); }
  protocol::era era() const override { return shared_.upstream->era(); }
  void watch(std::set<std::string> uris) override { shared_.upstream->watch(std::move(uris)); }
  void client_gone(std::string_view session) override;

  /// Sessions of clients that are there now. Any thread.
  std::size_t open() const;

 private:
  class voice;
  struct own;

  std::shared_ptr<own> session_of(const port::client& client);
  void remark_full();
  /// Control thread. stop() waits for its end.
  void run(boost::asio::awaitable<void> task);
  boost::asio::awaitable<void> end(std::shared_ptr<own> ended);
  boost::asio::awaitable<void> sweep();

  async::worker& control_;
  const unsigned index_;
  const factory make_;
  observer& watcher_;
  port::audience& clients_;
  const limits bounds_;
  link shared_;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<own>> own_;  // by the client's session
  bool stopping_ = false;
  bool full_ = false;  // said so already

  // Control thread only.
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer ended_;
  std::size_t running_ = 0;  // of run()
};

}  // namespace switchgear::upstream
