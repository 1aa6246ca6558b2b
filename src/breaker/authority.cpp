#include "breaker/authority.hpp"

#include "breaker/rules.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchgear::breaker {
authority::authority(breaker::scope which, const breaker::settings& values, time_point now)
    : scope_(which),
      settings_(values),
      clock_(now),
      since_(now),
      error_test_(error_test(values)),
      slow_test_(slow_test(values)),
      window_(values.window),
      outage_(outage_rule(values)) {
  window_.advance(now);
}

reply authority::exchange(const report& said, time_point reading, double random) {
  advance(reading, random);
  const time_point now = clock_.now();

  if (said.generation == generation_) {
    for (const probe_report& probe : said.probes) hear(probe);
    judge_probes(cause::probes_failed, random);
  } else {
    stale_ += said.probes.size();
  }
  // A verdict just now began another generation, to which the counts do not belong.
  if (said.generation == generation_ && state_ == state::closed && mode() != mode::disabled)
    flush(said.batch, random);
  else
    stale_ += said.batch.counts.calls;
  // What comes to a closed breaker is no measure of how many probes another period may have.
  if (state_ != state::closed) offered_.add(said.offered + said.batch.counts.calls, now);

  reply answer;
  if (said.want > 0 && !forced_) {
    if (state_ == state::open && now >= until_) enter(state::half_open, cause::cooldown_over);
    if (state_ == state::half_open) probes_.grant(said.want, settings_, offered_.sum(now), now, answer.leases);
  }
  answer.view = view();
  answer.figures = figures();
  answer.transitions = std::exchange(news_, {});
  return answer;
}

// What the passing of time alone brings about.
void authority::advance(time_point reading, double random) {
  const time_point now = clock_.advance(reading);
  window_.advance(now);
  if (now >= hold_until_) {
    hold_until_ = time_point::max();
    observed_ = false;
    if (std::exchange(forced_, false) && mode() == mode::enforce) enter(state::half_open, cause::hold_over);
    follow_mode(cause::hold_over);
  }
  if (state_ == state::half_open && probes_.expire(now)) judge_probes(cause::probe_lost, random);
}

void authority::hear(const probe_report& said) {
  if (state_ != state::half_open || !probes_.settle(said)) ++stale_;
}

void authority::judge_probes(cause failed, double random) {
  if (state_ != state::half_open) return;
  const std::uint32_t allowed = settings_.probe_failures_allowed;
  if (probes_.failed() > allowed || probes_.slow() > allowed) {
    const duration length = stay(random);
    enter(state::open, failed);
    open_for(length);
  } else if (probes_.done() >= settings_.probes_needed) {
    enter(state::closed, cause::probes_passed);
    ramping_ = settings_.ramp > duration::zero();
  }
}

void authority::flush(const batch& more, double random) {
  if (more.counts == counts{}) return;
  window_.add(more.counts);
  good_ += more.counts.calls - more.counts.failures;
  // Time alone is no proof that the tool is well; good results are.
  if (good_ >= settings_.minimum_calls) streak_ = 0;
  if (const cause why = judge(more); why != cause::none) trip(why, random);
}

// The rule that says most about what is wrong comes first. Every rule sees every batch.
cause authority::judge(const batch& more) {
  const bool unreachable = scope_ == scope::server && connects_.add(more, clock_.now());
  const bool outage = outage_.add(more);
  if (unreachable) return cause::unreachable;
  if (outage) return cause::outage;
  const counts& all = window_.total();
  if (error_test_.trips(all.calls, all.failures)) return cause::error_rate;
  if (settings_.p99 > duration::zero() && slow_test_.trips(all.timed, all.slow)) return cause::p99;
  return cause::none;
}

void authority::trip(cause why, double random) {
  if (mode() == mode::enforce) {
    const duration length = stay(random);
    enter(state::open, why);
    open_for(length);
    return;
  }
  const time_point now = clock_.now();
  if (now < quiet_until_) return;
  quiet_until_ = now + settings_.cooldown;
  news_.push_back({state_, state::open, generation_, why, true});
}

void authority::enter(breaker::state to, cause why) {
  news_.push_back({state_, to, ++generation_, why, false});
  state_ = to;
  since_ = clock_.now();
  last_cause_ = why;
  good_ = 0;
  ramping_ = false;
  window_.clear();
  outage_.clear();
  connects_.clear();
  probes_.begin();
}

void authority::open_for(duration length) {
  until_ = clock_.now() + length;
  ++streak_;
}

duration authority::stay(double random) const {
  // pow() of a long streak may overflow to infinity, which the cap takes care of.
  const double grown = static_cast<double>(settings_.cooldown.count()) * std::pow(settings_.growth, streak_);
  const double capped = std::min(grown, static_cast<double>(settings_.max_cooldown.count()));
  return duration(static_cast<duration::rep>(capped * (1 + settings_.jitter * (2 * random - 1))));
}

breaker::mode authority::mode() const {
  if (forced_) return mode::enforce;
  return observed_ && settings_.mode == mode::enforce ? mode::observe : settings_.mode;
}

// A breaker that refuses nothing is closed.
void authority::follow_mode(cause why) {
  if (mode() != mode::enforce && state_ != state::closed) enter(state::closed, why);
}

void authority::obey(order what, duration hold, time_point reading) {
  const time_point now = clock_.advance(reading);
  window_.advance(now);
  const bool was_forced = std::exchange(forced_, false);
  observed_ = false;
  hold_until_ = hold > duration::zero() ? now + hold : time_point::max();
  switch (what) {
    case order::open:
      forced_ = true;
      enter(state::open, cause::operator_open);
      break;
    case order::close:
      observed_ = hold > duration::zero();
      streak_ = 0;
      enter(state::closed, cause::operator_close);
      break;
    case order::observe:
      observed_ = true;
      follow_mode(cause::operator_observe);
      break;
    case order::automatic:
      hold_until_ = time_point::max();
      // What the operator took off line comes back through probes, like any other open breaker.
      if (was_forced && mode() == mode::enforce) enter(state::half_open, cause::operator_auto);
      follow_mode(cause::operator_auto);
      break;
  }
}

void authority::configure(const breaker::settings& values, time_point reading) {
  const time_point now = clock_.advance(reading);
  if (values == settings_) return;
  const bool other_meaning = values.window != settings_.window || values.p99 != settings_.p99;
  settings_ = values;
  error_test_ = error_test(values);
  slow_test_ = slow_test(values);
  if (other_meaning) window_ = breaker::window(values.window);
  window_.advance(now);
  outage_ = outage_rule(values);
  follow_mode(cause::settings);
}

void authority::adopt(const breaker::view& seen, time_point reading) {
  const time_point now = clock_.advance(reading);
  window_.advance(now);
  if (seen.generation != generation_) {
    window_.clear();
    outage_.clear();
    connects_.clear();
    good_ = 0;
  }
  generation_ = seen.generation;
  state_ = seen.state;
  since_ = now - seen.since;
  until_ = now + seen.retry_after;
  forced_ = seen.forced;
  observed_ = !forced_ && seen.mode == mode::observe && settings_.mode == mode::enforce;
  hold_until_ = seen.hold == duration::max() ? time_point::max() : now + seen.hold;
  ramping_ = seen.ramp != 0;
  probes_.begin();
  probes_.leave_to_others();
}

void authority::note(const batch& more, time_point reading) {
  window_.advance(clock_.advance(reading));
  if (state_ != state::closed) return;
  window_.add(more.counts);
  outage_.add(more);
}

std::uint8_t authority::ramp() const {
  if (!ramping_ || settings_.ramp <= duration::zero() || state_ != state::closed || mode() != mode::enforce) return 0;
  const auto quarter = (clock_.now() - since_) * 4 / settings_.ramp;
  return quarter < 3 ? static_cast<std::uint8_t>(1 + quarter) : 0;
}

view authority::view() {
  const time_point now = clock_.now();
  breaker::view seen;
  seen.generation = generation_;
  seen.state = state_;
  seen.mode = mode();
  seen.forced = forced_;
  seen.ramp = ramp();
  seen.watch = state_ != state::closed || seen.ramp != 0 || hold_until_ != time_point::max();
  seen.since = now - since_;
  if (hold_until_ != time_point::max()) seen.hold = hold_until_ - now;
  if (forced_) {
    seen.retry_after = hold_until_ == time_point::max() ? settings_.cooldown : hold_until_ - now;
  } else if (state_ == state::open) {
    seen.retry_after = std::max(until_ - now, duration::zero());
    seen.next_lease = seen.retry_after;
  } else if (state_ == state::half_open) {
    seen.next_lease = probes_.next(settings_, offered_.sum(now), now);
  }
  return seen;
}

figures authority::figures() const {
  breaker::figures seen;
  seen.counts = window_.total();
  seen.failures_to_trip = error_test_.trips_at(seen.counts.calls);
  seen.slow_to_trip = settings_.p99 > duration::zero() ? slow_test_.trips_at(seen.counts.timed) : 0;
  seen.outage_evidence = outage_.evidence();
  seen.probes_in_flight = probes_.in_flight();
  seen.probes_done = probes_.done();
  seen.probes_failed = probes_.failed();
  seen.stale = stale_;
  seen.last_cause = last_cause_;
  return seen;
}

}  // namespace switchgear::breaker
