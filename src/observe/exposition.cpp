// The counters as Prometheus families. Apart from metrics.cpp, since this is the only place that knows the names.
#include "observe/log.hpp"
#include "observe/metrics.hpp"
#include "port/breakers.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <span>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace switchgear::observe {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

constexpr std::string_view refusal_names[port::refusal_count] = {"bad_request",     "media_type",     "too_large",
                                                                 "unknown_session", "host_or_origin", "version",
                                                                 "unknown_tool",    "session_limit"};

double seconds(duration length) {
  return std::chrono::duration<double>(length).count();
}

ClientMetric::Label label(std::string name, std::string_view value) {
  return {std::move(name), std::string(value)};
}

/// A family under construction. Counters leave out what is zero: a tool has 63 ways to be answered and uses a few.
class family {
 public:
  family(MetricType type, std::string name, std::string help) {
    made_.type = type;
    made_.name = std::move(name);
    made_.help = std::move(help);
  }

  void count(labels with, std::uint64_t value) {
    if (value == 0) return;
    ClientMetric& metric = add(std::move(with));
    metric.counter.value = static_cast<double>(value);
  }
  void total(double value) { add({}).counter.value = value; }
  void gauge(labels with, double value) { add(std::move(with)).gauge.value = value; }
  /// `counts` has one more than `ends`, for what is longer.
  void histogram(labels with, std::span<const duration> ends, std::span<const std::uint64_t> counts, double sum) {
    const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    if (all == 0) return;
    ClientMetric& metric = add(std::move(with));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      below += counts[i];
      metric.histogram.bucket.push_back({below, seconds(ends[i])});
    }
    metric.histogram.sample_count = all;  // the serializer writes it as the bucket +Inf
    metric.histogram.sample_sum = sum;
  }

  /// Appends the family unless it is empty.
  void into(std::vector<MetricFamily>& out) && {
    if (!made_.metric.empty()) out.push_back(std::move(made_));
  }

 private:
  ClientMetric& add(labels with) {
    ClientMetric& metric = made_.metric.emplace_back();
    metric.label = std::move(with);
    return metric;
  }

  MetricFamily made_;
};

struct tool_view {
  std::string name;
  tool_totals totals;
};

void add_tools(const std::vector<tool_view>& tools, std::vector<MetricFamily>& out) {
  family calls(MetricType::Counter, "switchgear_calls_total",
               "Finished tools/call by who answered and why not the primary");
  family took(MetricType::Histogram, "switchgear_call_seconds", "From the arrival of a tools/call to its answer");
  family is_error(MetricType::Counter, "switchgear_is_error_total", "Answers that were results with isError");
  family refused(MetricType::Counter, "switchgear_breaker_refused_total", "Calls that a breaker kept from the primary");
  family retries(MetricType::Counter, "switchgear_retries_total", "Tries of a tool beyond the first of a call");
  family hedges(MetricType::Counter, "switchgear_hedges_total", "Second tries of a tool beside a slow first one");
  family damped(MetricType::Counter, "switchgear_loops_damped_total",
                "Calls that were not made, since the same one has failed again and again");
  family slow(MetricType::Counter, "switchgear_slow_total", "Calls that took longer than the p99 limit");
  family stored(MetricType::Counter, "switchgear_cache_looks_total",
                "Calls for which a stored answer was looked for, by where it was found");
  for (const auto& [name, totals] : tools) {
    for (unsigned who = 0; who < cascade::served_by_count; ++who) {
      for (unsigned why = 0; why < cascade::reason_count; ++why) {
        if (totals.calls[who][why] == 0) continue;
        calls.count({label("tool", name), label("served_by", cascade::name(static_cast<cascade::served_by>(who))),
                     label("reason", cascade::name(static_cast<cascade::reason>(why)))},
                    totals.calls[who][why]);
      }
    }
    took.histogram({label("tool", name)}, bucket_ends, totals.took, static_cast<double>(totals.took_ns) / 1e9);
    is_error.count({label("tool", name)}, totals.is_error);
    refused.count({label("tool", name)}, totals.refused);
    slow.count({label("tool", name)}, totals.slow);
    retries.count({label("tool", name)}, totals.retries);
    hedges.count({label("tool", name)}, totals.hedges);
    damped.count({label("tool", name)}, totals.damped);
    for (unsigned where = 0; where < cascade::stored_answer_count; ++where) {
      stored.count({label("tool", name), label("found", cascade::name(static_cast<cascade::stored_answer>(where)))},
                   totals.stored[where]);
    }
  }
  for (family* each : {&calls, &took, &is_error, &refused, &slow, &retries, &hedges, &damped, &stored})
    std::move(*each).into(out);
}

double state_value(breaker::state state) {
  switch (state) {
    case breaker::state::closed:
      return 0;
    case breaker::state::half_open:
      return 1;
    case breaker::state::open:
      return 2;
  }
  return 0;
}

void add_circuits(const std::vector<port::circuit>& circuits, std::vector<MetricFamily>& out) {
  family state(MetricType::Gauge, "switchgear_breaker_state", "0 closed, 1 half_open, 2 open");
  family generation(MetricType::Gauge, "switchgear_breaker_generation", "Rises by one with each transition");
  family error_rate(MetricType::Gauge, "switchgear_breaker_error_rate", "Share of failures in the window, 0..1");
  family stale(MetricType::Counter, "switchgear_stale_results_total",
               "Results of calls admitted under an earlier generation; they decide nothing");
  for (const port::circuit& each : circuits) {
    const labels scope = {label("scope", each.name), label("kind", breaker::name(each.scope))};
    state.gauge(scope, state_value(each.state));
    generation.gauge(scope, static_cast<double>(each.generation));
    error_rate.gauge(scope, each.error_rate);
    stale.count(scope, each.stale);
  }
  for (family* each : {&state, &generation, &error_rate, &stale}) std::move(*each).into(out);
}

void add_throttled(const std::vector<port::throttled_tool>& tools, std::vector<MetricFamily>& out) {
  family answers(MetricType::Counter, "switchgear_throttled_total",
                 "Answers of a tool's server that asked for fewer calls: 429, or 503 with Retry-After");
  family left(MetricType::Gauge, "switchgear_pause_seconds", "For how long the tool is left alone yet; 0: it is not");
  for (const port::throttled_tool& each : tools) {
    answers.count({label("tool", each.name)}, each.answers);
    left.gauge({label("tool", each.name)}, seconds(each.left));
  }
  for (family* each : {&answers, &left}) std::move(*each).into(out);
}

void add_answers(const port::answer_figures& of, std::vector<MetricFamily>& out) {
  family bytes(MetricType::Gauge, "switchgear_cache_bytes", "Memory that stored answers take, of cache.memory");
  bytes.gauge({}, static_cast<double>(of.bytes));
  family count(MetricType::Gauge, "switchgear_cache_answers", "Answers that are stored in memory");
  count.gauge({}, static_cast<double>(of.count));
  family shared(MetricType::Counter, "switchgear_cache_shared_total",
                "Answers told to other replicas, or dropped on the way; looks for theirs, and those without an answer");
  shared.count({label("event", "told")}, of.told);
  shared.count({label("event", "dropped")}, of.dropped);
  shared.count({label("event", "asked")}, of.asked);
  shared.count({label("event", "unanswered")}, of.unanswered);
  for (family* each : {&bytes, &count, &shared}) std::move(*each).into(out);
}

void add_board(const port::board_figures& of, std::vector<MetricFamily>& out) {
  family mode(MetricType::Gauge, "switchgear_board_mode", "1 for where this replica's breakers are decided now");
  mode.gauge({label("mode", "shared")}, of.shared ? 1 : 0);
  mode.gauge({label("mode", "local")}, of.shared ? 0 : 1);
  std::move(mode).into(out);
  if (of.flushes == 0 && of.missed == 0) return;  // a board in this process
  family flushes(MetricType::Counter, "switchgear_board_flushes_total", "Exchanges with the shared board");
  flushes.count({label("result", "answered")}, of.flushes);
  flushes.count({label("result", "missed")}, of.missed);
  family took(MetricType::Histogram, "switchgear_board_flush_seconds", "Exchanges that the shared board answered");
  took.histogram({}, of.took.ends, of.took.counts, seconds(of.took.sum));
  family leases(MetricType::Counter, "switchgear_board_leases_total", "Leases of probes and their end without a probe");
  leases.count({label("event", "granted")}, of.leases_granted);
  leases.count({label("event", "returned")}, of.leases_returned);
  leases.count({label("event", "expired")}, of.leases_expired);
  family losses(MetricType::Counter, "switchgear_board_losses_total", "Times that this replica had to go on alone");
  losses.count({}, of.losses);
  family replicas(MetricType::Gauge, "switchgear_board_replicas", "Replicas that the shared board heard from lately");
  replicas.gauge({}, of.replicas);
  for (family* each : {&flushes, &took, &leases, &losses, &replicas}) std::move(*each).into(out);
}

constexpr std::string_view limit_refusal_names[port::limit_refusal_count] = {"full", "share", "no_time"};

void add_limits(const std::vector<port::limit_figures>& limits, std::vector<MetricFamily>& out) {
  family limit(MetricType::Gauge, "switchgear_concurrency_limit", "Calls that may be under way at once now");
  family in_flight(MetricType::Gauge, "switchgear_concurrency_in_flight", "Calls under way");
  family waiting(MetricType::Gauge, "switchgear_concurrency_waiting", "Calls that wait for a slot");
  family refused(MetricType::Counter, "switchgear_concurrency_refused_total", "Calls that got no slot, and why");
  family waits(MetricType::Histogram, "switchgear_concurrency_wait_seconds", "How long calls waited for a slot");
  for (const port::limit_figures& each : limits) {
    const labels whose = {label(each.of_server ? "upstream" : "tool", each.name)};
    limit.gauge(whose, each.limit);
    in_flight.gauge(whose, each.in_flight);
    waiting.gauge(whose, each.waiting);
    for (unsigned why = 0; why < port::limit_refusal_count; ++why) {
      refused.count({whose.front(), label("reason", limit_refusal_names[why])}, each.refused[why]);
    }
    waits.histogram(whose, each.waits.ends, each.waits.counts, seconds(each.waits.sum));
  }
  for (family* each : {&limit, &in_flight, &waiting, &refused, &waits}) std::move(*each).into(out);
}

double resident_bytes() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    long all = 0;
    if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return of(used.ru_utime) + of(used.ru_stime);
}

void add_process(double started, std::vector<MetricFamily>& out) {
  family version(MetricType::Gauge, "switchgear_build_info", "Always 1; the version is a label");
  version.gauge({label("version", SWITCHGEAR_VERSION)}, 1);
  family start(MetricType::Gauge, "process_start_time_seconds", "Start of the process, in seconds of the Unix epoch");
  start.gauge({}, started);
  family memory(MetricType::Gauge, "process_resident_memory_bytes", "Resident memory");
  memory.gauge({}, resident_bytes());
  family cpu(MetricType::Counter, "process_cpu_seconds_total", "User and system CPU time spent");
  cpu.total(cpu_seconds());
  for (family* each : {&version, &start, &memory, &cpu}) std::move(*each).into(out);
}

}  // namespace

std::string metrics::expose(const port::breakers* circuits, const std::vector<port::throttled_tool>& throttled,
                            const std::vector<port::limit_figures>& limits, const port::answer_figures& answers) const {
  // Asked for before our lock: the breakers have one of their own, and theirs may be held while a transition comes
  // here.
  const std::vector<port::circuit> states = circuits ? circuits->snapshot() : std::vector<port::circuit>();
  std::vector<MetricFamily> families;
  {
    const std::lock_guard lock(mutex_);
    std::vector<tool_view> tools;
    tools.reserve(names_.size());
    for (std::uint32_t slot = 0; slot < names_.size(); ++slot) tools.push_back({names_[slot], totals(slot)});
    add_tools(tools, families);

    family changes(MetricType::Counter, "switchgear_transitions_total", "Changes of a breaker's state");
    for (const auto& [key, times] : transitions_) {
      changes.count(
          {label("scope", key.scope), label("from", key.from), label("to", key.to), label("reason", key.reason)},
          times);
    }
    std::move(changes).into(families);

    family ready(MetricType::Gauge, "switchgear_upstream_ready", "1 when the upstream's handshake succeeded");
    for (const auto& [alias, seen] : upstreams_) ready.gauge({label("upstream", alias)}, seen.ready ? 1 : 0);
    std::move(ready).into(families);

    family late(MetricType::Counter, "switchgear_late_answers_total",
                "Answers of a child to calls that had been given up");
    for (const auto& [alias, count] : late_answers_) late.count({label("upstream", alias)}, count);
    std::move(late).into(families);

    family rejected(MetricType::Gauge, "switchgear_upstream_credential_rejected",
                    "1 while the upstream answers the operator's credential with 401 or 403");
    for (const auto& [alias, seen] : upstreams_) {
      rejected.gauge({label("upstream", alias)}, rejecting_.contains(alias) ? 1 : 0);
    }
    std::move(rejected).into(families);
  }

  family turned_away(MetricType::Counter, "switchgear_refused_total", "Requests refused before a call began");
  for (unsigned why = 0; why < port::refusal_count; ++why) {
    std::uint64_t sum = 0;
    for (const shard& each : shards_) sum += each.refused[why].value();
    turned_away.count({label("reason", refusal_names[why])}, sum);
  }
  std::move(turned_away).into(families);

  std::uint64_t opened = 0;
  std::uint64_t ended = 0;
  for (const shard& each : shards_) {
    ended += each.ended.value();  // before opened, so that the difference is never negative
    opened += each.opened.value();
  }
  family connected(MetricType::Gauge, "switchgear_connections", "Client connections that are open");
  connected.gauge({}, static_cast<double>(opened - ended));
  std::move(connected).into(families);

  if (events_) {
    family lost(MetricType::Counter, "switchgear_log_lines_dropped_total", "Log lines that found the queue full");
    lost.count({}, events_->dropped());
    std::move(lost).into(families);
  }
  add_circuits(states, families);
  add_throttled(throttled, families);
  add_answers(answers, families);
  if (circuits) add_board(circuits->board(), families);
  add_limits(limits, families);
  add_process(started_, families);

  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

}  // namespace switchgear::observe
