#include "console/answers.hpp"

#include "console/trust.hpp"
#include "port/breakers.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace switchgear::console {

namespace json = boost::json;

namespace {

constexpr std::string_view server_prefix = "server:";

std::int64_t to_ms(duration length) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(length).count();
}

double to_ms_exactly(duration length) {
  return std::chrono::duration<double, std::milli>(length).count();
}

json::string text(std::string_view from) {
  return json::string(from.data(), from.size());
}

std::string_view name(port::upstream_state state) {
  constexpr std::string_view names[] = {"starting", "ready", "degraded"};
  return names[static_cast<unsigned>(state)];
}

/// The alias that a breaker's name begins with (`ALIAS__tool`, `ALIAS:prompts/get`); the only upstream when names are
/// plain; else empty.
std::string_view upstream_of(const port::circuit& circuit, const std::vector<upstream_row>& upstreams) {
  const std::string_view full = circuit.name;
  if (circuit.scope == breaker::scope::server) {
    return full.starts_with(server_prefix) ? full.substr(server_prefix.size()) : full;
  }
  std::string_view found;
  if (full.find(' ') != std::string_view::npos) return found;  // an endpoint's: "http:GET host/path"
  for (const upstream_row& each : upstreams) {
    if (!full.starts_with(each.alias)) continue;
    const std::string_view rest = full.substr(each.alias.size());
    const bool begins = (rest.size() > 2 && rest.starts_with("__")) || (rest.size() > 1 && rest.starts_with(":"));
    if (begins && each.alias.size() > found.size()) found = each.alias;
  }
  if (found.empty() && upstreams.size() == 1) found = upstreams.front().alias;
  return found;
}

json::array contributors_json(const std::vector<breaker::contribution>& all) {
  json::array rows;
  for (const breaker::contribution& each : all) {
    rows.push_back({{"replica", text(each.replica)},
                    {"calls", each.counts.calls},
                    {"failures", each.counts.failures},
                    {"slow", each.counts.slow},
                    {"heard_ms", to_ms(each.heard)}});
  }
  return rows;
}

json::object circuit_json(const port::circuit& circuit, std::string_view upstream, time_point now) {
  const breaker::figures& seen = circuit.figures;
  const breaker::settings& limits = circuit.settings;
  return {
      {"name", text(circuit.name)},
      {"kind", text(breaker::name(circuit.scope))},
      {"upstream", text(upstream)},
      {"state", text(breaker::name(circuit.state))},
      {"mode", text(breaker::name(circuit.mode))},
      {"forced", circuit.forced},
      {"generation", circuit.generation},
      {"calls", seen.counts.calls},
      {"failures", seen.counts.failures},
      {"slow", seen.counts.slow},
      {"error_rate", circuit.error_rate},
      {"p99_ms", to_ms_exactly(circuit.p99)},
      {"limit",
       {{"error_rate", limits.error_rate}, {"p99_ms", to_ms(limits.p99)}, {"minimum_calls", limits.minimum_calls}}},
      {"needed", {{"failures", seen.failures_to_trip}, {"slow", seen.slow_to_trip}}},
      {"probes", {{"in_flight", seen.probes_in_flight}, {"done", seen.probes_done}, {"failed", seen.probes_failed}}},
      {"ramp_percent", circuit.ramp_percent},
      {"refused", circuit.refused},
      {"stale", circuit.stale},
      {"since_ms", std::max<std::int64_t>(0, to_ms(now - circuit.since))},
      {"retry_after_ms", to_ms(circuit.retry_after)},
      {"reason", text(breaker::name(seen.last_cause))},
      {"note", text(circuit.note)},
      {"thresholds", circuit.other_settings ? "of a newer configuration" : "own"},
      {"contributors", contributors_json(circuit.contributions)},
  };
}

/// A circuit's counts are the fleet's while the mode is shared, and this replica's while it is local.
json::object board_json(const port::board_figures& board) {
  return {{"mode", board.shared ? "shared" : "local"},
          {"replicas", board.replicas},
          {"flushes", board.flushes},
          {"missed", board.missed},
          {"losses", board.losses}};
}

json::array upstreams_json(const std::vector<upstream_row>& upstreams) {
  json::array rows;
  for (const upstream_row& each : upstreams) {
    rows.push_back({{"alias", text(each.alias)},
                    {"state", text(name(each.status.state))},
                    {"reason", text(each.status.reason)},
                    {"credential_rejected", each.status.denied != 0},
                    {"protocol", text(each.status.protocol_version)},
                    {"server", text(each.status.server_name)},
                    {"tools", each.tools}});
  }
  return rows;
}

std::vector<upstream_row> upstreams_of(const admin_sources& sources) {
  return sources.upstreams ? sources.upstreams() : std::vector<upstream_row>();
}

reply ready_reply(const admin_sources& sources) {
  const readiness now = sources.ready ? sources.ready() : readiness{true, ""};
  json::object body = {
      {"ready", now.ready}, {"reason", text(now.reason)}, {"upstreams", upstreams_json(upstreams_of(sources))}};
  return {now.ready ? 200u : 503u, "application/json", json::serialize(body)};
}

reply error_reply(unsigned status, std::string_view why) {
  return {status, "application/json", json::serialize(json::object{{"error", text(why)}})};
}

reply found_at(std::string_view path, const admin_sources& sources) {
  if (path == "/") return {200, "text/html; charset=utf-8", std::string(page())};
  if (path == "/healthz") return {200, "application/json", R"({"alive":true})"};
  if (path == "/readyz") return ready_reply(sources);
  if (path == "/api/circuits") return {200, "application/json", circuits_json(sources)};
  if (path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", sources.metrics ? sources.metrics() : std::string()};
  }
  return error_reply(404, "there is /, /metrics, /healthz, /readyz and /api/circuits");
}

}  // namespace

std::string circuits_json(const admin_sources& sources) {
  const std::vector<upstream_row> upstreams = upstreams_of(sources);
  json::array circuits;
  if (sources.breakers) {
    const time_point now = async::worker::now();
    for (const port::circuit& each : sources.breakers->snapshot()) {
      circuits.push_back(circuit_json(each, upstream_of(each, upstreams), now));
    }
  }
  json::object all{{"circuits", std::move(circuits)}, {"upstreams", upstreams_json(upstreams)}};
  if (sources.breakers) all["board"] = board_json(sources.breakers->board());
  return json::serialize(all);
}

reply answer(const request& asked, const admin_settings& settings, const admin_sources& sources) {
  if (!host_trusted(asked.host, settings.allowed_hosts)) {
    return error_reply(421, "the Host header names neither this machine nor an allowed host");
  }
  if (!origin_trusted(asked.origin, asked.host, settings.allowed_hosts)) {
    return error_reply(403, "the Origin header names a foreign site");
  }
  if (asked.method != "GET") return error_reply(405, "the admin API takes GET alone");
  try {
    return found_at(asked.target.substr(0, asked.target.find('?')), sources);
  } catch (const std::exception& problem) {
    return error_reply(500, problem.what());
  }
}

}  // namespace switchgear::console
