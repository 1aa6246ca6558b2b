// One replica of the fleet: real gates and permits, and the real books of a shared board, without threads or sockets.
#pragma once

#include "breaker/permit.hpp"
#include "peers/redis/books.hpp"
#include "sim/fleet/event.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::sim::fleet {

inline constexpr std::string_view tool_name = "search__query";
inline constexpr std::string_view server_name = "server:search";

constexpr std::size_t index_of(breaker::scope which) {
  return static_cast<std::size_t>(which);
}

/// A gate, and what the flusher of the product remembers of its scope.
struct member {
  member(std::string name, breaker::scope which, const breaker::settings& values)
      : gate(std::move(name), which, 1, values), settings(values) {
    view.mode = values.mode;
  }

  breaker::gate gate;
  breaker::settings settings;
  bool told_settings = false;
  bool changed = false;
  std::optional<port::board_entry::command> ordered;
  breaker::view view;        // as the gate knows it
  time_point heard{};        // when
  breaker::counts expected;  // of outcomes since the last report, of the present generation
  bool alone = false;        // this gateway decides it for itself
  unsigned replicas = 1;     // alone: how many there were when it began, at the least
};

class gateway {
 public:
  /// `life`: which process of this gateway's it is; gives its name and its dice.
  gateway(unsigned number, unsigned life, const schedule& from);

  const std::string& instance() const { return instance_; }
  unsigned life() const { return life_; }
  member& at(breaker::scope which) { return *members_[index_of(which)]; }
  breaker::admission ask_leave(time_point now) {
    return breaker::acquire(at(breaker::scope::tool).gate, at(breaker::scope::server).gate, 0, now);
  }

  /// Begins an exchange unless one is under way or there is nothing to say. What it says is in entries().
  bool begin(time_point now);
  const std::vector<peers::redis::command>& questions() const { return questions_; }
  /// The scope of a question: repeats come before the scope's own.
  breaker::scope scope_of(std::size_t question) const;
  /// Ends it. Each gate is told its answer.
  void end(const std::vector<peers::redis::receipt>& said, time_point now);

  bool talking() const { return talking_; }
  const std::vector<port::board_entry>& entries() const { return entries_; }

 private:
  bool hear(member& from, time_point now, port::board_entry& into);
  unsigned replicas() const { return std::max(1u, books_.figures().replicas); }

  unsigned life_;
  std::string instance_;
  std::array<std::unique_ptr<member>, 2> members_;
  peers::redis::books books_;
  std::vector<port::board_entry> entries_;
  std::vector<peers::redis::command> questions_;
  time_point asked_at_{};
  bool talking_ = false;
};

}  // namespace switchgear::sim::fleet
