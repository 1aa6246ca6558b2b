#include "app/status.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace switchgear::app {
namespace {

namespace json = boost::json;

using row = std::vector<std::string>;

const json::value* member(const json::value& of, std::string_view name) {
  return of.is_object() ? of.get_object().if_contains(json::string_view(name.data(), name.size())) : nullptr;
}

/// Upstreams name themselves and their troubles: nothing of that may steer the terminal.
std::string text(const json::value& of, std::string_view name) {
  const json::value* found = member(of, name);
  if (found == nullptr || !found->is_string()) return "-";
  std::string all(found->get_string().c_str(), found->get_string().size());
  for (char& c : all) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return all.empty() ? "-" : all;
}

double number(const json::value& of, std::string_view name) {
  const json::value* found = member(of, name);
  if (found == nullptr || !found->is_number()) return 0;
  boost::system::error_code error;
  const double value = found->to_number<double>(error);
  return error || !std::isfinite(value) ? 0 : value;
}

std::string printed(const char* form, double value) {
  char room[64];
  const int length = std::snprintf(room, sizeof room, form, value);
  return {room, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof room) - 1))};
}

std::string count(double value) {
  return printed("%.0f", value);
}

std::string share(double value) {
  return printed("%.1f %%", value * 100);
}

/// A length of time in the unit that suits it.
std::string length(double ms) {
  if (ms < 10'000) return printed("%.0f ms", ms);
  const double seconds = ms / 1000;
  if (seconds < 120) return printed("%.0f s", seconds);
  if (seconds < 2 * 3600) return printed("%.0f min", seconds / 60);
  if (seconds < 48 * 3600.0) return printed("%.0f h", seconds / 3600);
  return printed("%.0f d", seconds / 86'400);
}

/// Characters, not bytes, so that columns stay straight.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void write_table(const std::vector<row>& rows, std::string& out) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const row& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  for (const row& cells : rows) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      line.append(widths[i] - width(cells[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

row upstream_row(const json::value& upstream) {
  return {text(upstream, "alias"), text(upstream, "state"), count(number(upstream, "tools")), text(upstream, "server"),
          text(upstream, "reason")};
}

row circuit_row(const json::value& circuit) {
  const double calls = number(circuit, "calls");
  const double retry = number(circuit, "retry_after_ms");
  std::string state = text(circuit, "state");
  if (const std::string mode = text(circuit, "mode"); mode != "enforce" && mode != "-") state += " (" + mode + ")";
  return {text(circuit, "name"),
          text(circuit, "kind"),
          std::move(state),
          calls > 0 ? share(number(circuit, "error_rate")) : "-",
          calls > 0 ? length(number(circuit, "p99_ms")) : "-",
          count(calls),
          length(number(circuit, "since_ms")),
          retry > 0 ? length(retry) : "-"};
}

}  // namespace

std::optional<std::string> status_table(std::string_view circuits, std::string_view readiness) {
  boost::system::error_code error;
  const json::value listed = json::parse({circuits.data(), circuits.size()}, error);
  if (error) return std::nullopt;
  const json::value ready = json::parse({readiness.data(), readiness.size()}, error);
  if (error) return std::nullopt;
  const json::value* rows = member(listed, "circuits");
  const json::value* upstreams = member(listed, "upstreams");
  const json::value* is_ready = member(ready, "ready");
  if (rows == nullptr || !rows->is_array() || upstreams == nullptr || !upstreams->is_array() || is_ready == nullptr ||
      !is_ready->is_bool()) {
    return std::nullopt;
  }
  std::string out = is_ready->get_bool() ? "ready\n" : "not ready: " + text(ready, "reason") + '\n';
  if (!upstreams->get_array().empty()) {
    std::vector<row> table{{"UPSTREAM", "STATE", "TOOLS", "SERVER", "REASON"}};
    for (const json::value& each : upstreams->get_array()) table.push_back(upstream_row(each));
    out += '\n';
    write_table(table, out);
  }
  if (!rows->get_array().empty()) {
    std::vector<row> table{{"BREAKER", "KIND", "STATE", "ERRORS", "P99", "CALLS", "SINCE", "RETRY IN"}};
    for (const json::value& each : rows->get_array()) table.push_back(circuit_row(each));
    out += '\n';
    write_table(table, out);
  }
  return out;
}

}  // namespace switchgear::app
