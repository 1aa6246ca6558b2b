#include "upstream/own_sessions.hpp"

#include "protocol/message.hpp"
#include "upstream/http_heads.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration longest_end = std::chrono::seconds(5);  // of all sessions together, at stop()
// A session takes a while to end. Callers that come with ever new credentials must not make us collect dead ones.
constexpr std::size_t most_ending = 100;
constexpr duration search_pause = std::chrono::milliseconds(100);

bool is_denied(const port::reply& reply) {
  return reply.status == 401 || reply.status == 403;
}

}  // namespace

/// What a session says that is not common: to its client, and where it is several clients', to nobody. What the server
/// offers is heard from the common session alone.
class own_sessions::voice final : public observer {
 public:
  using count = std::shared_ptr<std::atomic<std::size_t>>;

  voice(async::worker& control, port::audience& clients, std::string session, count alive)
      : control_(control), clients_(clients), session_(std::move(session)), alive_(std::move(alive)) {
    ++*alive_;
  }
  ~voice() { --*alive_; }
  voice(const voice&) = delete;
  voice& operator=(const voice&) = delete;

  void listed(unsigned, listing) override {}
  void state_changed(unsigned, const port::upstream_status&) override {}
  void remark(unsigned, std::string_view) override {}
  void notified(unsigned, std::string_view text, const protocol::message&) override {
    if (!session_.empty()) clients_.send(session_, std::string(text));
  }
  asio::awaitable<std::string> asked(unsigned index, std::string_view text, const protocol::message& seen,
                                     async::interrupt& until) override {
    if (session_.empty()) return observer::asked(index, text, seen, until);
    return clients_.ask(control_, session_, text, seen, until);
  }

 private:
  async::worker& control_;
  port::audience& clients_;
  const std::string session_;
  const count alive_;
};

/// What the common session says: to whoever watches, and to us what became of the operator's credential.
class own_sessions::ears final : public observer {
 public:
  explicit ears(own_sessions& owner) : owner_(owner), watcher_(owner.watcher_) {}

  void listed(unsigned index, listing offer) override { watcher_.listed(index, std::move(offer)); }
  void state_changed(unsigned index, const port::upstream_status& status) override {
    watcher_.state_changed(index, status);
    if (status.denied != 0 || status.state == port::upstream_state::ready) owner_.credential_is(status.denied);
  }
  void remark(unsigned index, std::string_view line) override { watcher_.remark(index, line); }
  void notified(unsigned index, std::string_view text, const protocol::message& seen) override {
    watcher_.notified(index, text, seen);
  }
  asio::awaitable<std::string> asked(unsigned index, std::string_view text, const protocol::message& seen,
                                     async::interrupt& until) override {
    return watcher_.asked(index, text, seen, until);
  }

 private:
  own_sessions& owner_;
  observer& watcher_;
};

struct own_sessions::own {
  own_sessions::link link;
  std::atomic<bool> denied{false};       // the server wants no session with the principal's latest credential
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
      bounds_(std::move(bounds)),
      shared_(make_({}, std::make_shared<ears>(*this))),
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
  table left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(own_);
  }
  pause_.cancel();
  for (auto& [whose, one] : left) run(end(std::move(one)));
  co_await shared_.stop();
  const time_point due = async::worker::now() + longest_end;
  while (running_ != 0 && async::worker::now() < due) {
    ended_.expires_at(due);
    co_await ended_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<port::reply> own_sessions::call(async::worker& on, port::outgoing_request request,
                                                async::interrupt& interrupt, port::client_side* client) {
  if (!bounds_.forward.empty()) co_return co_await call_as_principal(on, request, interrupt, client);
  std::shared_ptr<own> mine;
  if (request.client.needs_own_session() && era() == protocol::era::legacy) {
    mine = session_of({std::string(request.client.session), {}}, request.client, nullptr);
  }
  port::upstream& session = mine ? *mine->link.upstream : *shared_.upstream;
  port::reply reply = co_await session.call(on, request, interrupt, client);
  if (mine) mine->use();
  hear_credential(reply);
  co_return reply;
}

asio::awaitable<port::reply> own_sessions::call_as_principal(async::worker& on, port::outgoing_request request,
                                                             async::interrupt& interrupt, port::client_side* client) {
  const std::string credential = forwarded_fields(request.client.head, bounds_.forward);
  request.credential = credential;
  if (era() == protocol::era::modern) co_return co_await shared_.upstream->call(on, request, interrupt, client);
  const std::string_view session = request.client.needs_own_session() ? request.client.session : std::string_view{};
  const auto mine =
      session_of({std::string(session), std::string(request.client.principal)}, request.client, &credential);
  if (!mine) {
    port::reply refused;
    refused.fault = port::fault::overloaded;
    refused.detail = "as many principals have a session with it as may have one";
    co_return refused;
  }
  port::reply reply = co_await mine->link.upstream->call(on, request, interrupt, client);
  mine->denied.store(is_denied(reply) && !reply.sent, std::memory_order_relaxed);
  mine->use();
  co_return reply;
}

std::shared_ptr<own_sessions::own> own_sessions::session_of(key whose, const port::client& client,
                                                            const std::string* credential) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return nullptr;
  if (const auto found = own_.find(whose); found != own_.end()) {
    found->second->use();
    return found->second;
  }
  if (!has_room()) {
    if (!std::exchange(full_, true)) asio::post(control_.io, [this] { remark_full(); });
    return nullptr;
  }
  full_ = false;
  const std::string& session = whose.first;
  port::session_role role{.lists = false, .news = !session.empty()};
  if (!session.empty()) role.abilities = client.abilities;
  if (credential != nullptr) role.credential = *credential;
  auto made = std::make_shared<own>();
  made->link = make_(std::move(role), std::make_shared<voice>(control_, clients_, session, alive_));
  made->use();
  own_.emplace(std::move(whose), made);
  asio::post(control_.io, [made] { made->link.start(); });
  return made;
}

// A session that its server denies is worth less than one that it may grant.
bool own_sessions::has_room() {
  if (bounds_.forward.empty()) return own_.size() < bounds_.most;
  if (alive_->load(std::memory_order_relaxed) >= bounds_.most + most_ending) return false;
  if (own_.size() < bounds_.most) return true;
  const std::shared_ptr<own> denied = take_denied();
  if (!denied) return false;
  asio::post(control_.io, [this, denied] { run(end(denied)); });
  return true;
}

std::shared_ptr<own_sessions::own> own_sessions::take_denied() {
  const time_point now = async::worker::now();
  if (now < next_search_) return nullptr;
  const auto found = std::ranges::find_if(own_, [](const auto& one) {
    return one.second->denied.load(std::memory_order_relaxed) && one.second.use_count() == 1;
  });
  if (found == own_.end()) {
    next_search_ = now + search_pause;
    return nullptr;
  }
  const std::shared_ptr<own> taken = std::move(found->second);
  own_.erase(found);
  return taken;
}

void own_sessions::remark_full() {
  const std::string count = std::to_string(bounds_.most);
  if (bounds_.forward.empty()) {
    watcher_.remark(index_, count +
                                " clients have a session of their own, as many as may be: others share one, in which "
                                "the server can ask them nothing");
  } else {
    watcher_.remark(index_, count + " principals have a session of their own, as many as may be: others are refused");
  }
}

port::upstream_status own_sessions::status() const {
  port::upstream_status now = shared_.upstream->status();
  const int rejected = rejected_.load(std::memory_order_relaxed);
  if (rejected == 0 || now.denied != 0) return now;
  now.denied = rejected;
  if (now.reason.empty()) now.reason = "credential rejected: a call was answered with HTTP " + std::to_string(rejected);
  return now;
}

void own_sessions::hear_credential(const port::reply& reply) {
  if (is_denied(reply)) {
    credential_is(reply.status);
  } else if (reply.fault == port::fault::none) {
    credential_is(0);
  }
}

void own_sessions::credential_is(int status) {
  const int before = rejected_.load(std::memory_order_relaxed);
  if ((before != 0) == (status != 0)) return;
  rejected_.store(status, std::memory_order_relaxed);
  asio::post(control_.io, [this] { tell_credential(); });
}

// Of two changes at the same time the later one is told, whichever comes here first.
void own_sessions::tell_credential() {
  const int now = rejected_.load(std::memory_order_relaxed);
  if ((now != 0) != std::exchange(told_rejected_, now != 0)) watcher_.credential_changed(index_, now);
}

void own_sessions::client_gone(std::string_view session) {
  if (session.empty()) return;
  std::vector<std::shared_ptr<own>> ended;
  {
    const std::lock_guard lock(mutex_);
    auto at = own_.lower_bound({std::string(session), {}});
    while (at != own_.end() && at->first.first == session) {
      ended.push_back(std::move(at->second));
      at = own_.erase(at);
    }
  }
  for (const auto& one : ended) asio::post(control_.io, [this, one] { run(end(one)); });
}

asio::awaitable<void> own_sessions::end(std::shared_ptr<own> ended) {
  co_await ended->link.stop();
}

asio::awaitable<void> own_sessions::sweep() {
  const duration step = std::clamp<duration>(bounds_.idle / 4, std::chrono::milliseconds(100), std::chrono::minutes(1));
  for (;;) {
    pause_.expires_after(step);
    co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
    std::vector<std::shared_ptr<own>> idle;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) co_return;
      for (auto at = own_.begin(); at != own_.end();) {
        const auto& one = at->second;
        // A call that runs longer than that holds the session besides the table.
        const bool unused = one.use_count() == 1 && one->idle_since(async::worker::now() - bounds_.idle);
        if (unused) idle.push_back(std::move(at->second));
        at = unused ? own_.erase(at) : std::next(at);
      }
    }
    for (auto& one : idle) run(end(std::move(one)));
  }
}

std::size_t own_sessions::open() const {
  const std::lock_guard lock(mutex_);
  return own_.size();
}

}  // namespace switchgear::upstream
