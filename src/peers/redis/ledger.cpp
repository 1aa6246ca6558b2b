#include "peers/redis/ledger.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::peers::redis {
namespace {

// Alone, a replica sees its part of the calls, and must leave the others their part of the probes.
breaker::settings alone_settings(breaker::settings values, std::uint32_t replicas) {
  values.minimum_calls = std::min(values.minimum_calls, std::max(ledger::least_calls, values.minimum_calls / replicas));
  values.probes_in_flight = std::max(1u, values.probes_in_flight / replicas);
  return values;
}

std::uint32_t given_back(const breaker::report& said) {
  return static_cast<std::uint32_t>(
      std::ranges::count(said.probes, breaker::fate::unused, &breaker::probe_report::fate));
}

}  // namespace

bool receipt::disowns() const {
  const auto says = [this](const char* word) { return text.find(word) != std::string::npos; };
  return kind == kind::error && (says("WRONGTYPE") || says("SWITCHGEARNEWER"));
}

ledger::ledger(const port::board_entry& entry, std::string_view prefix, time_point now)
    : name_(entry.name),
      at_(prefix, entry.name),
      slot_(slot_of(at_.state)),
      settings_(*entry.settings),
      heard_at_(now),
      local_(entry.scope, *entry.settings, now) {}

void ledger::follow_settings(const port::board_entry& entry) {
  settings_ = *entry.settings;
  revision_ = entry.revision;
  if (!known_ && !alone_) heard_.view.mode = settings_.mode;
}

// How things stand at `now`, if nobody has changed them since.
breaker::view ledger::view_at(time_point now) const {
  const duration age = now - heard_at_;
  const auto shorter = [age](duration length) { return std::max(duration::zero(), length - age); };
  breaker::view aged = heard_.view;
  aged.since += age;
  if (!aged.forced) aged.retry_after = shorter(aged.retry_after);
  if (aged.next_lease != duration::max()) aged.next_lease = shorter(aged.next_lease);
  if (aged.hold != duration::max()) aged.hold = shorter(aged.hold);
  return aged;
}

// Questions.

std::size_t ledger::ask(const port::board_entry& entry, const sender& from, time_point now, double random,
                        std::vector<routed>& into) {
  follow_settings(entry);
  for (const unheard& each : unheard_) {
    port::board_entry again = entry;
    again.ordered = each.ordered;
    again.said = each.said;
    question asked = question_of(again, from, now, random);
    asked.sequence = each.sequence;
    asked.put_settings = each.put_settings;
    into.push_back({slot_, words(asked)});
  }
  port::board_entry fresh = entry;
  if (alone_) {
    // What was counted alone belongs to a time that the shared counts know nothing of.
    fresh.said.batch = {};
    fresh.said.probes.clear();
  }
  question asked = question_of(fresh, from, now, random);
  asked.sequence = ++sequence_;
  asked.put_settings = told_revision_ != revision_;
  asked.roster = now >= roster_at_;
  into.push_back({slot_, words(asked)});
  return unheard_.size() + 1;
}

question ledger::question_of(const port::board_entry& entry, const sender& from, time_point now, double random) const {
  const breaker::view known = view_at(now);
  question asked{entry, at_, from.instance};
  asked.settings_version = from.settings_version;
  asked.sharded_news = from.sharded_news;
  const bool observed =
      known.mode == breaker::mode::observe && settings_.mode == breaker::mode::enforce && !heard_.other_settings;
  asked.known = {seen_, known.state, known.retry_after, known.forced, observed, known.hold};
  asked.random = random;
  return asked;
}

// Answers.

// An answer of an older generation than one that was heard before is none: what a replica knows never goes back.
std::optional<answer> ledger::understood(const receipt& said) const {
  if (said.kind != receipt::kind::text) return std::nullopt;
  std::optional<answer> made = read(said.text, settings_);
  return made && made->reply.view.generation >= seen_ ? std::move(made) : std::nullopt;
}

ledger::hearing ledger::hear(port::board_entry& entry, std::span<const receipt> said, std::uint32_t replicas,
                             time_point now, double random) {
  hearing made;
  acknowledged before = acknowledge(said.first(said.size() - 1), made);
  std::optional<answer> heard = understood(said.back());
  if (heard) {
    made.answered = true;
    made.replicas = heard->replicas;
    made.granted = static_cast<std::uint32_t>(heard->reply.leases.size());
    made.returned += alone_ ? 0 : given_back(entry.said);
    made.expired += heard->expired;
    made.healed = trouble_.found(now);
    take(entry, *std::move(heard), before.news, now);
    if (!entry.ordered) entry.ordered = before.ordered;
    return made;
  }

  const bool given_up = said.back().disowns() ? trouble_.refused(now, random) : trouble_.missed(now, random);
  if (given_up) {
    made.trouble = said.back().kind == receipt::kind::lost ? "no answer within the timeout"
                   : said.back().text.empty()              ? "an empty answer"
                                                           : said.back().text;
  }
  if (trouble_.alone() || alone_) {
    decide(entry, replicas, now, random);
  } else {
    wait(entry, now);
  }
  auto& told = entry.answer.transitions;
  told.insert(told.begin(), before.news.begin(), before.news.end());
  if (!entry.ordered) entry.ordered = before.ordered;
  return made;
}

// What came of the repeats. One that was heard takes those before it along: their numbers are in the past.
ledger::acknowledged ledger::acknowledge(std::span<const receipt> said, hearing& into) {
  acknowledged made;
  std::size_t settled = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const std::optional<answer> heard = understood(said[i]);
    if (!heard) continue;
    settled = i + 1;
    std::ranges::copy(heard->reply.transitions, std::back_inserter(made.news));
    if (unheard_[i].ordered) made.ordered = unheard_[i].ordered;
    into.expired += heard->expired;
    into.returned += given_back(unheard_[i].said);
  }
  unheard_.erase(unheard_.begin(), unheard_.begin() + static_cast<std::ptrdiff_t>(settled));
  return made;
}

void ledger::take(port::board_entry& entry, answer heard, const std::vector<breaker::transition>& earlier,
                  time_point now) {
  breaker::reply& reply = heard.reply;
  const bool moved = !known_ || reply.view.generation != heard_.view.generation;
  auto& news = reply.transitions;
  news.insert(news.begin(), earlier.begin(), earlier.end());
  // Another replica's exchange brought it about, or the answer that told it was lost: here it is news all the same.
  const bool told = !news.empty() && news.back().generation == reply.view.generation;
  if (known_ && moved && !told && reply.view.state != heard_.view.state) {
    news.push_back({heard_.view.state, reply.view.state, reply.view.generation, reply.figures.last_cause, false});
  }
  unheard_.clear();
  told_revision_ = revision_;
  known_ = true;
  seen_ = reply.view.generation;
  if (moved || alone_) local_.adopt(reply.view, now);
  alone_ = false;
  stand_by(entry.said, now);
  if (heard.alone) away_until_ = now + settings_.cooldown;

  if (now >= roster_at_) roster_at_ = now + roster_every;
  entry.answer = std::move(reply);
  pass_on(entry.answer, now);
}

// What is said now is what wait() will say again, but for what is told once.
void ledger::pass_on(breaker::reply& told, time_point now) {
  heard_ = told;
  heard_.leases.clear();
  heard_.contributions.clear();
  heard_.transitions.clear();
  heard_at_ = now;
  keep_away(told, now);
}

// The authority here counts along, for the time when it has to decide.
void ledger::stand_by(const breaker::report& said, time_point now) {
  if (said.generation == local_.generation()) local_.note(said.batch, now);
}

void ledger::wait(port::board_entry& entry, time_point now) {
  follow_settings(entry);
  breaker::report again = entry.said;
  again.want = 0;  // a call that waited for it will have gone
  stand_by(entry.said, now);
  unheard_.push_back(
      {sequence_, std::move(again), std::exchange(entry.ordered, std::nullopt), told_revision_ != revision_});
  entry.answer = heard_;
  entry.answer.view = view_at(now);
  entry.answer.view.watch = true;  // so that it is soon said again
  keep_away(entry.answer, now);
}

// No other replica sees what this one sees: its own road to the tool may be broken. It stays away from the tool for a
// cooldown, under the generation of all.
void ledger::keep_away(breaker::reply& told, time_point now) {
  if (now >= away_until_) return;
  if (told.view.state != breaker::state::closed) {
    away_until_ = {};
    return;
  }
  told.view.state = breaker::state::open;
  told.view.ramp = 0;
  told.view.watch = true;
  told.view.retry_after = away_until_ - now;
  told.view.next_lease = duration::max();
}

// Alone.

void ledger::go_alone(port::board_entry& entry, std::uint32_t replicas, time_point now) {
  if (!alone_) {
    local_replicas_ = std::max(1u, replicas);
    // Redis may never hear of an operator's word; here it holds.
    const auto last = std::ranges::find_if(unheard_.rbegin(), unheard_.rend(),
                                           [](const unheard& each) { return each.ordered.has_value(); });
    if (!entry.ordered && last != unheard_.rend()) entry.ordered = last->ordered;
    unheard_.clear();
  }
  if (!alone_ || local_revision_ != revision_) local_.configure(alone_settings(settings_, local_replicas_), now);
  if (!alone_ && known_) local_.adopt(view_at(now), now);
  local_revision_ = revision_;
  alone_ = true;
}

void ledger::decide(port::board_entry& entry, std::uint32_t replicas, time_point now, double random) {
  follow_settings(entry);
  go_alone(entry, replicas, now);
  if (entry.ordered) local_.obey(entry.ordered->order, entry.ordered->hold, now);
  entry.answer = local_.exchange(entry.said, now, random);
  pass_on(entry.answer, now);
}

}  // namespace switchgear::peers::redis
