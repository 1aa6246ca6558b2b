#include "config/http_step_keys.hpp"

#include "cascade/url_template.hpp"
#include "config/breaker_keys.hpp"
#include "config/fallback.hpp"
#include "config/http_values.hpp"
#include "config/kinds.hpp"
#include "config/template_values.hpp"

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

/// The values go out as they stand; braces in one were meant for something else.
bool has_placeholder(std::string_view value) {
  return value.find("{{") != std::string_view::npos;
}

}  // namespace

const keys<cascade::http_step>& http_step_keys() {
  using target = cascade::http_step;
  using verb = cascade::http_step::verb;
  static const keys<target> table{
      value_key<target>(
          "method", one_of<verb>({{"GET", verb::get}, {"POST", verb::post}, {"PUT", verb::put}}),
          [](auto& to) -> auto& { return to.method; }, "How the endpoint is asked. `GET` is taken as reading."),
      value_key<target>(
          "url", a_url_template(), [](auto& to) -> auto& { return to.url; },
          "The endpoint, with placeholders in its path and query, whose values are percent-encoded. Needed."),
      value_key<target>(
          "headers", some_headers(), [](auto& to) -> auto& { return to.headers; },
          "Sent with every request, as they stand."),
      value_key<target>(
          "body", a_json_template(), [](auto& to) -> auto& { return to.body; },
          "The JSON that `POST` and `PUT` send, with placeholders as in `arguments`. Not set: the original arguments."),
      section_key<target>(
          "result", result_keys(), [](auto& to) -> auto& { return to.result; },
          "What of the answer is taken, which must then be JSON. Not set: a JSON or text answer as it is."),
      value_key<target>(
          "read_only", a_flag(), [](auto& to) -> auto& { return to.read_only; },
          "The request only reads, whatever its method. Else `POST` and `PUT` are never sent after a call that may "
          "have "
          "taken effect."),
      value_key<target>(
          "minimum_time", a_duration(1ms, 1min), [](auto& to) -> auto& { return to.minimum_time; },
          "With less of the deadline left the step is not started."),
      section_key<target>(
          "breaker", breaker_keys(), [](auto& to) -> auto& { return to.breaker; },
          "The endpoint's breaker; what is not set here is taken from the top-level `breaker`, as all of the host's "
          "is."),
  };
  return table;
}

void check_endpoints(const field& at, const gateway& made) {
  std::map<std::string, std::pair<std::string, breaker::settings>> known;  // by the breaker's name
  for (const tool_rule& rule : made.tools) {
    const field place = at.nearest(rule.pattern);
    if (place.at().find("fallback") == nullptr) continue;
    const cascade::plan plan = made.policy_for(rule.pattern).fallback;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const auto* http = std::get_if<cascade::http_step>(&plan.steps[i]);
      if (http == nullptr) continue;
      const auto url = cascade::url_template::compile(http->url);
      if (!url) continue;
      const auto [first, is_new] =
          known.try_emplace(url->breaker_name(name(http->method)), rule.pattern, http->breaker);
      if (is_new || first->second.second == http->breaker) continue;
      place_of_step(place, i).fail("has another `breaker` than the same endpoint has in tools." + first->second.first +
                                   "; they share one");
    }
  }
}

bool check_http_step(const field& at, const cascade::http_step& step) {
  if (step.url.empty()) {
    at.fail("`url` is missing: the endpoint to ask instead");
    return false;
  }
  bool good = true;
  if (!step.body.empty() && step.method == cascade::http_step::verb::get) {
    at.nearest("body").fail("is not sent with GET; put the values into `url`, or write `method: POST`");
    good = false;
  }
  for (const auto& [name, value] : step.headers) {
    if (!has_placeholder(value)) continue;
    at.nearest("headers").nearest(name).fail("holds a placeholder; headers go out as they stand");
    good = false;
  }
  return good;
}

}  // namespace switchgear::config
