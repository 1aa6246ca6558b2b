#include "peers/redis/board.hpp"

#include "async/worker.hpp"

#include <cstdio>
#include <string>
#include <unistd.h>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

namespace {

std::string instance_name(std::uint64_t number) {
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  char text[24];
  std::snprintf(text, sizeof text, "%08llx", static_cast<unsigned long long>(number & 0xffffffff));
  return std::string(host) + "-" + std::to_string(getpid()) + "-" + text;
}

receipt receipt_of(response& from) {
  switch (from.kind) {
    case response::kind::lost:
      return {};
    case response::kind::text:
      return {receipt::kind::text, std::move(from.text)};
    case response::kind::error:
      return {receipt::kind::error, std::move(from.text)};
    case response::kind::nil:
    case response::kind::number:
    case response::kind::list:
      break;
  }
  return {receipt::kind::error, "an answer of another kind"};
}

}  // namespace

board::board(asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, port::recorder& recorder)
    : recorder_(recorder),
      prefix_(settings.prefix),
      sharded_(settings.shape == port::redis_settings::layout::cluster),
      interval_(settings.flush),
      store_(io, settings, seed, [this](std::string_view message) { hear(message); }),
      books_(settings, instance_name(seed), seed + 1, [this](unsigned slot) { return store_.place_of(slot); }) {
  store_.on_reach([this] { books_.look_again(); });
  // One node has all there is, of servers that are still to come as well.
  if (!sharded_) store_.follow(prefix_ + ":{*}:ev");
}

void board::hear(std::string_view message) const {
  const auto scope = scope_of_message(message);
  if (scope && told_ && books_.knows(*scope)) told_(*scope);
}

asio::awaitable<error_code> board::exchange(std::vector<port::board_entry>& entries) {
  for (const port::board_entry& each : entries) {
    if (sharded_ && !books_.knows(each.name)) store_.follow(address(prefix_, each.name).channel);
  }
  std::vector<routed> questions = books_.ask(entries, async::worker::now());
  std::vector<receipt> said(questions.size());
  if (!questions.empty() && store_.usable()) {
    std::vector<response> responses = co_await store_.ask(std::move(questions));
    for (std::size_t i = 0; i < said.size(); ++i) said[i] = receipt_of(responses[i]);
  }
  books_.hear(entries, said, store_.trouble(), async::worker::now());
  for (const books::line& each : books_.take_lines()) recorder_.board_changed(each.shared, each.text);
  co_return error_code{};
}

}  // namespace switchgear::peers::redis
