#include "peers/memory_board.hpp"

#include <utility>

namespace switchgear::peers {

boost::asio::awaitable<error_code> memory_board::exchange(std::vector<port::board_entry>& entries) {
  const time_point now = now_();
  for (port::board_entry& entry : entries) serve(entry, now);
  co_return error_code{};
}

void memory_board::serve(port::board_entry& entry, time_point now) {
  auto found = scopes_.find(entry.name);
  if (found == scopes_.end()) {
    found = scopes_.emplace(entry.name, scope{{entry.scope, *entry.settings, now}, entry.revision}).first;
  }
  auto& [authority, revision] = found->second;
  if (revision != entry.revision) {
    authority.configure(*entry.settings, now);
    revision = entry.revision;
  }
  if (entry.ordered) authority.obey(entry.ordered->order, entry.ordered->hold, now);
  entry.answer = authority.exchange(entry.said, now, std::uniform_real_distribution<double>()(random_));
}

}  // namespace switchgear::peers
