#include "config/concurrency_keys.hpp"

#include "config/kinds.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;
using cascade::concurrency_policy;

constexpr std::string_view found_by_itself = "adaptive";

kind<std::optional<std::uint64_t>> a_limit() {
  const kind<std::uint64_t> count = a_count(0, concurrency_policy::highest);
  kind<std::optional<std::uint64_t>> made{count.name, count.range + ", or adaptive", {}, {}};
  made.read = [count](const field& from) -> std::optional<std::optional<std::uint64_t>> {
    if (from.at().what == node::kind::scalar && from.at().text == found_by_itself) {
      return std::optional<std::uint64_t>();
    }
    const auto value = count.read(from);
    if (!value) return std::nullopt;
    return std::optional(value);
  };
  made.write = [count](const std::optional<std::uint64_t>& value) {
    return value ? count.write(*value) : std::string(found_by_itself);
  };
  return made;
}

/// Whether a rule for tools holds for tools of the upstream.
bool concerns(std::string_view pattern, const upstream& server, const gateway& made) {
  if (made.names == route::naming::plain) return true;
  const std::string beginning = server.link.alias + "__";
  if (!pattern.ends_with('*')) return pattern.starts_with(beginning);
  pattern.remove_suffix(1);
  return pattern.starts_with(beginning) || std::string_view(beginning).starts_with(pattern);
}

}  // namespace

const keys<concurrency_policy>& concurrency_keys() {
  using target = concurrency_policy;
  static const keys<target> table{
      value_key<target>(
          "limit", a_limit(), [](auto& to) -> auto& { return to.limit; },
          "Most calls at once, from all threads of this gateway together. `adaptive`: it is found from how long the "
          "calls take. `0`: any number. `concurrency: 64` is short for `concurrency: {limit: 64}`."),
      value_key<target>(
          "least", a_count(1, target::highest), [](auto& to) -> auto& { return to.least; },
          "Below this an adaptive limit does not fall."),
      value_key<target>(
          "most", a_count(1, target::highest), [](auto& to) -> auto& { return to.most; },
          "Above this an adaptive limit does not rise. Must not be below `least`."),
      value_key<target>(
          "queue", maybe(a_count(0, target::highest)), [](auto& to) -> auto& { return to.queue; },
          "Most calls that wait when the limit is reached. Not set: a quarter of the limit. `0`: none waits."),
      value_key<target>(
          "queue_timeout", a_duration(1ms, 1min), [](auto& to) -> auto& { return to.queue_timeout; },
          "How long a call waits at most. It waits shorter, or not at all, if the answer would come after its "
          "deadline."),
      value_key<target>(
          "principal_share", a_share(0.01, 1), [](auto& to) -> auto& { return to.principal_share; },
          "Share of the limit that one principal may hold, waiting calls included; one call at least. `100%`: all of "
          "it. The anonymous principal has none."),
  };
  return table;
}

std::vector<change<concurrency_policy>> read_concurrency(const field& from) {
  if (from.at().what != node::kind::scalar) return read_section(from, concurrency_keys());
  std::vector<change<concurrency_policy>> changes;
  if (auto apply = concurrency_keys().front().read(from)) changes.push_back(std::move(apply));
  return changes;
}

void check_concurrency(const field& at, const concurrency_policy& made) {
  if (made.least <= made.most) return;
  const char* blamed = at.at().find("least") != nullptr ? "least" : "most";
  at.nearest(blamed).fail("`least` is " + std::to_string(made.least) + " and `most` is " + std::to_string(made.most) +
                          "; write a range");
}

void check_concurrency_of_servers(const field& at, const gateway& made) {
  for (const tool_rule& rule : made.tools) {
    const field place = at.nearest(rule.pattern);
    if (place.at().find("concurrency") == nullptr) continue;
    const concurrency_policy of_tool = made.policy_for(rule.pattern).concurrency;
    check_concurrency(place.nearest("concurrency"), of_tool);
    for (const upstream& server : made.upstreams) {
      const concurrency_policy& of_server = server.concurrency;
      const bool comparable = of_tool.limit && of_server.limits() && !of_server.adaptive();
      if (!comparable || *of_tool.limit <= *of_server.limit || !concerns(rule.pattern, server, made)) continue;
      place.nearest("concurrency")
          .warn("the limit of " + std::to_string(*of_tool.limit) + " is over that of the server " + server.link.alias +
                ", which is " + std::to_string(*of_server.limit) +
                ", so that this tool alone can keep all others of the server waiting");
    }
  }
}

}  // namespace switchgear::config
