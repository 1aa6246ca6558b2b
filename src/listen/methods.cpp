#include "listen/methods.hpp"

#include <algorithm>
#include <array>

namespace switchgear::listen {

namespace {

using protocol::era;

// What must be offered for a method to be there.
enum class need : std::uint8_t { nothing, tools, prompts, resources, completion, subscriptions, logging };

struct entry {
  std::string_view name;
  method what;
  need needs = need::nothing;
  bool legacy = true;
  bool modern = true;
};

constexpr std::array<entry, 14> entries{{
    {"tools/call", method::call, need::tools},
    {"tools/list", method::list_tools, need::tools},
    {"prompts/get", method::call, need::prompts},
    {"prompts/list", method::list_prompts, need::prompts},
    {"resources/read", method::call, need::resources},
    {"resources/list", method::list_resources, need::resources},
    {"resources/templates/list", method::list_templates, need::resources},
    {"completion/complete", method::call, need::completion},
    {.name = "ping", .what = method::ping, .modern = false},
    {.name = "logging/setLevel", .what = method::set_level, .needs = need::logging, .modern = false},
    {.name = "resources/subscribe", .what = method::subscribe, .needs = need::subscriptions, .modern = false},
    {.name = "resources/unsubscribe", .what = method::unsubscribe, .needs = need::subscriptions, .modern = false},
    {.name = "server/discover", .what = method::discover, .legacy = false},
    {.name = "subscriptions/listen", .what = method::listen, .legacy = false},
}};

bool has(const port::offer& offer, need what) {
  const auto list = [&](port::listed kind) { return offer.has[static_cast<unsigned>(kind)]; };
  switch (what) {
    case need::nothing:
      return true;
    case need::tools:
      return list(port::listed::tools);
    case need::prompts:
      return list(port::listed::prompts);
    case need::resources:  // a server may have templates and list no resource
      return list(port::listed::resources) || list(port::listed::templates);
    case need::completion:
      return offer.completes;
    case need::subscriptions:
      return offer.subscribes;
    case need::logging:
      return offer.logs;
  }
  return false;
}

}  // namespace

method method_of(std::string_view name, era of, const port::offer& offer) {
  const auto* const found = std::ranges::find(entries, name, &entry::name);
  if (found == entries.end()) return method::unknown;
  const bool known = of == era::modern ? found->modern : found->legacy;
  return known && has(offer, found->needs) ? found->what : method::unknown;
}

}  // namespace switchgear::listen
