#include "call/retries.hpp"

#include "async/wait.hpp"
#include "call/rounds.hpp"
#include "cascade/retry.hpp"

#include <boost/asio/steady_timer.hpp>

#include <utility>

namespace switchgear::call {
namespace {

constexpr int too_many_requests = 429;

cascade::finished_try facts_of(const attempt& done, const tool& target) {
  return {.how = done.what.how,
          .sent = done.reply.sent,
          .repeatable = target.repeatable,
          .declined = done.reply.status == too_many_requests,
          .retry_after = done.reply.retry_after};
}

std::optional<duration> pause_before_next(const attempt_context& given, const relay* client, const attempt& done,
                                          std::minstd_rand& random) {
  if (given.target.retries == nullptr || given.whole.raised()) return std::nullopt;
  if (client != nullptr && client->asked()) return std::nullopt;
  const double chance = std::uniform_real_distribution<double>()(random);
  const auto pause = cascade::pause_before_retry(given.target.policy.retry, done.tries, facts_of(done, given.target),
                                                 given.whole.deadline() - done.ended, chance);
  if (!pause || !given.target.retries->take()) return std::nullopt;
  return pause;
}

}  // namespace

boost::asio::awaitable<void> try_with_retries(attempt_context& given, relay* client, std::minstd_rand& random,
                                              attempt& done) {
  const cascade::retry_policy& policy = given.target.policy.retry;
  if (policy.attempts > 1 && given.target.retries != nullptr) given.target.retries->call();
  const port::outgoing_request first = given.outgoing;
  co_await try_in_rounds(given, client, done);
  while (const auto pause = pause_before_next(given, client, done, random)) {
    boost::asio::steady_timer timer(given.on.io, *pause);
    co_await async::wait(timer, given.whole);
    if (given.whole.raised()) {
      done.what = meaning_of(given.whole);
      done.ended = async::worker::now();
      co_return;
    }
    attempt before = std::exchange(done, {});
    given.outgoing = first;
    given.started = async::worker::now();
    given.may_wait = false;
    co_await try_in_rounds(given, client, done);
    if (done.refused) {
      const time_point ended = done.ended;
      done = std::move(before);
      done.ended = ended;
      co_return;
    }
    done.tries = before.tries + 1;
    done.slow |= before.slow;
  }
}

}  // namespace switchgear::call
