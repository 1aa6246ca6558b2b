// A regular expression that a peer gave us. Private to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Immutable, safe to use from several threads. Boost.Regex and not std::regex: the latter recurses once a character
/// and backtracks without end, so a peer could exhaust the stack or the processor with it.
class pattern {
 public:
  enum class outcome : unsigned char { found, absent, too_hard };

  /// Empty if the engine cannot read it.
  static std::optional<pattern> compile(const std::string& expression);

  /// Whether it matches anywhere in `text` (it is not anchored).
  outcome search(std::string_view text) const;

 private:
  struct engine;
  std::shared_ptr<const engine> engine_;
};

}  // namespace switchgear::protocol
