#include "peers/redis/store.hpp"

#include "async/worker.hpp"
#include "peers/redis/round.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

store::store(asio::io_context& io, port::redis_settings settings, std::uint64_t seed,
             std::function<void(std::string_view)> heard)
    : io_(io),
      settings_(std::move(settings)),
      chance_(seed),
      nodes_(io, settings_.shape),
      survey_(io, settings_, chance_),
      news_(io, settings_, chance_,
            {std::move(heard), [this](std::string owner) { map_is_old(std::move(owner)); }, [this] { work_.ring(); }}),
      work_(io) {}

void store::start() {
  asio::co_spawn(io_, run(), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

void store::stop() {
  asio::post(io_, [this] {
    stopping_ = true;
    survey_.stop();
    work_.ring();
  });
}

// `owner` empty: nobody knows.
void store::map_is_old(std::string owner) {
  if (owner.empty()) {
    survey_.is_old();
  } else {
    survey_.is_old(std::move(owner));
  }
  work_.ring();
}

void store::follow(const std::string& channel) {
  if (news_.follow(channel)) work_.ring();
}

bool store::usable(unsigned slot) const {
  const auto at = nodes_.of(slot);
  return at && at->usable();
}

const std::string& store::trouble(unsigned slot) const {
  const auto at = nodes_.of(slot);
  return at ? at->trouble : trouble_;
}

std::string_view store::place_of(unsigned slot) const {
  const auto at = nodes_.of(slot);
  return at ? std::string_view(at->place) : std::string_view();
}

asio::awaitable<void> store::run() {
  while (!stopping_) {
    if (survey_.due(async::worker::now(), !nodes_.all_usable())) {
      if (std::string why = co_await survey_.carry_out(nodes_); !why.empty()) trouble_ = std::move(why);
    }
    if (stopping_) break;
    reach_all(async::worker::now());
    const auto home = [this](const std::string& channel) -> const port::redis_settings::host* {
      const auto at = nodes_.of(slot_of(channel));
      return at ? &at->where : nullptr;
    };
    news_.align(home, async::worker::now());
    co_await work_.wait(next_task(async::worker::now()));
  }
  nodes_.keep_only({});
  news_.close();
}

time_point store::next_task(time_point now) const {
  time_point next = std::min({now + survey::look_around, news_.next_try(), survey_.next()});
  for (const auto& [place, each] : nodes_.all()) {
    if (!each->opening && !each->line.usable()) next = std::min(next, each->pace.next());
  }
  return next;
}

void store::reach_all(time_point now) {
  for (const auto& [place, each] : nodes_.all()) {
    if (each->opening || each->line.usable() || !each->pace.due(now)) continue;
    each->opening = true;
    each->pace.tried(now, chance_);
    asio::co_spawn(io_, reach(each), [](std::exception_ptr failed) {
      if (failed) std::rethrow_exception(failed);
    });
  }
}

asio::awaitable<void> store::reach(std::shared_ptr<node> to) {
  to->line.on_end([this, ended = std::weak_ptr(to)] {
    if (const auto it = ended.lock()) it->pace.ended(async::worker::now(), chance_);
    map_is_old({});
  });
  std::string why = co_await to->line.open(to->where, settings_);
  if (why.empty() && settings_.shape == port::redis_settings::layout::sentinel) why = co_await check_role(to->line);
  to->opening = false;
  if (!why.empty()) {
    to->trouble = std::move(why);
    trouble_ = to->trouble;
    survey_.is_old();
  } else if (reached_) {
    reached_();
  }
  work_.ring();
}

// A sentinel may speak of one who was the primary until a moment ago.
asio::awaitable<std::string> store::check_role(link& of) {
  const auto said = co_await of.ask({{"ROLE"}}, survey::patience);
  const response& role = said[0];
  if (role.kind == response::kind::list && !role.items.empty() && role.items[0].text == "master") {
    survey_.was_right();
    co_return std::string();
  }
  of.close();
  co_return "the sentinels name a primary that is none";
}

asio::awaitable<std::vector<response>> store::ask(std::vector<routed> commands) {
  round asked(std::move(commands), nodes_, settings_.timeout);
  co_await asked.carry_out();
  if (asked.map_is_old()) map_is_old(asked.moved_to());
  if (!asked.trouble().empty()) trouble_ = asked.trouble();
  co_return asked.take();
}

}  // namespace switchgear::peers::redis
