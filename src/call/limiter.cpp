#include "call/limiter.hpp"

#include "async/wait.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>

namespace switchgear::call {

namespace asio = boost::asio;
using port::limit_refusal;

namespace {

constexpr unsigned calls_of_an_estimate = 10;  // of what a call takes, where no gradient wants more

}  // namespace

/// A call in the queue, on its own worker. Its state changes under the limiter's mutex.
struct limiter::waiter {
  enum class state : std::uint8_t { outside, queued, served, shed };

  waiter(asio::io_context& io, time_point deadline) : timer(io), call_deadline(deadline) {}

  asio::steady_timer timer;
  time_point call_deadline;
  state how = state::outside;
};

/// A waiter's place; whatever it has goes back, also when the frame that holds it is destroyed.
class limiter::turn {
 public:
  turn(limiter& owner, std::shared_ptr<waiter> who) : owner_(owner), who_(std::move(who)) {}
  ~turn() {
    bool unused = false;
    {
      const std::lock_guard lock(owner_.guard_);
      owner_.step_out(who_);
      unused = who_->how == waiter::state::served;
    }
    if (unused) owner_.leave();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  limiter& owner_;
  std::shared_ptr<waiter> who_;
};

limiter::limiter(std::string name, bool of_server, const cascade::concurrency_policy& policy)
    : name_(std::move(name)),
      of_server_(of_server),
      policy_(policy),
      shares_(policy.principal_share < 1 ? std::make_unique<principal_shares>() : nullptr),
      limit_(policy.first_limit()) {
  if (policy.adaptive()) gradient_.emplace(policy.least, policy.most, policy.first_limit());
}

limiter::~limiter() = default;

bool limiter::take(std::string_view principal, slot& into) {
  principal_shares::part part;
  if (!take_part(principal, part) || !enter()) return false;
  into = slot(*this, std::move(part));
  return true;
}

slot limiter::force() {
  word_.fetch_add(1, std::memory_order_acq_rel);
  return {*this, {}};
}

bool limiter::take_part(std::string_view principal, principal_shares::part& into) {
  return !shares_ || principal.empty() || shares_->take(principal, share(), into);
}

bool limiter::enter() noexcept {
  const std::uint64_t most = limit();
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (word < most) {  // the flag makes it more than any limit
    if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return true;
  }
  return false;
}

void limiter::leave() noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while ((word & waiting_flag) == 0) {
    if (word_.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
  }
  pass_on();
}

// Somebody waits, or did a moment ago.
void limiter::pass_on() noexcept {
  woken wake;
  {
    const std::lock_guard lock(guard_);
    word_.fetch_sub(1, std::memory_order_acq_rel);
    hand_over(wake);
  }
  wake_up(wake);
}

void limiter::hand_over(woken& wake) {
  while (!queue_.empty() && in_flight() < limit()) {
    const std::shared_ptr<waiter> next = std::move(queue_.front());
    queue_.pop_front();
    word_.fetch_add(1, std::memory_order_acq_rel);
    next->how = waiter::state::served;
    wake.push_back(next);
  }
  if (queue_.empty()) word_.fetch_and(~waiting_flag, std::memory_order_acq_rel);
}

void limiter::wake_up(const woken& all) {
  for (const std::shared_ptr<waiter>& each : all) {
    // A frame that is destroyed before this runs takes its waiter with it.
    asio::post(each->timer.get_executor(), [who = std::weak_ptr(each)] {
      if (const auto alive = who.lock()) alive->timer.cancel();
    });
  }
}

limiter::place limiter::line_up(const std::shared_ptr<waiter>& who, time_point now) {
  woken wake;
  place found = place::none;
  {
    const std::lock_guard lock(guard_);
    const bool room = queue_.size() < policy_.queue_at(limit()) || shed_one(now, wake);
    found = enter_or_flag(room);
    if (found == place::queue) {
      who->how = waiter::state::queued;
      queue_.push_back(who);
    }
  }
  wake_up(wake);
  return found;
}

// Either a slot that comes back from now on sees the flag, or it has come back already and is ours.
limiter::place limiter::enter_or_flag(bool room) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while ((word & waiting_flag) == 0) {
    if (word < limit()) {
      if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) return place::slot;
    } else if (!room) {
      return place::none;
    } else if (word_.compare_exchange_weak(word, word | waiting_flag, std::memory_order_acq_rel)) {
      return place::queue;
    }
  }
  return room ? place::queue : place::none;
}

bool limiter::shed_one(time_point now, woken& wake) {
  const duration needed = typical();
  const auto late = std::ranges::find_if(queue_, [&](const auto& each) { return each->call_deadline - now < needed; });
  if (late == queue_.end()) return false;
  (*late)->how = waiter::state::shed;
  wake.push_back(std::move(*late));
  queue_.erase(late);
  return true;
}

void limiter::step_out(const std::shared_ptr<waiter>& who) {
  if (who->how != waiter::state::queued) return;
  queue_.erase(std::ranges::find(queue_, who));
  who->how = waiter::state::outside;
  if (queue_.empty()) word_.fetch_and(~waiting_flag, std::memory_order_acq_rel);
}

asio::awaitable<std::optional<limit_refusal>> limiter::wait(async::worker& on, std::string_view principal,
                                                            async::interrupt& until, slot& into) {
  const time_point begun = async::worker::now();
  principal_shares::part part;
  if (!take_part(principal, part)) co_return refuse(limit_refusal::share);
  const duration longest = cascade::longest_wait(policy_, until.deadline() - begun, typical());
  if (longest <= duration::zero()) co_return refuse(limit_refusal::no_time);

  const auto self = std::make_shared<waiter>(on.io, until.deadline());
  const turn ours(*this, self);
  const place where = line_up(self, begun);
  if (where == place::none) co_return refuse(limit_refusal::full);
  if (where == place::queue) {
    self->timer.expires_at(begun + longest);
    co_await async::wait(self->timer, until);
    if (const auto refused = end_wait(self, begun, until)) co_return refused;
  }
  into = slot(*this, std::move(part));
  co_return std::nullopt;
}

std::optional<limit_refusal> limiter::end_wait(const std::shared_ptr<waiter>& who, time_point begun,
                                               const async::interrupt& until) {
  const std::lock_guard lock(guard_);
  waits_.add(async::worker::now() - begun);
  if (who->how == waiter::state::served) {
    who->how = waiter::state::outside;
    return std::nullopt;
  }
  const bool late = who->how == waiter::state::shed || until.why() == async::interrupt::reason::deadline;
  step_out(who);
  const limit_refusal why = late ? limit_refusal::no_time : limit_refusal::full;
  if (!until.raised() || late) ++refused_[static_cast<unsigned>(why)];  // a caller who left was not refused
  return why;
}

std::optional<limit_refusal> limiter::refuse(limit_refusal why) {
  const std::lock_guard lock(guard_);
  ++refused_[static_cast<unsigned>(why)];
  return why;
}

void limiter::ended(unsigned in_window) {
  const unsigned wanted = policy_.adaptive() ? cascade::limit_gradient::window_size(limit()) : calls_of_an_estimate;
  if (in_window < wanted) return;
  woken wake;
  {
    const std::unique_lock lock(guard_, std::try_to_lock);
    if (!lock || tally_.size() < wanted) return;  // another call did it, or the next one will
    learn(tally_.take());
    hand_over(wake);
  }
  wake_up(wake);
}

void limiter::learn(const cascade::limit_window& seen) {
  if (seen.answered != 0) {
    const duration before = typical();
    const duration now = before == duration::zero() ? seen.typical : (before + seen.typical) / 2;
    typical_.store(now.count(), std::memory_order_relaxed);
  }
  if (!gradient_) return;
  gradient_->update(seen);
  limit_.store(gradient_->limit(), std::memory_order_relaxed);
}

port::limit_figures limiter::figures() const {
  const std::lock_guard lock(guard_);
  return {.name = name_,
          .of_server = of_server_,
          .limit = limit(),
          .in_flight = in_flight(),
          .waiting = static_cast<unsigned>(queue_.size()),
          .refused = refused_,
          .waits = waits_};
}

void slot::answered(duration took) {
  of_->ended(of_->tally_.answered(took, of_->in_flight()));
}

void slot::timed_out() {
  of_->ended(of_->tally_.timed_out(of_->in_flight()));
}

void slot::give_back() noexcept {
  if (of_ != nullptr) std::exchange(of_, nullptr)->leave();
  part_ = {};
}

}  // namespace switchgear::call
