#include "protocol/sealed_state.hpp"
#include "targets.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace switchgear::fuzz {

// The first two lines are a client's name and the state that a server gave; what is behind them comes back as sealed.
void sealed(std::string_view input) {
  using protocol::open_state;
  constexpr protocol::seal_key key{1, 2, 3};
  constexpr protocol::seal_nonce nonce{4, 5, 6};
  constexpr std::chrono::sys_seconds now{std::chrono::seconds(1000)};
  const auto line = [&] {
    const std::string_view first = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), first.size() + 1));
    return first;
  };
  const std::string_view name = line(), inner = line();
  const protocol::state_owner owner{"tools/call", name, "somebody"};
  const std::string good =
      protocol::seal_state(key, nonce, owner, {std::string(name), now + std::chrono::seconds(1), std::string(inner)});

  const auto opened = open_state(key, owner, good, now);
  must(opened && opened->inner == inner && opened->upstream == name.substr(0, 255), "what was sealed is opened");
  must(!open_state(key, {"tools/call", name, "nobody"}, good, now), "and for nobody else");

  // The fuzzer sees our seals go by and may bring one back, of another state for the same client: that is no forgery.
  const auto was_sealed = [&](std::string_view text) {
    const auto state = open_state(key, owner, text, now);
    return !state || protocol::seal_state(key, nonce, owner, *state) == text;
  };
  must(was_sealed(input), "only what was sealed is opened");
  std::string changed = good;
  for (std::size_t i = 0; i < input.size() && i < changed.size(); ++i) {
    changed[i] = static_cast<char>(changed[i] ^ (input[i] & 3));
  }
  must(changed == good || was_sealed(changed), "no change goes unseen");
}

}  // namespace switchgear::fuzz
