#include "sim/fleet/remote.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace switchgear::sim::fleet {
namespace {

std::vector<std::string> keys_of(const peers::redis::address& scope) {
  return {scope.state, scope.window, scope.instances, scope.probes};
}

constexpr std::size_t shortest_dump = 10;  // version and checksum; "0" says that there is no key

// Both halves are added up by Redis, as the client of this test knows no lists.
constexpr std::string_view sums_script = R"(
local total = redis.call('HGET', KEYS[1], 'T')
if not total then return '' end
if #total ~= 48 then return 'unknown form' end
local _, a, b, c, d, e = struct.unpack('>dddddd', total)
local sum = {0, 0, 0, 0, 0}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  if all[at] ~= 'T' then
    if #all[at + 1] ~= 20 then return 'unknown form' end
    for part, count in ipairs({struct.unpack('>IIIII', all[at + 1])}) do
      if part <= 5 then sum[part] = sum[part] + count end
    end
  end
end
return table.concat({a, b, c, d, e, unpack(sum)}, ' '))";

}  // namespace

std::string library_text() {
  const char* const other = std::getenv("SWITCHGEAR_LIBRARY");
  if (other == nullptr) return std::string(peers::redis::library_source);
  std::ifstream file(other);
  std::stringstream text;
  text << file.rdbuf();
  if (text.str().empty()) throw std::runtime_error(std::string("nothing to read in ") + other);
  return text.str();
}

remote::remote() : redis_(server_.socket()) {
  const std::string said = redis_.ask({"FUNCTION", "LOAD", library_text()});
  if (said.starts_with('!')) throw std::runtime_error(said);
}

void remote::clear() {
  redis_.ask({"FLUSHALL"});
  copies_.clear();
}

std::vector<peers::redis::receipt> remote::carry_out(std::span<const peers::redis::command> commands,
                                                     std::int64_t reading) {
  using peers::redis::receipt;
  for (peers::redis::command each : commands) {
    each.push_back(std::to_string(reading));
    redis_.send(each);
  }
  std::vector<receipt> said;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    std::string text = redis_.receive();
    const bool failed = text.starts_with('!');
    said.push_back({failed ? receipt::kind::error : receipt::kind::text, failed ? text.substr(1) : std::move(text)});
  }
  exchanges_ += commands.size();
  return said;
}

void remote::remember(const peers::redis::address& scope) {
  for (const std::string& key : keys_of(scope)) copies_[key] = redis_.ask({"DUMP", key});
}

void remote::restore(const peers::redis::address& scope) {
  for (const std::string& key : keys_of(scope)) {
    redis_.ask({"DEL", key});
    const std::string& copy = copies_[key];
    if (copy.size() < shortest_dump) continue;
    if (const std::string said = redis_.ask({"RESTORE", key, "0", copy}); said != "OK") throw std::runtime_error(said);
  }
}

void remote::forget(const peers::redis::address& scope, bool state_only) {
  if (state_only) {
    redis_.ask({"DEL", scope.state});
  } else {
    for (const std::string& key : keys_of(scope)) redis_.ask({"DEL", key});
  }
}

std::optional<remote::sums> remote::window(const peers::redis::address& scope) {
  const std::string said = redis_.ask({"EVAL", std::string(sums_script), "1", scope.window});
  if (said.empty()) return std::nullopt;
  std::istringstream words(said);
  sums made;
  for (std::uint64_t& each : made.totals) words >> each;
  for (std::uint64_t& each : made.slots) words >> each;
  if (!words) throw std::runtime_error("window: " + said);
  return made;
}

}  // namespace switchgear::sim::fleet
