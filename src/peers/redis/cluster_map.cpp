#include "peers/redis/cluster_map.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace switchgear::peers::redis {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc() && end == text.data() + text.size();
}

struct sign {
  std::string_view word;  // how the error begins
  redis::remedy remedy;
};
constexpr sign signs[] = {
    {"MOVED ", remedy::follow},
    {"ASK ", remedy::ask_other},
    {"CLUSTERDOWN", remedy::redraw},
    {"READONLY", remedy::reconnect},
    {"MASTERDOWN", remedy::reconnect},
    {"NOAUTH", remedy::reconnect},
    {"ERR Function not found", remedy::furnish},
};

}  // namespace

// [[first, last, [host, port, ...of the primary], ...of its replicas], ...]
std::optional<std::vector<slot_range>> read_slots(const response& said, const port::redis_settings::host& from) {
  if (said.kind != response::kind::list) return std::nullopt;
  std::vector<slot_range> all;
  for (const response& each : said.items) {
    if (each.items.size() < 3 || each.items[2].items.size() < 2) return std::nullopt;
    const std::int64_t first = each.items[0].number, last = each.items[1].number;
    if (first < 0 || last < first || last >= slot_count) return std::nullopt;
    const response& name = each.items[2].items[0];
    const std::int64_t port = each.items[2].items[1].number;
    if (port <= 0 || port > 65535) return std::nullopt;
    if (name.text == "?") continue;  // not even the cluster knows
    all.push_back({static_cast<unsigned>(first),
                   static_cast<unsigned>(last),
                   {name.text.empty() ? from.name : name.text, static_cast<std::uint16_t>(port)}});
  }
  if (all.empty()) return std::nullopt;
  return all;
}

remedy remedy_of(const response& said) {
  if (said.kind != response::kind::error) return remedy::none;
  for (const sign& each : signs) {
    if (said.text.starts_with(each.word)) return each.remedy;
  }
  return remedy::none;
}

// "MOVED 3999 127.0.0.1:6381"
std::optional<redirection> read_redirection(std::string_view error) {
  const auto slot = error.find(' '), address = error.rfind(' '), colon = error.rfind(':');
  if (slot == address || colon == std::string_view::npos || colon < address) return std::nullopt;
  redirection read;
  if (!read_number(error.substr(slot + 1, address - slot - 1), read.slot) || read.slot >= slot_count) {
    return std::nullopt;
  }
  if (!read_number(error.substr(colon + 1), read.to.port) || read.to.port == 0) return std::nullopt;
  read.to.name = error.substr(address + 1, colon - address - 1);
  return read;
}

}  // namespace switchgear::peers::redis
