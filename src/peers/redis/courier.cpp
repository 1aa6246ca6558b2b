#include "peers/redis/courier.hpp"

#include "async/worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

namespace {

using std::chrono::seconds;

/// Nobody waits for a mail, and a long one takes its time.
port::redis_settings unhurried(port::redis_settings settings) {
  settings.timeout = std::max(settings.timeout, duration(seconds(1)));
  return settings;
}

std::string name_from(std::uint64_t seed) {
  std::string name;
  for (std::size_t i = 0; i < mail::name_size; ++i) name += static_cast<char>(seed >> 8 * i & 0xff);
  return name;
}

}  // namespace

courier::courier(asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed,
                 std::function<void(const mail&)> hear)
    : io_(io),
      name_(name_from(seed)),
      channel_(settings.prefix + ":{fleet}:m"),
      slot_(slot_of(channel_)),
      publish_(settings.shape == port::redis_settings::layout::cluster ? "SPUBLISH" : "PUBLISH"),
      hear_(std::move(hear)),
      store_(io, unhurried(settings), seed, [this](std::string_view message) { take(message); }),
      work_(io) {
  store_.follow(channel_);
  store_.on_reach([this] { work_.ring(); });
}

void courier::start() {
  store_.start();
  asio::co_spawn(io_, deliver(), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

void courier::stop() {
  store_.stop();
  asio::post(io_, [this] {
    stopping_ = true;
    work_.ring();
  });
}

void courier::send(enum mail::subject subject, std::string_view text) {
  const bool fits = text.size() <= mail::longest;
  std::string bytes = fits ? written({subject, name_, text}) : std::string();
  const time_point now = async::worker::now();
  {
    const std::lock_guard lock(guard_);
    if (!fits) {
      ++counts_.dropped;
      return;
    }
    bag_.put(std::move(bytes), now);
  }
  work_.call();
}

std::vector<std::string> courier::next_load() {
  if (!store_.usable(slot_)) return {};  // they wait: on_reach() rings
  const std::lock_guard lock(guard_);
  return bag_.take(async::worker::now());
}

asio::awaitable<void> courier::deliver() {
  while (!stopping_) {
    std::vector<std::string> load = next_load();
    if (load.empty()) {
      co_await work_.wait(async::worker::now() + seconds(1));
      continue;
    }
    std::vector<routed> commands;
    commands.reserve(load.size());
    for (std::string& each : load) commands.push_back({slot_, {publish_, channel_, std::move(each)}});
    const std::vector<response> said = co_await store_.ask(std::move(commands));
    const auto taken = static_cast<std::uint64_t>(std::ranges::count(said, response::kind::number, &response::kind));
    const std::lock_guard lock(guard_);
    counts_.sent += taken;
    counts_.lost += said.size() - taken;
  }
}

void courier::take(std::string_view message) {
  const auto read = read_mail(message);
  const bool own = read && read->from == name_;
  {
    const std::lock_guard lock(guard_);
    if (!read) ++counts_.strange;
    if (read && !own) ++counts_.heard;
  }
  if (read && !own) hear_(*read);
}

courier::counts courier::figures() const {
  const std::lock_guard lock(guard_);
  counts all = counts_;
  all.dropped += bag_.dropped();
  return all;
}

}  // namespace switchgear::peers::redis
