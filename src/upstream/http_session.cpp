// The control worker's side of http_upstream: one session, opened, renewed and ended.
#include "protocol/text.hpp"
#include "upstream/http_ear.hpp"
#include "upstream/http_upstream.hpp"
#include "upstream/session_loss.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration longest_pause = std::chrono::seconds(5);
constexpr duration steady_time = std::chrono::seconds(10);  // a session that lasted so long was a good one

// A server that is silent to what it does not know must not cost the whole time of a handshake.
constexpr duration longest_discovery = std::chrono::seconds(3);

// What a reply to server/discover says of the era by its status, where its message does not say it. Credentials,
// throttling and outages say nothing; other refusals are those of a server that does not know the method.
std::optional<protocol::era> era_of_status(int status) {
  const bool refused = status >= 400 && status < 500;
  if (!refused || status == 401 || status == 403 || status == 408 || status == 429) return std::nullopt;
  return protocol::era::legacy;
}

}  // namespace

void http_upstream::start() {
  asio::co_spawn(control_.io, manage(), [](std::exception_ptr) {});
}

asio::awaitable<void> http_upstream::stop() {
  stopping_ = true;
  wake();
  if (ear_) ear_->stop();
  if (session_) co_await end_session(session_);
}

asio::awaitable<void> http_upstream::end_session(session_ptr old) {
  if (old->delete_head.empty()) co_return;
  async::interrupt limit(control_.timers);
  limit.arm(async::worker::now() + std::chrono::seconds(1));
  http_reply ignored;
  const auto as = credential_.now();
  const http_request request{old->delete_head, {}, {}, {}, {}, *as};
  http_exchange exchange(control_, endpoint_, seats_.back()->pool, limit, nullptr);
  co_await exchange.run(request, ignored);
}

asio::awaitable<void> http_upstream::manage() {
  while (!stopping_) {
    if (session_ && lost_epoch_ >= session_->epoch) {
      // A server that forgets what it has just opened would be asked without end.
      if (async::worker::now() - last_attempt_ < steady_time) ++failures_;
      drop_session();
    }
    if (!session_ && !co_await renew_session()) continue;
    if (async::worker::now() >= next_listing() && !co_await list()) {
      if (lost_epoch_ >= session_->epoch) continue;
      ++failures_;
      co_await pause(pause_after(failures_), false);
      continue;
    }
    co_await update_watches();
    co_await check_era();
    if (!session_ || lost_epoch_ >= session_->epoch) continue;
    set_state(port::upstream_state::ready, {});
    const time_point now = async::worker::now();
    co_await pause(std::clamp(next_listing() - now, duration::zero(), settings_.refresh), true);
    if (async::worker::now() - last_attempt_ >= steady_time) failures_ = 0;
  }
}

asio::awaitable<bool> http_upstream::renew_session() {
  co_await space_attempts();
  if (stopping_) co_return false;
  last_attempt_ = async::worker::now();
  denied_ = 0;
  std::string why;
  if (session_ptr fresh = co_await open_session(why)) {
    use_session(std::move(fresh));
    co_return true;
  }
  publish(phase::down, nullptr, {why, denied_, *asked_with_, async::worker::now()});
  set_state(port::upstream_state::degraded, std::move(why), denied_);
  if (denied_ != 0 && is_of_principal()) {
    co_await wait_for_call();
    co_return false;
  }
  ++failures_;
  co_await pause(pause_after(failures_), false);
  co_return false;
}

// A credential that was refused is not tried again by itself: that would be an attack on its owner's account.
asio::awaitable<void> http_upstream::wait_for_call() {
  was_called_ = false;
  waits_for_call_ = true;
  while (!stopping_ && !was_called_) co_await pause(std::chrono::hours(1), false);
  waits_for_call_ = false;
  last_attempt_ = {};
}

void http_upstream::note_denial(int status) {
  denied_ = status == 401 || status == 403 ? status : 0;
}

// Attempts to open a session begin at least half a second apart, further when they keep coming to nothing; calls that
// find their session lost do not hurry them.
asio::awaitable<void> http_upstream::space_attempts() {
  const duration apart = failures_ == 0 ? options_.attempt_gap : pause_after(failures_);
  const time_point due = last_attempt_ == time_point{} ? time_point{} : last_attempt_ + apart;
  while (!stopping_ && async::worker::now() < due) co_await pause(due - async::worker::now(), false);
}

asio::awaitable<void> http_upstream::pause(duration length, bool may_be_suspected) {
  pausing_ = true;
  pause_suspectable_ = may_be_suspected;
  error_code ignored;
  wake_.expires_after(length);
  if (!woken_) co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  woken_ = false;
  pausing_ = false;
}

duration http_upstream::pause_after(unsigned failures) {
  const duration grown = options_.attempt_gap * (1u << std::min(failures, 4u));
  const double jitter = std::uniform_real_distribution<>(0.8, 1.2)(random_);
  return std::chrono::duration_cast<duration>(std::min(grown, longest_pause) * jitter);
}

void http_upstream::wake() {
  woken_ = true;
  wake_.cancel();
}

asio::awaitable<void> http_upstream::ask(const session& of, const std::string& fields, std::string text, std::string id,
                                         http_reply& out) {
  async::interrupt limit(control_.timers);
  limit.arm(async::worker::now() + settings_.handshake_timeout);
  asked_with_ = credential_.now();
  const auto as = asked_with_;
  const http_request request{of.post_head, fields, {text}, id, {}, *as};
  co_await exchange(control_, of, request, limit, nullptr, nullptr, out);
}

asio::awaitable<http_upstream::session_ptr> http_upstream::open_session(std::string& why) {
  if (settings_.http.sse) co_return co_await open_link(why);
  if (settings_.era != protocol::era::legacy && async::worker::now() >= legacy_until_) {
    std::optional<protocol::era> shown;
    http_reply said;
    if (session_ptr modern = co_await discover(shown, said)) co_return modern;
    if (settings_.era == protocol::era::modern) {
      why = "it does not answer server/discover as a server of the modern era" +
            (said.reply.detail.empty() ? std::string() : ": " + said.reply.detail);
      co_return nullptr;
    }
    if (!shown && !said.reply.sent) {
      why = said.reply.detail;
      co_return nullptr;
    }
    // Whatever it said, or left unsaid, a greeting that works is the best evidence.
    legacy_until_ = async::worker::now() + options_.legacy_verdict;
  }
  session_ptr legacy = co_await open_legacy(why);
  if (!legacy) legacy_until_ = {};
  co_return legacy;
}

// A server that refuses the revision and names the same one as its own has not looked: it is asked once more.
asio::awaitable<http_upstream::session_ptr> http_upstream::discover(std::optional<protocol::era>& shown,
                                                                    http_reply& said) {
  session_ptr found = co_await discover_once(shown, said);
  if (found || shown != protocol::era::modern || !said.reply.message.error) co_return found;
  said = {};
  co_return co_await discover_once(shown, said);
}

asio::awaitable<http_upstream::session_ptr> http_upstream::discover_once(std::optional<protocol::era>& shown,
                                                                         http_reply& said) {
  const std::uint64_t id = next_id(control_);
  const std::shared_ptr<session> fresh = new_session(protocol::era::modern);
  fresh->hello.protocol_version = protocol::modern_version;
  write_heads(*fresh, {});
  const std::string fields = mirrored_fields("server/discover", {});
  const std::string text = discover_request(id), id_text = std::to_string(id);
  async::interrupt limit(control_.timers);
  limit.arm(async::worker::now() + std::min(settings_.handshake_timeout, longest_discovery));
  asked_with_ = credential_.now();
  const auto as = asked_with_;
  const http_request request{fresh->post_head, fields, {text}, id_text, {}, *as};
  co_await exchange(control_, *fresh, request, limit, nullptr, nullptr, said);
  note_denial(said.reply.status);

  const std::string_view body = said.reply.body.view();
  if (said.reply.has_message) shown = era_shown(said.reply.message, body);
  if (!said.reply.has_message || (!shown && said.reply.status != 200)) shown = era_of_status(said.reply.status);
  if (shown != protocol::era::modern) co_return nullptr;
  std::string why;
  if (!read_discovery(said.reply.message.result.in(body), fresh->hello, why)) co_return nullptr;
  co_return fresh;
}

asio::awaitable<http_upstream::session_ptr> http_upstream::open_legacy(std::string& why) {
  const std::shared_ptr<session> fresh = new_session(protocol::era::legacy);
  write_heads(*fresh, {});
  http_reply said;
  if (co_await greet(fresh, said, why)) co_return fresh;
  const int status = said.reply.status;
  const bool may_be_older = status == 400 || status == 404 || status == 405;
  if (!may_be_older || said.reply.fault != port::fault::bad_status || said.reply.has_message) co_return nullptr;
  std::string why_not;
  session_ptr linked = co_await open_link(why_not);
  if (!linked) why += "; " + why_not;
  co_return linked;
}

// A server of the first revision names the address for our messages on a stream that we open first.
asio::awaitable<http_upstream::session_ptr> http_upstream::open_link(std::string& why) {
  const std::shared_ptr<session> fresh = new_session(protocol::era::legacy);
  fresh->has_id = true;
  asked_with_ = credential_.now();
  fresh->link =
      std::make_shared<sse_link>(control_, endpoint_, seats_.back()->pool, heads_.write("GET", {}, {}) + *asked_with_);
  asio::co_spawn(control_.io, fresh->link->run(), [](std::exception_ptr) {});
  fresh->target = co_await fresh->link->address(settings_.handshake_timeout, why);
  note_denial(fresh->link->status());
  if (!fresh->target.empty()) {
    write_heads(*fresh, {});
    http_reply said;
    if (co_await greet(fresh, said, why)) co_return fresh;
  }
  fresh->link->stop();
  co_return nullptr;
}

// From initialize to the notification that follows it. The heads change with what the server answers.
asio::awaitable<bool> http_upstream::greet(std::shared_ptr<session> fresh, http_reply& said, std::string& why) {
  const std::uint64_t id = next_id(control_);
  co_await ask(*fresh, {}, initialize_request(id, options_.role.abilities), std::to_string(id), said);
  note_denial(said.reply.status);
  const std::string_view body = said.reply.body.view();
  why = said.reply.detail;
  if (said.reply.has_message && said.reply.message.error) {
    why = "initialize was refused: " + std::string(protocol::head(said.reply.message.error.in(body), 300));
    co_return false;
  }
  if (said.reply.fault != port::fault::none) co_return false;
  if (!read_hello(said.reply.message.result.in(body), fresh->hello, why)) co_return false;
  if (!fresh->link) fresh->has_id = !said.session_id.empty();
  write_heads(*fresh, said.session_id);
  http_reply accepted;
  co_await ask(*fresh, {}, std::string(initialized_notification), {}, accepted);
  if (accepted.reply.fault == port::fault::none) co_return true;
  note_denial(accepted.reply.status);
  why = "notifications/initialized was refused: " + accepted.reply.detail;
  co_return false;
}

std::shared_ptr<http_upstream::session> http_upstream::new_session(protocol::era era) {
  auto fresh = std::make_shared<session>();
  fresh->epoch = ++epoch_;
  fresh->era = era;
  return fresh;
}

void http_upstream::write_heads(session& of, std::string_view id) const {
  const std::string_view version = of.hello.protocol_version;
  of.post_head = heads_.write("POST", id, version, of.target);
  if (of.link) return;
  if (of.era == protocol::era::legacy) of.get_head = heads_.write("GET", id, version);
  if (!id.empty()) of.delete_head = heads_.write("DELETE", id, version);
}

void http_upstream::use_session(session_ptr fresh) {
  {
    const std::lock_guard lock(status_mutex_);
    status_.protocol_version = fresh->hello.protocol_version;
    status_.server_name = fresh->hello.server_name;
  }
  era_.store(fresh->era, std::memory_order_relaxed);
  session_ = std::move(fresh);
  listed_ = false;
  watching_.clear();
  publish(phase::ready, session_, {});
  listen();
}

void http_upstream::drop_session() {
  if (ear_) ear_->stop();
  ear_ = nullptr;
  session_ = nullptr;
  publish(phase::renewing, nullptr, {});
}

void http_upstream::publish(http_upstream::phase now, session_ptr next, outage down) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    asio::post(workers_[i]->io, [this, i, now, next, down] {
      seat& here = *seats_[i];
      here.phase = now;
      here.current = next;
      here.down = down;
      here.changed.cancel();
    });
  }
}

void http_upstream::set_state(port::upstream_state state, std::string reason, int denied) {
  if (denied != 0) reason.insert(0, "credential rejected: ");
  port::upstream_status copy;
  {
    const std::lock_guard lock(status_mutex_);
    if (status_.state == state && status_.reason == reason) return;
    status_.state = state;
    status_.denied = denied;
    status_.reason = std::move(reason);
    copy = status_;
  }
  watcher_.state_changed(index_, copy);
}

}  // namespace switchgear::upstream
