// What a client wants to be told of, and the notifications that tell it.
// Source: MCP 2026-07-28 basic/patterns/subscriptions; 2025-11-25 server/tools, prompts, resources "List Changed".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// The kinds of lists whose changes are told. Templates belong to resources.
struct list_changes {
  bool tools = false;
  bool prompts = false;
  bool resources = false;

  bool any() const { return tools || prompts || resources; }
  bool operator==(const list_changes&) const = default;
};

/// What is in both.
constexpr list_changes both(const list_changes& left, const list_changes& right) {
  return {left.tools && right.tools, left.prompts && right.prompts, left.resources && right.resources};
}

/// The filter of subscriptions/listen.
struct subscription_filter {
  list_changes lists;
  std::vector<std::string> uris;  ///< resources whose updates are wanted
};

/// A stream's own resources are limited, since each costs memory here and a subscription at its server.
inline constexpr std::size_t most_watched = 1000;

/// Reads params.notifications. What is not understood is not wanted; of the URIs the first `most_watched` are taken.
subscription_filter read_filter(std::string_view notifications);

/// The notification that a stream begins with: what of the filter is honoured. `id` is the request's, raw.
std::string write_acknowledgement(std::string_view id, const subscription_filter& honoured);

/// A notification that one kind of list changed, or a resource. `subscription` is the raw id that tags it for a modern
/// client's stream; empty: a legacy client's.
std::string write_list_changed(std::string_view kind, std::string_view subscription);
std::string write_resource_updated(std::string_view uri, std::string_view subscription);

}  // namespace switchgear::protocol
