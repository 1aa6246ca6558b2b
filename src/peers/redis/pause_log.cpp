#include "peers/redis/pause_log.hpp"

#include "port/pauses.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace switchgear::peers::redis {

using std::chrono::milliseconds;

namespace {

constexpr std::string_view name_field = "name", length_field = "ms";

std::string digits(duration length) {
  return std::to_string(std::chrono::ceil<milliseconds>(length).count());
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Milliseconds of the store's clock, from the answer to TIME: seconds and microseconds.
std::optional<std::int64_t> moment_of(const response& said) {
  if (said.kind != response::kind::list || said.items.size() != 2) return std::nullopt;
  const auto seconds = number(said.items[0].text), micros = number(said.items[1].text);
  constexpr std::int64_t most_seconds = 1LL << 40;
  if (!seconds || !micros || *seconds > most_seconds || *micros > 999'999) return std::nullopt;
  return *seconds * 1000 + *micros / 1000;
}

/// [id, [field, value, field, value]]
bool is_entry(const response& said) {
  if (said.kind != response::kind::list || said.items.size() != 2) return false;
  const response& fields = said.items[1];
  return said.items[0].kind == response::kind::text && fields.kind == response::kind::list &&
         fields.items.size() == 4 && fields.items[0].text == name_field && fields.items[2].text == length_field;
}

}  // namespace

pause_log::pause_log(std::string_view prefix) : key_(std::string(prefix) + ":{fleet}:pauses") {}

void pause_log::add(std::string name, time_point until) {
  if (const auto found = waiting_.find(name); found != waiting_.end()) {
    found->second = std::max(found->second, until);
  } else if (waiting_.size() >= most_waiting) {
    ++dropped_;
  } else {
    waiting_.emplace(std::move(name), until);
  }
}

std::vector<pause_log::note> pause_log::take(time_point now) {
  std::vector<note> taken;
  while (!waiting_.empty()) {
    auto next = waiting_.extract(waiting_.begin());
    if (next.mapped() > now) taken.push_back({std::move(next.key()), next.mapped()});
  }
  return taken;
}

std::vector<routed> pause_log::write(const std::vector<note>& notes, time_point now) const {
  const unsigned slot = slot_of(key_);
  const std::string most = std::to_string(most_entries);
  std::vector<routed> commands;
  for (const note& each : notes) {
    const std::string length = digits(std::min(each.until - now, longest));
    commands.push_back(
        {slot,
         {"XADD", key_, "MAXLEN", most, "*", std::string(name_field), each.name, std::string(length_field), length}});
  }
  commands.push_back({slot, {"PEXPIRE", key_, digits(longest)}});
  return commands;
}

std::vector<routed> pause_log::read() const {
  const unsigned slot = slot_of(key_);
  const std::string from = last_.empty() ? "-" : "(" + last_;
  return {{slot, {"TIME"}}, {slot, {"XRANGE", key_, from, "+", "COUNT", std::to_string(most_entries)}}};
}

std::vector<pause_log::entry> pause_log::hear(const std::vector<response>& said) {
  std::vector<entry> found;
  if (said.size() != 2) return found;
  if (said[1].kind == response::kind::error) start_anew();
  if (said[1].kind != response::kind::list) return found;
  const auto now = moment_of(said[0]);
  if (!now) return found;
  for (const response& each : said[1].items) {
    if (each.kind != response::kind::list || each.items.empty()) continue;
    const std::string& id = each.items[0].text;
    const auto written = number(id.substr(0, id.find('-')));
    if (!written) continue;
    last_ = id;
    if (!is_entry(each)) continue;
    const std::string& name = each.items[1].items[1].text;
    const auto length = number(each.items[1].items[3].text);
    if (!length || name.size() > port::pauses::longest_name) continue;
    // The clock may have been put back since: then all of the length is left, and no more.
    const std::int64_t age = std::max<std::int64_t>(*now - *written, 0);
    const std::int64_t left =
        std::min<std::int64_t>(*length, std::chrono::duration_cast<milliseconds>(longest).count()) - age;
    if (left > 0) found.push_back({name, milliseconds(left)});
  }
  return found;
}

}  // namespace switchgear::peers::redis
