#include "peers/redis/attendance.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace switchgear::peers::redis {

namespace {

constexpr const char* alive = "alive";
constexpr const char* ended = "ended";

/// 128 bits of SHA-256, in hexadecimal digits.
std::string digest(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  for (const unsigned char byte : std::span(bytes).first<16>()) {
    made += digits[byte >> 4];
    made += digits[byte & 15];
  }
  return made;
}

}  // namespace

std::string session_key(std::string_view prefix, std::string_view session) {
  return std::string(prefix) + ":s:" + digest(session);
}

void attendance::erase(notes::iterator which) {
  by_key_.erase(which->key);
  list_of(*which).erase(which);
}

void attendance::add(note made) {
  if (by_key_.size() >= most_waiting) {
    ++dropped_;
    // That a session has ended is worth more than that another one goes on, which will be said again.
    if (kept_.empty() && !made.ended) return;
    erase(kept_.empty() ? ended_.begin() : kept_.begin());
  }
  notes& list = list_of(made);
  const auto at = list.insert(list.end(), std::move(made));
  by_key_.emplace(at->key, at);
}

void attendance::keep(std::string key, duration idle, time_point now) {
  idle = std::clamp(idle, duration(std::chrono::milliseconds(1)), longest_idle);
  memory_ = std::max(memory_, idle);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    note& said = *found->second;
    if (!said.ended) said.until = std::max(said.until, now + idle);
    return;
  }
  add({std::move(key), false, now + idle});
}

void attendance::forget(std::string key, time_point now) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) erase(found->second);
  add({std::move(key), true, now + memory_});
}

std::vector<attendance::note> attendance::take(std::size_t most, time_point now) {
  std::vector<note> taken;
  for (notes* const list : {&ended_, &kept_}) {
    while (!list->empty() && taken.size() < most) {
      note& next = list->front();
      by_key_.erase(next.key);
      if (next.until > now) taken.push_back(std::move(next));
      list->pop_front();
    }
  }
  return taken;
}

void attendance::put_back(note unheard) {
  if (const auto found = by_key_.find(unheard.key); found != by_key_.end()) {
    if (found->second->ended || !unheard.ended) return;
    erase(found->second);
  }
  add(std::move(unheard));
}

std::size_t write_note(const attendance::note& of, time_point now, std::vector<routed>& into) {
  const unsigned slot = slot_of(of.key);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(of.until - now);
  const std::string lives = std::to_string(std::max<std::int64_t>(left.count(), 1));
  if (of.ended) {
    into.push_back({slot, {"SET", of.key, ended, "PX", lives}});
    return 1;
  }
  // What is there stays as it is, and only lives longer: it may say that the session has ended.
  into.push_back({slot, {"PEXPIRE", of.key, lives, "GT"}});
  into.push_back({slot, {"SET", of.key, alive, "PX", lives, "NX"}});
  return 2;
}

routed look_up(const std::string& key) {
  return {slot_of(key), {"GET", key}};
}

port::presence read_note(const response& said, bool nothing_lost) {
  switch (said.kind) {
    case response::kind::nil:
      return nothing_lost ? port::presence::unnoted : port::presence::not_known;
    case response::kind::text:
      if (said.text == alive) return port::presence::alive;
      return said.text == ended ? port::presence::gone : port::presence::not_known;
    case response::kind::lost:
    case response::kind::number:
    case response::kind::list:
    case response::kind::error:
      break;
  }
  return port::presence::not_known;
}

}  // namespace switchgear::peers::redis
