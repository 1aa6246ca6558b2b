#include "peers/redis/shared_key.hpp"

#include <utility>

namespace switchgear::peers::redis {

shared_key::shared_key(std::string_view prefix, std::string own)
    : key_(std::string(prefix) + ":{fleet}:key"),
      mark_(std::string(prefix) + ":{fleet}:emptied"),
      own_(std::move(own)) {}

std::vector<routed> shared_key::ask(duration memory, time_point now) {
  next_ = now + look_every;
  const unsigned slot = slot_of(key_);
  std::vector<routed> commands;
  if (lost_) {
    const auto lives = std::chrono::ceil<std::chrono::milliseconds>(memory).count();
    commands.push_back({slot, {"SET", mark_, "1", "PX", std::to_string(lives)}});
  }
  if (lost_ || known_.empty()) commands.push_back({slot, {"SET", key_, known_.empty() ? own_ : known_, "NX"}});
  commands.push_back({slot, {"GET", key_}});
  return commands;
}

bool shared_key::hear(const std::vector<response>& said) {
  const response& found = said.back();
  const bool was_lost = lost_;
  if (lost_ && said.front().kind == response::kind::text) lost_ = false;
  if (found.kind == response::kind::nil) {
    lost_ = !known_.empty();
    if (lost_ && !was_lost) look_again();
    return false;
  }
  // Anything else is nobody's key: the store does not answer, or the name is used for something else.
  if (found.kind != response::kind::text || found.text.size() != size || found.text == known_) return false;
  if (!known_.empty()) {
    // Somebody who did not know it was quicker to bring another one.
    lost_ = true;
    look_again();
  }
  known_ = found.text;
  return true;
}

std::vector<routed> shared_key::ask_for_losses() const {
  const unsigned slot = slot_of(key_);
  return {{slot, {"EXISTS", key_}}, {slot, {"EXISTS", mark_}}};
}

bool shared_key::nothing_lost(const response& key, const response& mark) {
  return key.kind == response::kind::number && key.number == 1 && mark.kind == response::kind::number &&
         mark.number == 0;
}

}  // namespace switchgear::peers::redis
