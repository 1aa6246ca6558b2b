// Seam: what replicas tell each other of tools that asked for fewer calls, and what of it is shown.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace switchgear::port {

/// Lengths, never moments: the replicas' clocks need not agree. Nobody waits for anything here, and nothing is certain
/// to arrive: a replica that hears nothing goes by what its own calls are answered.
class pauses {
 public:
  static constexpr std::size_t longest_name = 256;  ///< bytes

  virtual ~pauses() = default;

  /// What `name` stands for is left alone for `length` from now on. A longer name is not told. Any thread.
  virtual void tell(std::string_view name, duration length) = 0;
  /// Hears what other replicas told, soon after they did and once more when this one has come (back), with what is left
  /// of it. On the control thread. Before start.
  virtual void on_told(std::function<void(std::string_view name, duration left)> hear) = 0;
};

/// A tool that has asked for fewer calls since the start.
struct throttled_tool {
  std::string name;           ///< exported
  std::uint64_t answers = 0;  ///< that said so
  duration left{};            ///< of its pause, the longest of all credentials'
};

}  // namespace switchgear::port
