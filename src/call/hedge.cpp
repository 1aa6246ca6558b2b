#include "call/hedge.hpp"

#include "async/chain.hpp"
#include "call/rounds.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace switchgear::call {

namespace asio = boost::asio;

namespace {

bool answered(const attempt& done) {
  return done.what.how == cascade::ending::answered;
}

/// The second try. It has two owners, since at the end of a worker frames are destroyed in any order: its own
/// coroutine, and whoever waits for it.
struct second_try {
  explicit second_try(const attempt_context& first)
      : interrupt(first.on.timers),
        given{.on = first.on,
              .breakers = first.breakers,
              .whole = interrupt,
              .target = first.target,
              .outgoing = first.outgoing,
              .client = nullptr,
              .started = async::worker::now(),
              .until = first.until,
              .keyed = first.keyed},
        ended(first.on.io, asio::steady_timer::time_point::max()) {
    interrupt.arm(first.whole.deadline());
  }

  async::interrupt interrupt;
  attempt_context given;
  attempt done;
  bool running = true;
  async::interrupt* first = nullptr;  // of the try that an answer here makes needless; null: nobody waits for it
  asio::steady_timer ended;
};

asio::awaitable<void> run(std::shared_ptr<second_try> second) {
  co_await try_in_rounds(second->given, nullptr, second->done);
}

void end(second_try& second) {
  second.running = false;
  second.interrupt.disarm();
  if (answered(second.done) && second.first != nullptr) second.first->raise(async::interrupt::reason::cancelled);
  second.ended.cancel();
}

/// Begins the second try when its moment comes.
class hedge final : public async::timer_node {
 public:
  hedge(const attempt_context& given, const relay* client, async::interrupt& first)
      : given_(given), client_(client), first_(first) {}
  ~hedge() {
    if (second_) second_->first = nullptr;
  }

  bool begun() const { return second_ != nullptr; }

  /// The first try is over with `done`: waits until the second one is, too, and puts its answer there if it counts.
  asio::awaitable<void> settle(attempt& done);

 private:
  void fire() override;

  const attempt_context& given_;
  const relay* client_;
  async::interrupt& first_;
  std::shared_ptr<second_try> second_;
};

void hedge::fire() {
  const tool& target = given_.target;
  if (first_.raised() || (client_ != nullptr && client_->asked())) return;
  // A breaker that is not closed counts the calls that it lets through.
  const auto closed = breaker::state::closed;
  if (target.gate->state() != closed || target.server_gate->state() != closed || !target.retries->take()) return;
  second_ = std::make_shared<second_try>(given_);
  second_->first = &first_;
  asio::co_spawn(given_.on.io, run(second_), [second = second_](std::exception_ptr) { end(*second); });
}

asio::awaitable<void> hedge::settle(attempt& done) {
  second_->first = nullptr;
  const bool first_counts = answered(done) || given_.whole.raised() || (client_ != nullptr && client_->asked());
  if (first_counts) second_->interrupt.raise(async::interrupt::reason::cancelled);
  {
    const async::chain chained(given_.whole, second_->interrupt);
    while (second_->running) co_await second_->ended.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  if (!first_counts && answered(second_->done)) done = std::move(second_->done);
  done.hedged = true;
}

asio::awaitable<void> race(attempt_context& given, relay* client, attempt& done) {
  cascade::latency_record* const known = given.target.latency;
  const time_point deadline = std::min(given.whole.deadline(), given.until);
  const auto after = cascade::hedge_after(given.target.policy.hedge, *known, deadline - given.started);
  const attempt_context first_given = given;
  async::interrupt first(given.on.timers);
  hedge beside(first_given, client, first);
  std::exception_ptr failed;
  {
    const async::chain chained(given.whole, first);
    first.arm(given.whole.deadline());
    if (after) given.on.timers.arm(beside, given.started + *after);
    attempt_context inner{.on = given.on,
                          .breakers = given.breakers,
                          .whole = first,
                          .target = given.target,
                          .outgoing = given.outgoing,
                          .client = given.client,
                          .started = given.started,
                          .until = given.until,
                          .keyed = given.keyed,
                          .may_wait = given.may_wait};
    try {
      co_await try_in_rounds(inner, client, done);
    } catch (...) {
      failed = std::current_exception();
    }
  }
  beside.disarm();
  // How long a try took that lost is at least what it took until then.
  const bool lost = done.what.how == cascade::ending::cancelled && !given.whole.raised();
  if (answered(done) || lost) known->add(done.took);
  if (beside.begun()) co_await beside.settle(done);
  if (failed) std::rethrow_exception(failed);
}

}  // namespace

asio::awaitable<void> try_hedged(attempt_context& given, relay* client, attempt& done) {
  const bool continues = !given.outgoing.request_state.empty() || given.outgoing.seen->input_responses;
  const bool may_hedge = given.target.latency != nullptr && !continues;
  return may_hedge ? race(given, client, done) : try_in_rounds(given, client, done);
}

}  // namespace switchgear::call
