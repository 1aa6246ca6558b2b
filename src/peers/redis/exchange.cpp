#include "peers/redis/exchange.hpp"

#include "breaker/rules.hpp"

#include <bit>
#include <cstdio>
#include <utility>

namespace switchgear::peers::redis {
namespace {

using microseconds = std::chrono::microseconds;

std::string text(double number) {
  char digits[32];
  return {digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.17g", number))};
}

std::int64_t whole_micros(duration length) {
  return std::chrono::floor<microseconds>(length).count();
}

std::string micros(duration length) {
  return std::to_string(whole_micros(length));
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
              micros(s.probe_timeout), micros(s.ramp), z(s.error_rate), z(breaker::p99_share), number(s.quorum));
}

std::string probes_line(const std::vector<breaker::probe_report>& probes) {
  std::string all;
  for (const breaker::probe_report& each : probes) {
    if (!all.empty()) all += ' ';
    all += line(number(each.token), number(static_cast<unsigned>(each.fate)), each.slow ? "1" : "0");
  }
  return all;
}

// A double with its highest byte first, as the library's struct.pack and struct.unpack know it.
void append(std::string& to, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) to += static_cast<char>(bits >> shift & 0xff);
}

template <class... Numbers>
std::string packed(const Numbers&... each) {
  std::string all;
  all.reserve(sizeof...(each) * sizeof(double));
  (append(all, static_cast<double>(each)), ...);
  return all;
}

/// Takes number after number from an answer. After the end, or one that is out of its range, everything is 0 and
/// good() is false.
class reader {
 public:
  explicit reader(std::string_view from) : left_(from) {}

  double real() {
    if (left_.size() < sizeof(double)) good_ = false;
    if (!good_) return 0;
    std::uint64_t bits = 0;
    for (const char byte : left_.substr(0, sizeof(double))) bits = bits << 8 | static_cast<unsigned char>(byte);
    left_.remove_prefix(sizeof(double));
    return std::bit_cast<double>(bits);
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
  duration length() { return microseconds(static_cast<std::int64_t>(whole(longest))); }
  duration length_or_never() {
    const double value = real();
    if (value < 0) return duration::max();
    if (value <= static_cast<double>(longest)) return microseconds(static_cast<std::int64_t>(value));
    good_ = false;
    return {};
  }
  std::string_view text(std::size_t size) {
    if (size > left_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view found = left_.substr(0, size);
    left_.remove_prefix(size);
    return found;
  }
  bool good() const { return good_; }
  bool at_end() const { return left_.empty(); }

 private:
  static constexpr std::uint64_t longest = 9'000'000'000'000'000;  // microseconds that a duration can hold

  std::string_view left_;
  bool good_ = true;
};

constexpr std::uint64_t most_leases = 64;
constexpr std::uint64_t most_transitions = 64;

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
  seen.hold = from.length_or_never();
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
constexpr std::size_t longest_name = 200;

// A row a replica: how long ago it spoke, what it counted, the length of its name, and that.
bool read_roster(reader& from, std::vector<breaker::contribution>& into) {
  for (std::uint64_t left = from.whole(most_contributions); left > 0; --left) {
    breaker::contribution one;
    one.heard = from.length();
    one.counts = {from.whole(), from.whole(), from.whole(), from.whole(), 0};
    one.replica = from.text(from.whole(longest_name));
    if (!from.good()) return false;
    into.push_back(std::move(one));
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
  } else if (const auto colon = name.find(':'); colon != std::string_view::npos && colon != 0) {
    tag = name.substr(0, colon);  // a server's prompts, resources or completions
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
      settings_line(*asked.entry.settings),
      packed(asked.sequence, asked.settings_version, asked.put_settings, said.generation, asked.known.generation,
             static_cast<unsigned>(asked.known.state), whole_micros(asked.known.remaining), counts.calls,
             counts.failures, counts.timed, counts.slow, counts.connects, said.batch.trailing, said.offered, said.want,
             asked.entry.scope == breaker::scope::server, asked.sharded_news, asked.roster, asked.random,
             asked.known.forced, asked.known.observed,
             asked.known.hold == duration::max() ? -1 : whole_micros(asked.known.hold)),
      probes_line(said.probes),
      ordered ? line(number(static_cast<unsigned>(ordered->order)), micros(ordered->hold)) : std::string(),
  };
}

std::optional<answer> read(std::string_view bytes, const breaker::settings& settings) {
  reader from(bytes);
  answer made;
  made.reply.view = read_view(from);
  made.reply.figures = read_figures(from, settings);
  made.alone = from.whole(1) != 0;
  made.replicas = static_cast<std::uint32_t>(from.whole(0xffffffff));
  made.expired = static_cast<std::uint32_t>(from.whole(0xffffffff));
  made.reply.other_settings = from.whole(1) != 0;
  const duration use_within = from.length(), result_within = from.length();
  const std::uint64_t leases = from.whole(most_leases), transitions = from.whole(most_transitions);
  for (std::uint64_t i = 0; i < leases && from.good(); ++i) {
    made.reply.leases.push_back({from.whole(), use_within, result_within});
  }
  for (std::uint64_t i = 0; i < transitions && from.good(); ++i) {
    breaker::transition change;
    change.from = from.one_of(breaker::state::half_open);
    change.to = from.one_of(breaker::state::half_open);
    change.generation = from.whole();
    change.cause = from.one_of(breaker::cause::joined);
    change.would_be = from.whole(1) != 0;
    made.reply.transitions.push_back(change);
  }
  if (!read_roster(from, made.reply.contributions) || !from.good() || !from.at_end()) return std::nullopt;
  return made;
}

}  // namespace switchgear::peers::redis
