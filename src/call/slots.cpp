#include "call/slots.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace switchgear::call {
namespace {

using port::limit_refusal;

// Sooner than this nobody needs to hear of it again.
constexpr duration least_retry_after = std::chrono::seconds(1);

std::string calls(unsigned number) {
  return std::to_string(number) + (number == 1 ? " call" : " calls");
}

std::string explain(const limiter& by, limit_refusal why) {
  const std::string whose = by.of_server() ? "the server " + by.name() : "it";
  switch (why) {
    case limit_refusal::share:
      return "this caller already has " + calls(by.share()) + " of " + whose + " under way, which is its share";
    case limit_refusal::no_time:
      return whose + " has a concurrency limit of " + calls(by.limit()) +
             ", and after a wait the answer would come too late";
    case limit_refusal::full:
      break;
  }
  return whose + " is at its concurrency limit of " + calls(by.limit());
}

void refuse(const limiter& by, limit_refusal why, attempt& done) {
  done.what = {{}, {}, cascade::ending::refused, cascade::reason::overloaded};
  done.reply.fault = port::fault::overloaded;
  done.reply.detail = explain(by, why);
  done.reply.retry_after = std::max(by.typical(), least_retry_after);
}

bool given_up(const async::interrupt& whole) {
  return whole.raised() && whole.why() != async::interrupt::reason::deadline;
}

bool succeeded(const attempt& done) {
  return done.what.how == cascade::ending::answered && done.reply.message.result && !done.reply.message.is_error;
}

}  // namespace

bool slots::take(const attempt_context& given) {
  const tool& target = given.target;
  const std::string_view principal = given.outgoing.client.principal;
  if (target.limit && !target.limit->take(principal, tool_)) return false;
  return !target.server_limit || target.server_limit->take(principal, server_);
}

void slots::force(const tool& target) {
  if (target.limit) tool_ = target.limit->force();
  if (target.server_limit) server_ = target.server_limit->force();
}

boost::asio::awaitable<bool> slots::wait(attempt_context& given, attempt& done) {
  const tool& target = given.target;
  const bool both = co_await wait_for(target.limit.get(), tool_, given, done) &&
                    co_await wait_for(target.server_limit.get(), server_, given, done);
  given.started = async::worker::now();
  if (!both) done.ended = given.started;
  co_return both;
}

boost::asio::awaitable<bool> slots::wait_for(limiter* limit, slot& into, attempt_context& given, attempt& done) {
  const std::string_view principal = given.outgoing.client.principal;
  if (limit == nullptr || into || limit->take(principal, into)) co_return true;
  const auto refused = co_await limit->wait(given.on, principal, given.whole, into);
  if (!refused) co_return true;
  if (given_up(given.whole)) {
    end_interrupted(given.whole, async::worker::now(), done);
  } else {
    refuse(*limit, *refused, done);
  }
  co_return false;
}

void slots::tell(const attempt& done) {
  for (slot* each : {&tool_, &server_}) {
    if (!*each) continue;
    if (succeeded(done)) each->answered(done.took);
    if (done.what.how == cascade::ending::timed_out && done.reply.sent) each->timed_out();
  }
}

}  // namespace switchgear::call
