#include "upstream/stdio_upstream.hpp"

#include "upstream/handshake.hpp"
#include "upstream/printable.hpp"
#include "upstream/stdio_line.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr std::size_t most_waiting = 1024;  // calls that may wait for a start
constexpr int most_attempts = 4;            // of a call whose child is of the other era than the one before it
constexpr duration longest_question = std::chrono::minutes(10);  // people answer some of them

/// A request of our own whose answer nobody needs.
class unheeded final : public stdio_request {
 public:
  bool begin() override { return true; }
  void answered(kept_message) override {}
  void failed(port::fault, std::string_view, bool) override {}
};

port::reply interrupted_reply(async::interrupt::reason why, bool sent, bool heard_something) {
  port::reply reply;
  reply.sent = sent;
  reply.head_seen = heard_something;
  if (why != async::interrupt::reason::deadline) {
    reply.fault = port::fault::cancelled;
  } else if (!sent) {
    reply.fault = port::fault::deadline_before_send;
    reply.detail = "the child did not take the request in time";
  } else {
    reply.fault = heard_something ? port::fault::deadline_after_head : port::fault::deadline;
    reply.detail =
        heard_something ? "the child said something, but did not answer in time" : "the child did not answer in time";
  }
  return reply;
}

}  // namespace

stdio_upstream::stdio_upstream(async::worker& control, unsigned index, port::upstream_settings settings,
                               observer& watcher, std::uint32_t seed, const port::session_role& role,
                               child_guard* guard)
    : control_(control),
      index_(index),
      settings_(std::move(settings)),
      role_(role),
      guard_(guard),
      watcher_(watcher),
      random_(seed),
      wake_(control.io),
      stopped_(control.io, asio::steady_timer::time_point::max()),
      questions_(control, longest_question,
                 [this](std::string_view text, const protocol::message& seen, async::interrupt& until) {
                   return watcher_.asked(index_, text, seen, until);
                 }) {}

// The calling side.

asio::awaitable<port::reply> stdio_upstream::call(async::worker& on, port::outgoing_request request,
                                                  async::interrupt& interrupt, port::client_side* client) {
  std::optional<port::reply> reply;
  std::optional<asked_requests> questions;
  // Until a child has been greeted its era is a guess, and a new one may be of the other.
  for (int i = 0; i < most_attempts && !reply; ++i) {
    reply = co_await attempt(on, request, interrupt, client, questions);
  }
  if (questions) co_await questions->end(asked_requests::last_words::responses);
  if (reply) co_return *std::move(reply);
  co_return port::reply{.fault = port::fault::not_ready, .detail = "each new child speaks another revision of MCP"};
}

asio::awaitable<std::optional<port::reply>> stdio_upstream::attempt(async::worker& on,
                                                                    const port::outgoing_request& request,
                                                                    async::interrupt& interrupt,
                                                                    port::client_side* client,
                                                                    std::optional<asked_requests>& questions) {
  if (interrupt.raised()) co_return interrupted_reply(interrupt.why(), false, false);
  const stdio_exchange::outline call{next_id_.fetch_add(1, std::memory_order_relaxed), era(), client != nullptr,
                                     std::string(request.client.log_level)};
  const auto exchange = std::make_shared<stdio_exchange>(on, call, stdio_line(request, call.id, call.era));
  stdio_exchange::waiter here(*exchange);
  asio::post(control_.io, [this, exchange] { submit(exchange); });
  while (true) {
    co_await here.something(interrupt);
    while (auto event = here.next_event()) {
      if (auto* const notification = std::get_if<kept_message>(&*event)) {
        if (notification->seen.method == "notifications/progress") {
          interrupt.heard(async::interrupt::sign::progress);
        }
        if (client) client->take(notification->text.view(), notification->seen);
      } else if (auto* const question = std::get_if<asked_request>(&*event)) {
        if (!questions) {
          questions.emplace(on, longest_question,
                            [client](std::string_view text, const protocol::message& seen, async::interrupt& until) {
                              return client->ask(text, seen, until);
                            });
        }
        questions->open(std::move(*question));
      } else if (questions) {
        questions->take_back(std::get<stdio_exchange::withdrawal>(*event).id);
      }
    }
    if (here.answer()) co_return std::move(here.answer());
    if (here.wrong_era()) co_return std::nullopt;
    if (client) co_await client->flush();
    if (!interrupt.raised()) continue;
    const bool sent = !exchange->withdraw();
    const bool late = interrupt.why() == async::interrupt::reason::deadline;
    asio::post(control_.io, [this, exchange, sent, late] {
      abandon(exchange, sent, late ? "the deadline has passed" : "the client cancelled the call");
    });
    co_return interrupted_reply(interrupt.why(), sent, here.heard_something());
  }
}

port::upstream_status stdio_upstream::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

// The control side: calls.

void stdio_upstream::submit(std::shared_ptr<stdio_exchange> exchange) {
  if (phase_ == phase::ready && session_->usable() && !stopping_) {
    if (exchange->era() != era()) return exchange->refuse_era();
    tell_level(exchange->log_level());
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

// Written before the call, so that the child reads it before the call. What it answers is of no interest: a call does
// not fail for want of log messages.
void stdio_upstream::tell_level(std::string_view raw_level) {
  if (!child_logs_ || era() != protocol::era::legacy) return;
  const std::string_view level = level_->next(raw_level, !role_.abilities.any());
  if (level.empty()) return;
  const std::uint64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  session_->send(id, level_request(id, level) + "\n", std::make_shared<unheeded>());
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

// What a session says.

void stdio_upstream::list_changed() {
  if (upkeep_) upkeep_->list_changed();
}

void stdio_upstream::notified(kept_message message) {
  if (message.seen.method == "notifications/subscriptions/acknowledged") {
    if (upkeep_) upkeep_->acknowledged(stream_of(message.text.view(), message.seen));
    return;
  }
  watcher_.notified(index_, message.text.view(), message.seen);
}

void stdio_upstream::asked(asked_request question) {
  // Once the end has begun, the child is about to be closed: no answer would reach it.
  if (!stopping_) questions_.open(std::move(question));
}

void stdio_upstream::withdrawn(std::string_view question) {
  questions_.take_back(question);
}

void stdio_upstream::late_answer() {
  ++counted_.late_answers;
  watcher_.late_answer(index_);
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

void stdio_upstream::watch(std::set<std::string> uris) {
  watched_ = std::move(uris);
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
