#include "sim/fleet/shrink.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::sim::fleet {
namespace {

class shrinker {
 public:
  shrinker(schedule failing, const std::function<bool(const schedule&)>& fails, std::chrono::seconds budget)
      : least_(std::move(failing)), fails_(fails), end_(std::chrono::steady_clock::now() + budget) {}

  schedule run() {
    for (std::size_t kind = 0; kind < std::variant_size_v<action>; ++kind) {
      without([kind](const event& each) { return each.what.index() == kind; });
    }
    for (unsigned gateway = 0; gateway < least_.gateways; ++gateway) {
      without([gateway](const event& each) { return is_of(each, gateway); });
    }
    for (std::size_t piece = least_.events.size() / 2; piece > 1; piece /= 2) without_pieces(piece);
    while (without_pieces(1)) {
    }
    return std::move(least_);
  }

 private:
  static bool is_of(const event& which, unsigned gateway) {
    return std::visit(
        [gateway](const auto& what) {
          if constexpr (requires { what.gateway; }) return what.gateway == gateway;
          return false;
        },
        which.what);
  }

  bool try_out(schedule shorter) {
    if (std::chrono::steady_clock::now() >= end_ || !fails_(shorter)) return false;
    least_ = std::move(shorter);
    return true;
  }

  template <class Which>
  void without(Which which) {
    schedule shorter = least_;
    if (std::erase_if(shorter.events, which) > 0) try_out(std::move(shorter));
  }

  // True: some could go.
  bool without_pieces(std::size_t piece) {
    const std::size_t before = least_.events.size();
    // From the end, as what came after the failure is not needed at all.
    for (std::size_t to = before; to > 0;) {
      const std::size_t from = to - std::min(piece, to);
      schedule shorter = least_;
      const auto begin = shorter.events.begin();
      shorter.events.erase(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to));
      try_out(std::move(shorter));
      to = from;
    }
    return least_.events.size() < before;
  }

  schedule least_;
  const std::function<bool(const schedule&)>& fails_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace

schedule shortest(schedule failing, const std::function<bool(const schedule&)>& fails, std::chrono::seconds budget) {
  return shrinker(std::move(failing), fails, budget).run();
}

}  // namespace switchgear::sim::fleet
