#include "peers/redis/exchange.hpp"

#include "breaker/rules.hpp"

#include <charconv>
#include <cstdio>
#include <utility>

namespace switchgear::peers::redis {
namespace {

using microseconds = std::chrono::microseconds;

std::string text(double number) {
  char digits[32];
  return {digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.17g", number))};
}

std::string micros(duration length) {
  return std::to_string(std::chrono::floor<microseconds>(length).count());
}

template <class Number>
std::string number(Number value) {
  return std::to_string(value);
}

template <class... Words>
std::string line(const Words&... each) {
  std::string all;
  ((all += all.empty() ? "" : " ", all += each), ...);
  return all;
}

// In the order of settings_of() in the library. The stays in open keep nanoseconds: they are multiplied there.
std::string settings_line(const breaker::settings& s) {
  const auto certainty = breaker::certainty_of_one_look(s);
  const double alpha = certainty ? 1 - *certainty : -1;
  const auto z = [&](double share) {
    return certainty ? text(breaker::binomial_limit::shared(share, alpha)->z()) : std::string("0");
  };
  return line(number(static_cast<unsigned>(s.mode)), text(s.error_rate), micros(s.window), number(s.minimum_calls),
              text(alpha), text(s.outage_rate), text(s.outage_threshold), micros(s.p99), number(s.cooldown.count()),
              text(s.growth), number(s.max_cooldown.count()), text(s.jitter), text(s.probe_share),
              number(s.probes_in_flight), number(s.probes_needed), number(s.probe_failures_allowed),
              micros(s.probe_timeout), micros(s.ramp), z(s.error_rate), z(breaker::p99_share));
}

std::string probes_line(const std::vector<breaker::probe_report>& probes) {
  std::string all;
  for (const breaker::probe_report& each : probes) {
    if (!all.empty()) all += ' ';
    all += line(number(each.token), number(static_cast<unsigned>(each.fate)), each.slow ? "1" : "0");
  }
  return all;
}

/// Takes number after number from a line. After the end, or anything that is no number, everything is 0 and good()
/// is false.
class reader {
 public:
  explicit reader(std::string_view from) : at_(from.data()), end_(at_ + from.size()) {}

  double real() {
    while (at_ != end_ && *at_ == ' ') ++at_;
    double value = 0;
    const auto [next, failed] = std::from_chars(at_, end_, value);
    if (failed != std::errc{}) {
      good_ = false;
      return 0;
    }
    at_ = next;
    return value;
  }
  std::uint64_t whole(std::uint64_t most = std::uint64_t{1} << 53) {
    const double value = real();
    if (value >= 0 && value <= static_cast<double>(most)) return static_cast<std::uint64_t>(value);
    good_ = false;
    return 0;
  }
  template <class Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(whole(static_cast<std::uint64_t>(last)));
  }
  duration length() { return microseconds(static_cast<std::int64_t>(whole())); }
  duration length_or_never() {
    const double value = real();
    if (value < 0) return duration::max();
    return microseconds(static_cast<std::int64_t>(std::min(value, 9e15)));
  }
  bool at_end() {
    while (at_ != end_ && *at_ == ' ') ++at_;
    return at_ == end_;
  }
  bool good() const { return good_; }

 private:
  const char* at_;
  const char* end_;
  bool good_ = true;
};

constexpr std::uint64_t most_leases = 64;

breaker::view read_view(reader& from) {
  breaker::view seen;
  seen.generation = from.whole();
  seen.state = from.one_of(breaker::state::half_open);
  seen.mode = from.one_of(breaker::mode::disabled);
  seen.forced = from.whole(1) != 0;
  seen.ramp = static_cast<std::uint8_t>(from.whole(3));
  seen.watch = from.whole(1) != 0;
  seen.since = from.length();
  seen.retry_after = from.length();
  seen.next_lease = from.length_or_never();
  return seen;
}

breaker::figures read_figures(reader& from, const breaker::settings& settings) {
  constexpr std::uint64_t most = 0xffffffff;
  breaker::figures seen;
  seen.counts = {from.whole(), from.whole(), from.whole(), from.whole(), from.whole()};
  seen.outage_evidence = from.real();
  seen.probes_in_flight = static_cast<std::uint32_t>(from.whole(most));
  seen.probes_done = static_cast<std::uint32_t>(from.whole(most));
  seen.probes_failed = static_cast<std::uint32_t>(from.whole(most));
  seen.stale = from.whole();
  seen.last_cause = from.one_of(breaker::cause::joined);
  seen.failures_to_trip = breaker::error_test(settings).trips_at(seen.counts.calls);
  seen.slow_to_trip = settings.p99 > duration::zero() ? breaker::slow_test(settings).trips_at(seen.counts.timed) : 0;
  return seen;
}

constexpr std::size_t most_contributions = 1000;

// A line a replica, each after a line's end: its name, then how long ago it spoke and what it counted.
bool read_roster(std::string_view lines, std::vector<breaker::contribution>& into) {
  while (!lines.empty() && into.size() < most_contributions) {
    lines.remove_prefix(1);
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const auto name_end = line.find(' ');
    if (name_end == std::string_view::npos) return false;
    reader from(line.substr(name_end));
    breaker::contribution& one = into.emplace_back();
    one.replica = line.substr(0, name_end);
    one.heard = from.length();
    one.counts = {from.whole(), from.whole(), from.whole(), from.whole(), 0};
    if (!from.good()) return false;
    lines.remove_prefix(line.size());
  }
  return true;
}

}  // namespace

address::address(std::string_view prefix, std::string_view name) {
  constexpr std::string_view server_prefix = "server:";
  std::string_view tag = name;
  if (name.starts_with(server_prefix)) {
    tag = name.substr(server_prefix.size());
  } else if (const auto end = name.find("__"); end != std::string_view::npos && end != 0) {
    tag = name.substr(0, end);
  }
  const std::string root = std::string(prefix) + ":{" + std::string(tag) + "}:";
  const auto key = [&](std::string_view kind) { return root + std::string(kind) + ":" + std::string(name); };
  state = key("s");
  window = key("w");
  instances = key("i");
  probes = key("p");
  channel = root + "ev";
}

std::optional<std::string_view> scope_of_message(std::string_view message) {
  const auto first = message.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = message.find(' ', first + 1);
  if (second == std::string_view::npos || second + 1 == message.size()) return std::nullopt;
  return message.substr(second + 1);
}

command words(const question& asked) {
  const breaker::report& said = asked.entry.said;
  const breaker::counts& counts = said.batch.counts;
  const auto& ordered = asked.entry.ordered;
  return {
      "FCALL",
      std::string(library_name) + "_exchange",
      "4",
      asked.at.state,
      asked.at.window,
      asked.at.instances,
      asked.at.probes,
      std::string(asked.instance),
      number(asked.sequence),
      settings_line(*asked.entry.settings),
      number(asked.settings_version),
      asked.put_settings ? "1" : "0",
      number(said.generation),
      line(number(asked.known.generation), number(static_cast<unsigned>(asked.known.state)),
           micros(asked.known.remaining)),
      line(number(counts.calls), number(counts.failures), number(counts.timed), number(counts.slow),
           number(counts.connects), number(said.batch.trailing)),
      number(said.offered),
      number(said.want),
      probes_line(said.probes),
      ordered ? line(number(static_cast<unsigned>(ordered->order)), micros(ordered->hold)) : std::string(),
      std::string(breaker::name(asked.entry.scope)),
      std::string(asked.entry.name),
      asked.sharded_news ? "SPUBLISH" : "PUBLISH",
      asked.at.channel,
      text(asked.random),
      asked.roster ? "1" : "0",
  };
}

std::optional<answer> read(std::string_view text, const breaker::settings& settings) {
  const auto numbers_end = std::min(text.find('\n'), text.size());
  reader from(text.substr(0, numbers_end));
  answer made;
  made.reply.view = read_view(from);
  made.reply.figures = read_figures(from, settings);
  made.alone = from.whole(1) != 0;
  made.replicas = static_cast<std::uint32_t>(from.whole(0xffffffff));
  made.expired = static_cast<std::uint32_t>(from.whole(0xffffffff));
  made.reply.other_settings = from.whole(1) != 0;
  const duration use_within = from.length(), result_within = from.length();
  for (std::uint64_t left = from.whole(most_leases); left > 0 && from.good(); --left) {
    made.reply.leases.push_back({from.whole(), use_within, result_within});
  }
  while (from.good() && !from.at_end()) {
    breaker::transition change;
    change.from = from.one_of(breaker::state::half_open);
    change.to = from.one_of(breaker::state::half_open);
    change.generation = from.whole();
    change.cause = from.one_of(breaker::cause::joined);
    change.would_be = from.whole(1) != 0;
    made.reply.transitions.push_back(change);
  }
  if (!from.good() || !read_roster(text.substr(numbers_end), made.reply.contributions)) return std::nullopt;
  return made;
}

}  // namespace switchgear::peers::redis
