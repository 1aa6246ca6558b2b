#include "peers/redis/survey.hpp"

#include "async/worker.hpp"

#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

namespace {

// [host, port], both as text
bool read_address(const response& said, port::redis_settings::host& into) {
  if (said.kind != response::kind::list || said.items.size() != 2) return false;
  into.name = said.items[0].text;
  const std::string& port = said.items[1].text;
  const char* const end = port.data() + port.size();
  const auto read = std::from_chars(port.data(), end, into.port);
  return read.ec == std::errc() && read.ptr == end && into.port != 0 && !into.name.empty();
}

bool take_map(const response& said, const port::redis_settings::host& from, nodes& into) {
  const auto map = read_slots(said, from);
  if (map) into.take(*map);
  return map.has_value();
}

}  // namespace

survey::survey(asio::io_context& io, const port::redis_settings& settings, spread& chance)
    : settings_(settings), chance_(chance), line_(io) {}

bool survey::due(time_point now, bool missing) const {
  // A primary that the sentinels have replaced goes on taking writes until they reach it, seconds later.
  const bool may_be_replaced = settings_.shape == port::redis_settings::layout::sentinel;
  return (old_ && pace_.due(now)) || ((missing || may_be_replaced) && now - begun_ >= look_around);
}

void survey::stop() {
  stopped_ = true;
  line_.close();
}

asio::awaitable<std::string> survey::carry_out(nodes& into) {
  begun_ = async::worker::now();
  pace_.tried(begun_, chance_);
  old_ = false;
  std::string why;
  switch (settings_.shape) {
    case port::redis_settings::layout::single:
      into.keep_only({settings_.hosts.front()});
      was_right();
      break;
    case port::redis_settings::layout::sentinel:
      why = co_await ask_sentinels(into);
      break;
    case port::redis_settings::layout::cluster:
      why = co_await ask_cluster(into);
      if (why.empty()) was_right();
      break;
  }
  if (!why.empty()) old_ = true;
  co_return why;
}

asio::awaitable<std::string> survey::ask_sentinels(nodes& into) {
  // Sentinels have credentials of their own, if any, and no databases.
  port::redis_settings plain = settings_;
  plain.user.clear();
  plain.password.clear();
  plain.password_file.clear();
  plain.database = 0;
  std::string why;
  for (std::size_t i = 0; i < settings_.hosts.size() && !stopped_; ++i, ++first_) {
    why = line_.usable() ? std::string() : co_await line_.open(informant(), plain);
    if (!why.empty()) continue;
    std::vector<command> question{{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.master}};
    const auto said = co_await line_.ask(std::move(question), patience);
    host primary;
    if (read_address(said[0], primary)) {
      into.keep_only({primary});
      co_return std::string();
    }
    line_.close();
    why = place_of(informant()) + ": this sentinel does not know " + settings_.master;
  }
  co_return why;
}

asio::awaitable<std::string> survey::ask_cluster(nodes& into) {
  const std::vector<command> question{{"CLUSTER", "SLOTS"}};
  // Whoever is connected knows, and at once; the hosts of the settings may be dead by now.
  std::vector<std::shared_ptr<node>> connected;
  for (const auto& [place, each] : into.all()) {
    if (each->usable()) connected.insert(place == owner_ ? connected.begin() : connected.end(), each);
  }
  for (const auto& each : connected) {
    const auto said = co_await each->line.ask(question, patience);
    if (take_map(said[0], each->where, into)) co_return std::string();
  }
  std::string why;
  for (std::size_t i = 0; i < settings_.hosts.size() && !stopped_; ++i, ++first_) {
    why = co_await line_.open(informant(), settings_);
    if (!why.empty()) continue;
    const auto said = co_await line_.ask(question, patience);
    line_.close();
    if (take_map(said[0], informant(), into)) co_return std::string();
    why = place_of(informant()) + ": " + (said[0].text.empty() ? "has no map of the cluster" : reason_of(said[0]));
  }
  co_return why;
}

}  // namespace switchgear::peers::redis
