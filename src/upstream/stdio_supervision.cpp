// The life of the child: one coroutine that starts it, asks it what it is, waits for its end, and starts it again.
#include "upstream/child_process.hpp"
#include "upstream/stdio_greeting.hpp"
#include "upstream/stdio_upstream.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration grace_at_stop = std::chrono::seconds(2);
constexpr duration grace_when_broken = std::chrono::milliseconds(500);  // it closed a pipe, so it serves nobody
// A child that was found to be legacy may be another one after an update of its package.
constexpr duration verdict_life = std::chrono::hours(1);

// A write to a pipe whose reader has gone must be an error value; Asio has no flag for that on pipes.
void ignore_broken_pipes() {
  struct sigaction present{};
  if (::sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

}  // namespace

void stdio_upstream::start() {
  ignore_broken_pipes();
  running_ = true;
  asio::co_spawn(control_.io, supervise(), [this](std::exception_ptr error) {
    running_ = false;
    stopped_.cancel();
    rethrow(error);
  });
}

asio::awaitable<void> stdio_upstream::stop() {
  stopping_ = true;
  last_fault_ = port::fault::not_ready;
  if (session_) session_->fail_all("the gateway is stopping");
  fail_waiting();
  wake_.cancel();
  co_await questions_.end(asked_requests::last_words::responses);
  while (running_) co_await stopped_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> stdio_upstream::supervise() {
  while (!stopping_) {
    co_await pause_before_start();
    if (!stopping_) co_await run_child();
  }
}

asio::awaitable<void> stdio_upstream::pause_before_start() {
  while (!stopping_ && !start_wanted_ && async::worker::now() < restarts_.due()) co_await wait_until(restarts_.due());
}

asio::awaitable<void> stdio_upstream::run_child() {
  start_wanted_ = false;
  phase_ = phase::starting;
  remarked_late_ = remarked_noise_ = false;
  restarts_.started(async::worker::now());
  ++counted_.starts;
  time_point ready_since = time_point::max();
  std::string why;
  bool was_ready = false;
  if (auto child = child_process::start(control_.io, settings_.stdio, why, guard_)) {
    stdio_session::events& heard = *this;
    const auto session =
        std::make_shared<stdio_session>(control_, *std::move(child), settings_.max_answer, role_.abilities, heard);
    session_ = session;
    asio::co_spawn(control_.io, session->run(), rethrow);
    was_ready = co_await make_ready(*session, why);
    if (was_ready) {
      ready_since = async::worker::now();
      co_await serve(*session);
    }
    const bool once_more = !was_ready && probe_harmed(*session);
    const bool broke_by_itself = !session->usable();
    phase_ = phase::paused;
    co_await end_child(*session);
    if (broke_by_itself) why = session->reason();
    upkeep_.reset();
    session_.reset();
    last_fault_ = port::fault::not_ready;
    if (once_more) {
      start_wanted_ = true;
      co_return;
    }
  } else {
    phase_ = phase::paused;
    last_fault_ = port::fault::start_failed;
  }
  const double chance = std::uniform_real_distribution<double>(0, 1)(random_);
  restarts_.ended(async::worker::now(), ready_since, chance);
  if (stopping_) co_return;
  became(port::upstream_state::degraded, why);
  // Whoever came after a serving child broke has not seen a start fail yet.
  if (!was_ready || restarts_.failures() > 1) fail_waiting();
}

opening stdio_upstream::how_to_begin() const {
  if (settings_.era) return *settings_.era == protocol::era::modern ? opening::modern_only : opening::legacy_only;
  const bool modern = !role_.abilities.any() && async::worker::now() >= legacy_until_;
  return modern ? opening::modern_first : opening::legacy_first;
}

asio::awaitable<bool> stdio_upstream::make_ready(stdio_session& session, std::string& why) {
  const stdio_asking asking{control_, session, next_id_, settings_.handshake_timeout};
  greeting how{how_to_begin(), role_.abilities, std::min(settings_.stdio.probe_timeout, settings_.handshake_timeout)};
  opened_as_modern_ = how.first == opening::modern_first;
  server_hello hello;
  const auto era = co_await greet(asking, how, hello, why);
  if (!era) co_return false;
  legacy_until_ = *era == protocol::era::legacy ? async::worker::now() + verdict_life : time_point();
  opened_as_modern_ = false;
  if (role_.lists && !co_await begin_upkeep(asking, hello, *era, why)) co_return false;
  if (stopping_) co_return false;
  became_ready(hello, *era);
  co_return true;
}

asio::awaitable<bool> stdio_upstream::begin_upkeep(const stdio_asking& asking, server_hello hello, protocol::era era,
                                                   std::string& why) {
  upkeep_.emplace(stdio_upkeep::needs{
      .asking = asking,
      .hello = std::move(hello),
      .era = era,
      .refresh = settings_.refresh,
      .watched = watched_,
      .listed = [this](listing offer) { watcher_.listed(index_, std::move(offer)); },
      .updated = [this](std::string_view uri) { notify_updated(watcher_, index_, uri); },
      .remark = [this](std::string line) { watcher_.remark(index_, line); },
      .due_changed = [this] { wake_.cancel(); },
  });
  return upkeep_->list(why);
}

void stdio_upstream::became_ready(const server_hello& hello, protocol::era era) {
  {
    const std::lock_guard lock(status_mutex_);
    status_.protocol_version = hello.protocol_version;
    status_.server_name = hello.server_name;
  }
  era_.store(era, std::memory_order_relaxed);
  child_logs_ = hello.abilities.logging;
  level_.emplace();
  became(port::upstream_state::ready, {});
  phase_ = phase::ready;
  for (auto& exchange : std::exchange(waiting_, {})) submit(std::move(exchange));
}

// Some legacy servers end at a message that they do not expect before initialize, or do worse. The next child of such
// a server is not asked whether it is modern, and it is started at once: it was we who broke this one.
bool stdio_upstream::probe_harmed(const stdio_session& session) {
  if (!opened_as_modern_ || stopping_) return false;
  legacy_until_ = async::worker::now() + verdict_life;
  return !session.usable();
}

asio::awaitable<void> stdio_upstream::serve(stdio_session& session) {
  while (!stopping_ && session.usable()) {
    const time_point now = async::worker::now();
    const time_point due = upkeep_ ? upkeep_->due() : time_point::max();
    if (now < due) {
      co_await wait_until(due);
    } else {
      co_await upkeep_->tend(now);
    }
  }
}

asio::awaitable<void> stdio_upstream::end_child(stdio_session& session) {
  const duration grace = stopping_ ? grace_at_stop : grace_when_broken;
  session.close_input();
  if (co_await finished_within(session, grace)) co_return;
  session.signal_group(SIGTERM);
  if (co_await finished_within(session, grace)) co_return;
  session.signal_group(SIGKILL);
  if (co_await finished_within(session, grace_at_stop)) co_return;
  watcher_.remark(index_, "child " + std::to_string(session.pid()) + " does not end although it was killed");
}

asio::awaitable<bool> stdio_upstream::finished_within(const stdio_session& session, duration limit) {
  const time_point due = async::worker::now() + limit;
  while (!session.finished() && async::worker::now() < due) co_await wait_until(due);
  co_return session.finished();
}

asio::awaitable<void> stdio_upstream::wait_until(time_point due) {
  wake_.expires_at(due);
  co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace switchgear::upstream
