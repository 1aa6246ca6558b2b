#include "config/reference.hpp"

#include "config/breaker_keys.hpp"
#include "config/concurrency_keys.hpp"
#include "config/fallback.hpp"
#include "config/gateway_keys.hpp"
#include "config/http_step_keys.hpp"
#include "config/tool_keys.hpp"
#include "config/upstream_keys.hpp"

namespace switchgear::config {
namespace {

std::string code(const std::string& text) {
  return text.empty() ? std::string() : '`' + text + '`';
}

template <class Target>
void add_table(std::string title, const keys<Target>& table, std::string& out) {
  out += "### " + title + "\n\n| key | value | default | range | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const key<Target>& each : table) {
    const auto preset = each.show(Target{});
    out += "| " + code(each.name) + " | " + each.kind + " | " + (preset ? code(preset->value) : "not set") + " | " +
           each.range + " | " + each.meaning + " |\n";
  }
  out += "\n";
}

}  // namespace

std::string reference_tables() {
  std::string out;
  add_table("Top level", gateway_keys(), out);
  add_table("`limits`", limit_keys(), out);
  add_table("`sessions`", session_keys(), out);
  add_table("`cache`", cache_keys(), out);
  add_table("`redis`", redis_keys(), out);
  add_table("`breaker`, also in `upstreams.<alias>` and `tools.<pattern>`", breaker_keys(), out);
  add_table("`concurrency`, in `upstreams.<alias>` and `tools.<pattern>`", concurrency_keys(), out);
  add_table("`upstreams.<alias>`", upstream_keys(), out);
  add_table("`upstreams.<alias>.tls`", tls_keys(), out);
  add_table("`tools.<pattern>`", tool_keys(), out);
  add_table("`tools.<pattern>.timeout`", timeout_keys(), out);
  add_table("`tools.<pattern>.retry`", retry_keys(), out);
  add_table("`tools.<pattern>.hedge`", hedge_keys(), out);
  add_table("`tools.<pattern>.loop`", loop_keys(), out);
  add_table("`tools.<pattern>.fallback[].cache`", cache_step_keys(), out);
  add_table("`tools.<pattern>.fallback[].tool`", tool_step_keys(), out);
  add_table("`tools.<pattern>.fallback[].http`", http_step_keys(), out);
  add_table("`result` in `tool` and `http` steps", result_keys(), out);
  add_table("`tools.<pattern>.fallback[].static`", fixed_step_keys(), out);
  return out;
}

}  // namespace switchgear::config
