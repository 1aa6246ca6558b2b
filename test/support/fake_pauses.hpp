// Other replicas that keep what they are told of pauses, and tell what a test wants.
#pragma once

#include "port/pauses.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::test {

class fake_pauses final : public port::pauses {
 public:
  std::vector<std::pair<std::string, duration>> told;
  std::function<void(std::string_view name, duration left)> hear;

  void tell(std::string_view name, duration length) override { told.emplace_back(name, length); }
  void on_told(std::function<void(std::string_view name, duration left)> with) override { hear = std::move(with); }
};

}  // namespace switchgear::test
