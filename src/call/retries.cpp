#include "call/retries.hpp"

#include "async/wait.hpp"
#include "call/hedge.hpp"
#include "call/rounds.hpp"
#include "cascade/retry.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::call {
namespace {

cascade::finished_try facts_of(const attempt& done, const attempt_context& given) {
  return {.how = done.what.how,
          .sent = done.reply.sent,
          .repeatable = given.target.repeatable || given.keyed,
          .declined = done.declined(),
          .retry_after = done.reply.retry_after};
}

std::optional<duration> pause_before_next(const attempt_context& given, const relay* client, const attempt& done,
                                          std::minstd_rand& random) {
  if (given.target.retries == nullptr || given.whole.raised()) return std::nullopt;
  if (client != nullptr && client->asked()) return std::nullopt;
  const double chance = std::uniform_real_distribution<double>()(random);
  const auto pause = cascade::pause_before_retry(given.target.policy.retry, done.tries, facts_of(done, given),
                                                 std::min(given.whole.deadline(), given.until) - done.ended, chance);
  // Who was held back has not been a load yet.
  if (!pause || (!done.held_back && !given.target.retries->take())) return std::nullopt;
  return pause;
}

boost::asio::awaitable<void> repeat(attempt_context& given, relay* client, std::minstd_rand& random, attempt& done) {
  if (given.target.retries != nullptr) given.target.retries->call();
  const port::outgoing_request first = given.outgoing;
  co_await try_hedged(given, client, done);
  unsigned made = done.held_back ? 0 : 1;
  while (const auto pause = pause_before_next(given, client, done, random)) {
    boost::asio::steady_timer timer(given.on.io, *pause);
    co_await async::wait(timer, given.whole);
    if (given.whole.raised()) {
      end_interrupted(given.whole, async::worker::now(), done);
      co_return;
    }
    attempt before = std::exchange(done, {});
    given.outgoing = first;
    given.started = async::worker::now();
    given.may_wait = false;
    co_await try_hedged(given, client, done);
    if (done.what.how == cascade::ending::refused && !before.held_back) {
      const time_point ended = done.ended;
      done = std::move(before);
      done.ended = ended;
      co_return;
    }
    // What an earlier try may have done, a later one does not undo.
    done.acted_before = before.acted(given.target);
    if (!done.held_back && !done.refused) ++made;
    done.tries = std::max(made, 1U);
    done.slow |= before.slow;
    done.hedged |= before.hedged;
  }
}

}  // namespace

// No coroutine of its own, so that a tool without retries pays for none.
boost::asio::awaitable<void> try_with_retries(attempt_context& given, relay* client, std::minstd_rand& random,
                                              attempt& done) {
  const bool repeats = given.target.policy.retry.attempts > 1 || given.target.latency != nullptr;
  return repeats ? repeat(given, client, random, done) : try_in_rounds(given, client, done);
}

}  // namespace switchgear::call
