#include "config/effective.hpp"

#include "config/gateway_keys.hpp"
#include "config/http_values.hpp"

#include <variant>

namespace switchgear::config {
namespace {

void write_lines(const std::vector<shown>& all, std::size_t indent, std::string& out) {
  for (const shown& each : all) {
    out.append(indent, ' ').append(each.name).append(":");
    if (each.members.empty()) {
      out.append(" ").append(each.value.empty() ? "{}" : each.value).append("\n");
    } else {
      out.append("\n");
      write_lines(each.members, indent + 2, out);
    }
  }
}

/// Puts the variables back into a text.
std::string without_secrets(std::string text, const reading& made) {
  constexpr std::size_t shortest = 4;  // shorter values stand in other texts by chance
  for (const auto& [name, value] : made.substituted) {
    if (value.size() < shortest) continue;
    const std::string variable = "${" + name + "}";
    for (std::size_t at = text.find(value); at != text.npos; at = text.find(value, at + variable.size())) {
      text.replace(at, value.size(), variable);
    }
  }
  return text;
}

std::string without_query(const std::string& url) {
  const std::size_t query = url.find('?');
  return query == url.npos ? url : url.substr(0, query + 1).append(masked);
}

}  // namespace

std::string effective_yaml(const reading& made) {
  gateway copy = *made.gateway;
  for (upstream& each : copy.upstreams) {
    each.link.http.url = without_secrets(without_query(each.link.http.url), made);
    each.link.http.ca_file = without_secrets(each.link.http.ca_file, made);
    each.link.stdio.directory = without_secrets(each.link.stdio.directory, made);
    for (std::string& word : each.link.stdio.command) word = without_secrets(word, made);
  }
  for (tool_rule& each : copy.tools) {
    each.changes.emplace_back([&made](port::tool_policy& policy) {
      for (cascade::step& step : policy.fallback.steps) {
        auto* http = std::get_if<cascade::http_step>(&step);
        if (http == nullptr) continue;
        http->url = without_secrets(http->url, made);
        http->body = without_secrets(http->body, made);
      }
    });
  }
  std::string out;
  write_lines(show_section(copy, gateway_keys()), 0, out);
  return out;
}

}  // namespace switchgear::config
