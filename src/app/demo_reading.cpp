#include "app/demo_reading.hpp"

#include <boost/json.hpp>

#include <chrono>

namespace switchgear::app {

namespace json = boost::json;

namespace {

std::string_view text_at(const json::value& in, std::string_view pointer) {
  boost::system::error_code absent;
  const json::value* const found = in.find_pointer({pointer.data(), pointer.size()}, absent);
  return found && found->is_string() ? std::string_view(found->get_string()) : std::string_view{};
}

double number_at(const json::value& in, std::string_view pointer) {
  boost::system::error_code absent;
  const json::value* const found = in.find_pointer({pointer.data(), pointer.size()}, absent);
  return found && found->is_number() ? found->to_number<double>() : 0;
}

duration length_at(const json::value& in, std::string_view pointer) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double, std::milli>(number_at(in, pointer)));
}

}  // namespace

std::optional<seen_call> read_answer(std::string_view body, std::uint64_t id) {
  boost::system::error_code failed;
  const json::value message = json::parse({body.data(), body.size()}, failed);
  if (failed || !message.is_object()) return std::nullopt;
  const json::value* const its_id = message.get_object().if_contains("id");
  if (!its_id || !its_id->is_number()) return std::nullopt;
  if (its_id->to_number<std::uint64_t>(failed) != id || failed) return std::nullopt;
  const json::value* const result = message.get_object().if_contains("result");
  if (!result || !result->is_object()) return std::nullopt;

  seen_call seen;
  seen.answered = true;
  const json::value* const is_error = result->get_object().if_contains("isError");
  seen.is_error = is_error && is_error->is_bool() && is_error->get_bool();
  const std::string_view by = text_at(*result, "/_meta/dev.switchgear~1call/served_by");
  seen.served_by = by.empty() ? "primary" : std::string(by);
  seen.refused = text_at(*result, "/_meta/dev.switchgear~1call/reason") == "open";
  seen.text = text_at(*result, "/content/0/text");
  return seen;
}

std::optional<seen_state> read_circuits(std::string_view body) {
  boost::system::error_code failed;
  const json::value parsed = json::parse({body.data(), body.size()}, failed);
  if (failed || !parsed.is_object()) return std::nullopt;
  const json::value* const circuits = parsed.get_object().if_contains("circuits");
  if (!circuits || !circuits->is_array()) return std::nullopt;

  seen_state seen;
  seen.scope = demo_tool;
  int worst = -1;
  for (const json::value& each : circuits->get_array()) {
    const bool is_tool = text_at(each, "/name") == demo_tool;
    if (!is_tool && !(text_at(each, "/kind") == "server" && text_at(each, "/upstream") == "weather")) continue;
    if (is_tool) {
      seen.error_limit = number_at(each, "/limit/error_rate");
      seen.p99_limit = length_at(each, "/limit/p99_ms");
    }
    // Of two scopes in the same state the tool's is shown: it is the one that the watcher knows.
    const int rank = severity(text_at(each, "/state")) * 2 + (is_tool ? 1 : 0);
    if (rank <= worst) continue;
    worst = rank;
    seen.state = text_at(each, "/state");
    seen.scope = text_at(each, "/name");
    seen.reason = text_at(each, "/reason");
    seen.since = length_at(each, "/since_ms");
    seen.retry_after = length_at(each, "/retry_after_ms");
  }
  return seen;
}

}  // namespace switchgear::app
