#include "upstream/stdio_upstream.hpp"

#include "upstream/child_process.hpp"
#include "upstream/handshake.hpp"
#include "upstream/printable.hpp"
#include "upstream/stdio_greeting.hpp"
#include "upstream/stdio_line.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr std::size_t most_waiting = 1024;  // calls that may wait for a start
constexpr duration grace_at_stop = std::chrono::seconds(2);
constexpr duration grace_when_broken =
    std::chrono::milliseconds(500);                        // of a child that closed a pipe: it serves nobody
constexpr duration refresh_gap = std::chrono::seconds(1);  // between lists, however often a child says that it changed

// A write to a pipe whose reader has gone must be an error value; Asio has no flag for that on pipes.
void ignore_broken_pipes() {
  struct sigaction present{};
  if (::sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

port::reply interrupted_reply(async::interrupt::reason why, bool sent, bool saw_progress) {
  port::reply reply;
  reply.sent = sent;
  reply.head_seen = saw_progress;
  if (why != async::interrupt::reason::deadline) {
    reply.fault = port::fault::cancelled;
  } else if (!sent) {
    reply.fault = port::fault::deadline_before_send;
    reply.detail = "the child did not take the request in time";
  } else {
    reply.fault = saw_progress ? port::fault::deadline_after_head : port::fault::deadline;
    reply.detail =
        saw_progress ? "the child reported progress, but did not answer in time" : "the child did not answer in time";
  }
  return reply;
}

}  // namespace

stdio_upstream::stdio_upstream(async::worker& control, unsigned index, port::upstream_settings settings,
                               observer& watcher, std::uint32_t seed)
    : control_(control),
      index_(index),
      settings_(std::move(settings)),
      watcher_(watcher),
      random_(seed),
      wake_(control.io),
      stopped_(control.io, asio::steady_timer::time_point::max()) {}

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
  wake_.cancel();
  while (running_) co_await stopped_.async_wait(asio::as_tuple(asio::use_awaitable));
}

// The calling side.

asio::awaitable<port::reply> stdio_upstream::call(async::worker& on, port::outgoing_call call,
                                                  async::interrupt& interrupt, port::notification_sink* sink) {
  if (interrupt.raised()) co_return interrupted_reply(interrupt.why(), false, false);
  const std::uint64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  const auto exchange = std::make_shared<stdio_exchange>(on, id, stdio_line(call, id));
  stdio_exchange::waiter here(*exchange);
  asio::post(control_.io, [this, exchange] { submit(exchange); });
  while (true) {
    co_await here.something(interrupt);
    while (const auto progress = here.next_progress()) {
      if (sink) co_await sink->on_notification(progress->text.view(), progress->seen);
    }
    if (here.answer()) co_return std::move(*here.answer());
    if (!interrupt.raised()) continue;
    const bool sent = !exchange->withdraw();
    const bool late = interrupt.why() == async::interrupt::reason::deadline;
    asio::post(control_.io, [this, exchange, sent, late] {
      abandon(exchange, sent, late ? "the deadline has passed" : "the client cancelled the call");
    });
    co_return interrupted_reply(interrupt.why(), sent, here.saw_progress());
  }
}

port::upstream_status stdio_upstream::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

// The control side: calls.

void stdio_upstream::submit(std::shared_ptr<stdio_exchange> exchange) {
  if (phase_ == phase::ready && session_->usable() && !stopping_) {
    const std::uint64_t id = exchange->id();
    std::string line = exchange->take_line();
    session_->send(id, std::move(line), std::move(exchange));
  } else if (!may_wait(async::worker::now())) {
    exchange->failed(last_fault_, status().reason, false);
  } else if (waiting_.size() >= most_waiting) {
    exchange->failed(port::fault::not_ready, "the child is starting, and too many calls wait for it", false);
  } else {
    waiting_.push_back(std::move(exchange));
  }
}

void stdio_upstream::abandon(const std::shared_ptr<stdio_exchange>& exchange, bool sent, std::string_view why) {
  if (std::erase(waiting_, exchange) != 0) return;
  if (session_ && session_->forget(exchange->id()) && sent) {
    session_->post(cancelled_notification(exchange->id(), why) + "\n");
  }
}

// Is a start under way or so near that a call should wait for it? After the first failure it is: a child that served
// and died comes back in half a second. In a longer pause a call may bring the start forward, so that a probe of the
// breaker meets a new child and not the memory of the old one (RC-052).
bool stdio_upstream::may_wait(time_point now) {
  if (stopping_ || !running_) return false;
  if (phase_ != phase::paused || start_wanted_) return true;
  if (restarts_.may_start_early(now)) {
    start_wanted_ = true;
    wake_.cancel();
    return true;
  }
  return restarts_.failures() <= 1 && last_fault_ != port::fault::start_failed;
}

void stdio_upstream::fail_waiting() {
  const std::string reason = stopping_ ? "the gateway is stopping" : status().reason;
  for (const auto& exchange : std::exchange(waiting_, {})) exchange->failed(last_fault_, reason, false);
}

// The control side: the child.

asio::awaitable<void> stdio_upstream::supervise() {
  while (!stopping_) {
    co_await pause_before_start();
    if (!stopping_) co_await run_child();
  }
  fail_waiting();
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
  if (auto child = child_process::start(control_.io, settings_.stdio, why)) {
    stdio_session::events& heard = *this;
    const auto session = std::make_shared<stdio_session>(control_, *std::move(child), settings_.max_answer, heard);
    session_ = session;
    asio::co_spawn(control_.io, session->run(), rethrow);
    was_ready = co_await make_ready(*session, why);
    if (was_ready) {
      ready_since = async::worker::now();
      co_await serve(*session);
    }
    const bool broke_by_itself = !session->usable();
    phase_ = phase::paused;
    co_await end_child(*session);
    if (broke_by_itself) why = session->reason();
    session_.reset();
    last_fault_ = port::fault::not_ready;
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

asio::awaitable<bool> stdio_upstream::make_ready(stdio_session& session, std::string& why) {
  const stdio_greeting with{control_, session, next_id_, settings_.handshake_timeout};
  server_hello hello;
  listed_tools tools;
  if (!co_await greet(with, hello, why) || !co_await list_tools(with, tools, why)) co_return false;
  if (stopping_) co_return false;
  {
    const std::lock_guard lock(status_mutex_);
    status_.protocol_version = hello.protocol_version;
    status_.server_name = hello.server_name;
  }
  watcher_.tools_listed(index_, std::move(tools));
  became(port::upstream_state::ready, {});
  phase_ = phase::ready;
  for (auto& exchange : std::exchange(waiting_, {})) submit(std::move(exchange));
  co_return true;
}

asio::awaitable<void> stdio_upstream::serve(stdio_session& session) {
  time_point refreshed = async::worker::now();
  tools_changed_ = false;
  while (!stopping_ && session.usable()) {
    const time_point due = refreshed + (tools_changed_ ? refresh_gap : settings_.refresh);
    if (async::worker::now() < due) {
      co_await wait_until(due);
      continue;
    }
    tools_changed_ = false;
    co_await refresh_tools(session);
    refreshed = async::worker::now();
  }
}

asio::awaitable<void> stdio_upstream::refresh_tools(stdio_session& session) {
  listed_tools tools;
  std::string why;
  if (co_await list_tools({control_, session, next_id_, settings_.handshake_timeout}, tools, why)) {
    watcher_.tools_listed(index_, std::move(tools));
  } else if (session.usable() && !stopping_) {
    watcher_.remark(index_, "its list of tools could not be refreshed, the last one stays: " + why);
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

// What a session says.

void stdio_upstream::tools_changed() {
  tools_changed_ = true;
  wake_.cancel();
}

void stdio_upstream::late_answer() {
  ++counted_.late_answers;
  if (!std::exchange(remarked_late_, true)) watcher_.remark(index_, "an answer came after its call had been given up");
}

void stdio_upstream::noise(std::string_view line) {
  ++counted_.noise_lines;
  if (std::exchange(remarked_noise_, true)) return;
  watcher_.remark(index_,
                  "a line on stdout is no message for us and is skipped, as others will be: " + printable(line, 120));
}

void stdio_upstream::error_line(std::string_view line) {
  watcher_.remark(index_, line);
}

void stdio_upstream::session_changed() {
  wake_.cancel();
}

void stdio_upstream::became(port::upstream_state state, std::string reason) {
  port::upstream_status now;
  {
    const std::lock_guard lock(status_mutex_);
    if (status_.state == state && status_.reason == reason) return;
    status_.state = state;
    status_.reason = std::move(reason);
    now = status_;
  }
  watcher_.state_changed(index_, now);
}

}  // namespace switchgear::upstream
