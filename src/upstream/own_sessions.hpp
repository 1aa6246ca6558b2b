// One upstream with one session for everybody, and more for whom must not share it: clients that its server may ask
// something, and principals whose credentials it is given.
#pragma once

#include "async/worker.hpp"
#include "port/audience.hpp"
#include "port/upstream.hpp"
#include "upstream/observer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::upstream {

/// A legacy server asks its questions (sampling, elicitation, roots) in a session whose client said at the beginning
/// that it answers them, and over stdio nothing says which request a question belongs to. So a client that declares any
/// of them gets a session of its own, opened at its first request and ended with the client's; everybody else shares
/// one (docs/decisions/0014). A modern server needs none of it: each request says what may be asked.
///
/// Where callers' credentials go on to the server, the common session is the operator's and serves no caller: each
/// principal has one of its own (docs/decisions/0018), beyond the limit none. A modern server is told with each request
/// who asks.
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
    std::size_t most = 100;                    ///< sessions besides the common one
    duration idle = std::chrono::minutes(30);  ///< one that is not used for this long is ended
    std::vector<std::string> forward = {};     ///< headers of clients that go on to the server
  };

  /// `watcher` hears of the shared session, `clients` what the other servers say outside of any request.
  own_sessions(async::worker& control, unsigned index, factory make, observer& watcher, port::audience& clients,
               limits bounds);

  /// Control thread, once each.
  void start();
  boost::asio::awaitable<void> stop();

  boost::asio::awaitable<port::reply> call(async::worker& on, port::outgoing_request request,
                                           async::interrupt& interrupt, port::client_side* client) override;
  port::upstream_status status() const override;
  protocol::era era() const override { return shared_.upstream->era(); }
  bool forwards() const override { return !bounds_.forward.empty(); }
  void watch(std::set<std::string> uris) override { shared_.upstream->watch(std::move(uris)); }
  void client_gone(std::string_view session) override;

  /// Sessions besides the common one that are there now. Any thread.
  std::size_t open() const;

 private:
  class voice;
  class ears;
  struct own;
  /// A client's session, where it needs one, and a principal, where that matters; one of them may be empty.
  using key = std::pair<std::string, std::string>;
  using table = std::map<key, std::shared_ptr<own>>;

  boost::asio::awaitable<port::reply> call_as_principal(async::worker& on, port::outgoing_request request,
                                                        async::interrupt& interrupt, port::client_side* client);
  std::shared_ptr<own> session_of(key whose, const port::client& client, const std::string* credential);
  bool has_room();
  std::shared_ptr<own> take_denied();
  void hear_credential(const port::reply& reply);
  void credential_is(int status);
  void tell_credential();
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
  table own_;
  time_point next_search_{};  // for a session that the server denies
  bool stopping_ = false;
  bool full_ = false;  // said so already

  // Of sessions that are there, or on their way out.
  const std::shared_ptr<std::atomic<std::size_t>> alive_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::atomic<int> rejected_{0};  // the status with which the operator's credential is

  // Control thread only.
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer ended_;
  std::size_t running_ = 0;  // of run()
  bool told_rejected_ = false;
};

}  // namespace switchgear::upstream
