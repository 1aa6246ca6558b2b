#include "call/pauses.hpp"

#include "async/worker.hpp"
#include "call/directory.hpp"
#include "protocol/canonical.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::call {
namespace {

// No exported name has it.
constexpr char between = ' ';

// A credential may be a secret, and what replicas tell each other can be read in Redis.
std::string shared_credential(std::string_view credential) {
  if (credential.empty()) return {};
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  for (const unsigned char byte : protocol::digest_of({"credential", credential}).bytes) {
    made += digits[byte >> 4];
    made += digits[byte & 15];
  }
  return made;
}

}  // namespace

std::string_view credential_of(const tool& called, const port::client& client) {
  return called.forwards ? client.principal : std::string_view();
}

duration tool_pause::left_of(std::string_view credential, time_point now) const {
  return state_.left(shared_credential(credential), now);
}

void tool_pause::begin(std::string_view credential, duration length, time_point now) {
  answers_.fetch_add(1, std::memory_order_relaxed);
  const std::string shared = shared_credential(credential);
  if (!state_.lengthen(shared, now + length, now) || others_ == nullptr) return;
  others_->tell(shared.empty() ? name_ : name_ + between + shared, length);
}

port::throttled_tool tool_pause::shown(time_point now) const {
  return {name_, answers_.load(std::memory_order_relaxed), state_.longest(now)};
}

pauses::pauses(port::pauses* others) : others_(others) {
  if (others_ == nullptr) return;
  others_->on_told([this](std::string_view name, duration left) { hear(name, left); });
}

tool_pause& pauses::of(std::string_view exported_name) {
  const std::lock_guard lock(mutex_);
  const auto found = tools_.find(exported_name);
  if (found != tools_.end()) return *found->second;
  std::string name(exported_name);
  auto made = std::make_unique<tool_pause>(name, others_);
  return *tools_.emplace(std::move(name), std::move(made)).first->second;
}

void pauses::hear(std::string_view name, duration left) {
  const std::string_view tool = name.substr(0, name.find(between));
  const std::string_view shared = name.substr(std::min(tool.size() + 1, name.size()));
  {
    const std::lock_guard lock(mutex_);
    if (tools_.size() >= most_heard && !tools_.contains(tool)) return;
  }
  of(tool).hear(shared, std::min(left, cascade::longest_retry_after), async::worker::now());
}

std::vector<port::throttled_tool> pauses::shown(time_point now) const {
  std::vector<port::throttled_tool> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, each] : tools_) {
    port::throttled_tool seen = each->shown(now);
    if (seen.answers > 0 || seen.left > duration::zero()) all.push_back(std::move(seen));
  }
  return all;
}

}  // namespace switchgear::call
