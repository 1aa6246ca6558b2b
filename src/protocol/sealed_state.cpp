#include "protocol/sealed_state.hpp"

#include "protocol/errc.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace switchgear::protocol {

namespace {

constexpr std::size_t time_size = 8;

// Each field with its length, so that no two owners have one context; first what the seal is for.
std::string context_of(const state_owner& owner) {
  std::string context = "switchgear request state 1";
  for (std::string_view field : {owner.method, owner.name, owner.principal}) {
    context.append(1, '\0').append(std::to_string(field.size())).append(1, '\0').append(field);
  }
  return context;
}

void append_time(std::string& out, std::chrono::sys_seconds when) {
  const auto seconds = static_cast<std::uint64_t>(when.time_since_epoch().count());
  for (std::size_t i = time_size; i-- > 0;) out += static_cast<char>(seconds >> (8 * i) & 0xff);
}

std::chrono::sys_seconds time_of(std::string_view bytes) {
  std::uint64_t seconds = 0;
  for (char byte : bytes) seconds = seconds << 8 | static_cast<unsigned char>(byte);
  return std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
}

}  // namespace

std::string seal_state(const seal_key& key, const seal_nonce& nonce, const state_owner& owner,
                       const pinned_state& state) {
  constexpr std::size_t longest_alias = std::numeric_limits<unsigned char>::max();
  const std::string_view upstream = std::string_view(state.upstream).substr(0, longest_alias);
  std::string text;
  append_time(text, state.expires);
  text.append(1, static_cast<char>(upstream.size())).append(upstream).append(state.inner);
  return seal(key, nonce, context_of(owner), text);
}

result<pinned_state> open_state(const seal_key& key, const state_owner& owner, std::string_view sealed,
                                std::chrono::sys_seconds now) {
  const std::optional<std::string> opened = open_sealed(key, context_of(owner), sealed);
  if (!opened || opened->size() < time_size + 1) return errc::bad_state;
  std::string_view rest = *opened;
  pinned_state state;
  state.expires = time_of(rest.substr(0, time_size));
  const std::size_t alias_size = static_cast<unsigned char>(rest[time_size]);
  rest.remove_prefix(time_size + 1);
  if (rest.size() < alias_size) return errc::bad_state;
  state.upstream = rest.substr(0, alias_size);
  state.inner = rest.substr(alias_size);
  if (state.expires <= now) return errc::expired;
  return state;
}

}  // namespace switchgear::protocol
