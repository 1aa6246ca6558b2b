#include "peers/redis/pauses.hpp"

#include "async/worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

pauses::pauses(asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed,
               std::function<void()> written)
    : io_(io),
      written_(std::move(written)),
      chance_(seed),
      store_(io, settings, seed + 2, [](std::string_view) {}),
      work_(io),
      log_(settings.prefix) {
  store_.on_reach([this] {
    anew_ = true;
    look();
  });
}

void pauses::start() {
  store_.start();
  asio::co_spawn(io_, run(), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

void pauses::stop() {
  store_.stop();
  asio::post(io_, [this] {
    stopping_ = true;
    work_.ring();
  });
}

void pauses::tell(std::string_view name, duration length) {
  if (name.size() > longest_name) return;
  const time_point until = async::worker::now() + length;
  {
    const std::lock_guard lock(guard_);
    log_.add(std::string(name), until);
  }
  work_.call();
}

void pauses::look() {
  next_look_ = {};
  work_.ring();
}

asio::awaitable<void> pauses::run() {
  while (!stopping_) {
    const time_point now = async::worker::now();
    if (store_.usable() && pace_.due(now) && now >= next_write_) co_await write_some();
    if (!stopping_ && store_.usable() && async::worker::now() >= next_look_) co_await read_some();
    if (!stopping_) co_await work_.wait(next_task(async::worker::now()));
  }
}

time_point pauses::next_task(time_point now) const {
  if (!store_.usable()) return now + pause_log::look_every;  // on_reach() rings
  const std::lock_guard lock(guard_);
  return log_.empty() ? next_look_ : std::min(next_look_, std::max(pace_.next(), next_write_));
}

asio::awaitable<void> pauses::write_some() {
  std::vector<pause_log::note> notes;
  std::vector<routed> commands;
  {
    const std::lock_guard lock(guard_);
    const time_point now = async::worker::now();
    notes = log_.take(now);
    if (notes.empty()) co_return;
    commands = log_.write(notes, now);
    next_write_ = now + write_every;
  }
  const std::vector<response> said = co_await store_.ask(std::move(commands));
  bool any = false, all = true;
  {
    const std::lock_guard lock(guard_);
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (said[i].kind == response::kind::text) {
        ++counts_.written;
        any = true;
      } else {
        log_.add(std::move(notes[i].name), notes[i].until);
        all = false;
      }
    }
  }
  if (any) written_();
  if (all) {
    pace_.achieved();
  } else {
    pace_.tried(async::worker::now(), chance_);
  }
}

asio::awaitable<void> pauses::read_some() {
  next_look_ = async::worker::now() + pause_log::look_every;
  if (std::exchange(anew_, false)) log_.start_anew();
  const std::vector<response> said = co_await store_.ask(log_.read());
  const std::vector<pause_log::entry> found = log_.hear(said);
  for (const pause_log::entry& each : found) hear_(each.name, each.left);
  if (said.back().kind == response::kind::list) known_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(guard_);
  counts_.heard += found.size();
}

pauses::counts pauses::figures() const {
  const std::lock_guard lock(guard_);
  counts all = counts_;
  all.dropped = log_.dropped();
  return all;
}

}  // namespace switchgear::peers::redis
