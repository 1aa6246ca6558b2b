#include "peers/redis/news.hpp"

#include "async/worker.hpp"
#include "peers/redis/cluster_map.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

/// To a channel or a pattern.
struct subscription {
  time_point asked;
  bool holds = false;
};

struct news::listener {
  listener(asio::io_context& io, port::redis_settings::host at) : where(std::move(at)), line(io) {}

  port::redis_settings::host where;
  link line;
  std::map<std::string, subscription> asked_for;
  time_point heard{};
  redis::pace pace;
  bool opening = false;
};

news::news(asio::io_context& io, const port::redis_settings& settings, spread& chance, callbacks told)
    : io_(io),
      settings_(settings),
      chance_(chance),
      sharded_(settings.shape == port::redis_settings::layout::cluster),
      told_(std::move(told)) {}

bool news::follow(const std::string& channel) {
  return channels_.insert(channel).second;
}

void news::align(const home& of, time_point now) {
  struct wish {
    port::redis_settings::host where;
    std::set<std::string> channels;
  };
  std::map<std::string, wish> wanted;
  for (const std::string& channel : channels_) {
    if (const auto* const where = of(channel)) {
      wish& at = wanted[place_of(*where)];
      at.where = *where;
      at.channels.insert(channel);
    }
  }
  std::erase_if(listeners_, [&](const auto& each) {
    if (wanted.contains(each.first)) return false;
    each.second->line.close();
    return true;
  });
  for (const auto& [place, wish] : wanted) {
    auto& found = listeners_[place];
    if (!found) found = std::make_shared<listener>(io_, wish.where);
    if (found->line.usable()) {
      attend(*found, wish.channels, now);
    } else if (!found->opening && found->pace.due(now)) {
      found->opening = true;
      found->pace.tried(now, chance_);
      asio::co_spawn(io_, reach(found), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
      });
    }
  }
}

time_point news::next_try() const {
  time_point soonest = time_point::max();
  for (const auto& [place, each] : listeners_) {
    if (!each->opening && !each->line.usable()) soonest = std::min(soonest, each->pace.next());
  }
  return soonest;
}

void news::attend(listener& of, const std::set<std::string>& channels, time_point now) {
  if (now - of.heard > longest_silence) {
    of.line.close();
    return;
  }
  for (const std::string& channel : channels) {
    const auto [its, fresh] = of.asked_for.try_emplace(channel, subscription{now});
    // Who refuses it will do so until the map is another one.
    if (!fresh && (its->second.holds || now - its->second.asked < ask_again)) continue;
    its->second.asked = now;
    of.line.tell({sharded_ ? "SSUBSCRIBE" : "PSUBSCRIBE", channel});
  }
  std::erase_if(of.asked_for, [&](const auto& each) {
    if (channels.contains(each.first)) return false;
    of.line.tell({"SUNSUBSCRIBE", each.first});
    return true;
  });
  // Who is cut off without a word hears no news and would never know.
  of.line.tell({"PING"});
}

asio::awaitable<void> news::reach(std::shared_ptr<listener> to) {
  to->line.on_end([this, ended = std::weak_ptr(to)] {
    if (const auto it = ended.lock()) it->pace.ended(async::worker::now(), chance_);
    told_.ended();
  });
  const std::string why = co_await to->line.open(to->where, settings_);
  to->opening = false;
  if (!why.empty()) co_return;
  to->asked_for.clear();
  to->heard = async::worker::now();
  to->line.hear([this, from = to.get()](const response& said) { hear(*from, said); });
  told_.ended();
}

// [what, channel, message], or [pmessage, pattern, channel, message]
void news::hear(listener& from, const response& said) {
  from.heard = async::worker::now();
  if (said.kind == response::kind::error) {
    if (const auto moved = read_redirection(said.text)) {
      told_.moved(place_of({moved->to.name.empty() ? from.where.name : moved->to.name, moved->to.port}));
    } else {
      from.line.close();  // it does not say of which channel: all are asked for again, on a new connection
    }
    return;
  }
  if (said.kind != response::kind::list || said.items.size() < 2) return;
  const std::string& what = said.items[0].text;
  if (what == "pong") {
    from.pace.achieved();
  } else if (what == "smessage" || what == "pmessage") {
    told_.message(said.items.back().text);
  } else if (what == "ssubscribe" || what == "psubscribe") {
    if (const auto its = from.asked_for.find(said.items[1].text); its != from.asked_for.end()) its->second.holds = true;
  } else if (what == "sunsubscribe" && from.asked_for.erase(said.items[1].text) != 0) {
    told_.moved({});
  }
}

void news::close() {
  for (const auto& [place, each] : listeners_) each->line.close();
  listeners_.clear();
}

}  // namespace switchgear::peers::redis
