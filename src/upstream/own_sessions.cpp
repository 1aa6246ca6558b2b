#include "upstream/own_sessions.hpp"

#include "protocol/message.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration longest_end = std::chrono::seconds(5);  // of all sessions together, at stop()

// An observer that somebody else owns, for an upstream that wants to share it.
std::shared_ptr<observer> borrowed(observer& watcher) {
  return {std::shared_ptr<void>(), &watcher};
}

}  // namespace

/// What a client's own session says: to that client. What the server offers is heard from the shared session alone.
class own_sessions::voice final : public observer {
 public:
  voice(async::worker& control, port::audience& clients, std::string session)
      : control_(control), clients_(clients), session_(std::move(session)) {}

  void listed(unsigned, listing) override {}
  void state_changed(unsigned, const port::upstream_status&) override {}
  void remark(unsigned, std::string_view) override {}
  void notified(unsigned, std::string_view text, const protocol::message&) override {
    clients_.send(session_, std::string(text));
  }
  asio::awaitable<std::string> asked(unsigned, std::string_view text, const protocol::message& seen,
                                     async::interrupt& until) override {
    return clients_.ask(control_, session_, text, seen, until);
  }

 private:
  async::worker& control_;
  port::audience& clients_;
  const std::string session_;
};

struct own_sessions::own {
  own_sessions::link link;
  std::atomic<time_point::rep> used{0};  // time_since_epoch().count()

  void use() { used.store(async::worker::now().time_since_epoch().count(), std::memory_order_relaxed); }
  bool idle_since(time_point moment) const {
    return used.load(std::memory_order_relaxed) < moment.time_since_epoch().count();
  }
};

own_sessions::own_sessions(async::worker& control, unsigned index, factory make, observer& watcher,
                           port::audience& clients, limits bounds)
    : control_(control),
      index_(index),
      make_(std::move(make)),
      watcher_(watcher),
      clients_(clients),
      bounds_(bounds),
      shared_(make_({}, borrowed(watcher_))),
      pause_(control.io),
      ended_(control.io, asio::steady_timer::time_point::max()) {}

void own_sessions::run(asio::awaitable<void> task) {
  ++running_;
  asio::co_spawn(control_.io, std::move(task), [this](std::exception_ptr) {
    --running_;
    ended_.cancel();
  });
}

void own_sessions::start() {
  shared_.start();
  run(sweep());
}

asio::awaitable<void> own_sessions::stop() {
  std::unordered_map<std::string, std::shared_ptr<own>> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(own_);
  }
  pause_.cancel();
  for (auto& [session, one] : left) run(end(std::move(one)));
  co_await shared_.stop();
  const time_point due = async::worker::now() + longest_end;
  while (running_ != 0 && async::worker::now() < due) {
    ended_.expires_at(due);
    co_await ended_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<port::reply> own_sessions::call(async::worker& on, port::outgoing_request request,
                                                async::interrupt& interrupt, port::client_side* client) {
  std::shared_ptr<own> mine;
  if (request.client.needs_own_session() && era() == protocol::era::legacy) mine = session_of(request.client);
  if (!mine) co_return co_await shared_.upstream->call(on, request, interrupt, client);
  port::reply reply = co_await mine->link.upstream->call(on, request, interrupt, client);
  mine->use();
  co_return reply;
}

std::shared_ptr<own_sessions::own> own_sessions::session_of(const port::client& client) {
  std::string name(client.session);
  const std::lock_guard lock(mutex_);
  if (stopping_) return nullptr;
  if (const auto found = own_.find(name); found != own_.end()) {
    found->second->use();
    return found->second;
  }
  if (own_.size() >= bounds_.most) {
    if (!std::exchange(full_, true)) asio::post(control_.io, [this] { remark_full(); });
    return nullptr;
  }
  full_ = false;
  auto made = std::make_shared<own>();
  made->link =
      make_({.abilities = client.abilities, .lists = false}, std::make_shared<voice>(control_, clients_, name));
  made->use();
  own_.emplace(std::move(name), made);
  asio::post(control_.io, [made] { made->link.start(); });
  return made;
}

void own_sessions::remark_full() {
  watcher_.remark(index_, std::to_string(bounds_.most) +
                              " clients have a session of their own, as many as may be: others share one, in which the "
                              "server can ask them nothing");
}

void own_sessions::client_gone(std::string_view session) {
  std::shared_ptr<own> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = own_.find(std::string(session));
    if (found == own_.end()) return;
    ended = std::move(found->second);
    own_.erase(found);
  }
  asio::post(control_.io, [this, ended] { run(end(ended)); });
}

asio::awaitable<void> own_sessions::end(std::shared_ptr<own> ended) {
  co_await ended->link.stop();
}

asio::awaitable<void> own_sessions::sweep() {
  const duration step = std::clamp<duration>(bounds_.idle / 4, std::chrono::milliseconds(100), std::chrono::minutes(1));
  for (;;) {
    pause_.expires_after(step);
    co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
    std::vector<std::string> idle;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) co_return;
      for (const auto& [session, one] : own_) {
        // A call that runs longer than that holds the session besides the table.
        if (one.use_count() == 1 && one->idle_since(async::worker::now() - bounds_.idle)) idle.push_back(session);
      }
    }
    for (const std::string& session : idle) client_gone(session);
  }
}

std::size_t own_sessions::open() const {
  const std::lock_guard lock(mutex_);
  return own_.size();
}

}  // namespace switchgear::upstream
