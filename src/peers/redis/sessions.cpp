#include "peers/redis/sessions.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

namespace {

constexpr duration at_least_every = std::chrono::seconds(1);
constexpr std::size_t notes_at_once = 512;
constexpr std::size_t looks_at_once = 1000;

void spawn(asio::io_context& io, asio::awaitable<void> task) {
  asio::co_spawn(io, std::move(task), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

}  // namespace

/// Belongs to the thread of its worker, which alone reads and changes it.
struct sessions::question {
  explicit question(async::worker& of) : on(of), limit(of.io) {}

  async::worker& on;
  asio::steady_timer limit;
  port::presence answer = port::presence::not_known;
};

sessions::sessions(asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, std::string own)
    : io_(io),
      prefix_(settings.prefix),
      chance_(seed),
      store_(io, settings, seed + 1, [](std::string_view) {}),
      writing_(io),
      looking_(io),
      key_(settings.prefix, std::move(own)) {
  store_.on_reach([this] {
    key_.look_again();
    writing_.ring();
  });
}

void sessions::start() {
  store_.start();
  spawn(io_, write_all());
  spawn(io_, look_up_all());
}

void sessions::stop() {
  store_.stop();
  asio::post(io_, [this] {
    stopping_ = true;
    writing_.ring();
    looking_.ring();
  });
}

void sessions::keep(std::string_view session, duration idle) {
  std::string key = session_key(prefix_, session);
  const time_point now = async::worker::now();
  {
    const std::lock_guard lock(guard_);
    notes_.keep(std::move(key), idle, now);
  }
  writing_.call();
}

void sessions::forget(std::string_view session) {
  std::string key = session_key(prefix_, session);
  const time_point now = async::worker::now();
  {
    const std::lock_guard lock(guard_);
    notes_.forget(std::move(key), now);
  }
  writing_.call();
}

asio::awaitable<port::presence> sessions::look(async::worker& on, std::string session) {
  std::string key = session_key(prefix_, session);
  const auto mine = std::make_shared<question>(on);
  mine->limit.expires_after(look_limit);
  {
    const std::lock_guard lock(guard_);
    ++counts_.looked;
    if (waiting_looks_ == most_looks) {
      ++counts_.unanswered;
      co_return port::presence::not_known;
    }
    ++waiting_looks_;
    asked_[std::move(key)].push_back(mine);
  }
  looking_.call();
  error_code ignored;
  co_await mine->limit.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  co_return mine->answer;
}

asio::awaitable<void> sessions::write_all() {
  while (!stopping_) {
    if (store_.usable() && key_.due(async::worker::now())) co_await agree();
    const bool try_now = !stopping_ && store_.usable() && pace_.due(async::worker::now());
    const bool more = try_now && co_await write_some();
    if (!more && !stopping_) co_await writing_.wait(next_task(async::worker::now()));
  }
}

time_point sessions::next_task(time_point now) const {
  const time_point idle = now + at_least_every;
  if (!store_.usable()) return idle;  // on_reach() rings
  const std::lock_guard lock(guard_);
  const time_point again = notes_.empty() ? idle : pace_.next();
  return std::min({idle, key_.next(), again});
}

asio::awaitable<void> sessions::agree() {
  duration memory{};
  {
    const std::lock_guard lock(guard_);
    memory = notes_.memory();
  }
  const std::vector<response> said = co_await store_.ask(key_.ask(memory, async::worker::now()));
  if (key_.hear(said)) {
    for (const auto& hear : key_heard_) hear(key_.known());
  }
}

// True: there may be more to write at once.
asio::awaitable<bool> sessions::write_some() {
  const time_point now = async::worker::now();
  std::vector<attendance::note> notes;
  {
    const std::lock_guard lock(guard_);
    notes = notes_.take(notes_at_once, now);
  }
  if (notes.empty()) co_return false;
  std::vector<routed> commands;
  std::vector<std::size_t> ends;
  for (const attendance::note& each : notes) {
    write_note(each, now, commands);
    ends.push_back(commands.size());
  }
  const std::vector<response> said = co_await store_.ask(std::move(commands));
  bool failed = false;
  {
    const std::lock_guard lock(guard_);
    for (std::size_t i = 0; i < notes.size(); ++i) {
      const auto kind = said[ends[i] - 1].kind;
      if (kind == response::kind::text || kind == response::kind::nil) {
        ++counts_.written;
      } else {
        notes_.put_back(std::move(notes[i]));
        failed = true;
      }
    }
  }
  if (failed) {
    pace_.tried(async::worker::now(), chance_);
  } else {
    pace_.achieved();
  }
  co_return !failed;
}

sessions::questions sessions::next_questions() {
  questions taken;
  const std::lock_guard lock(guard_);
  while (!asked_.empty() && taken.size() < looks_at_once) {
    const auto next = taken.insert(asked_.extract(asked_.begin()));
    waiting_looks_ -= next.position->second.size();
  }
  return taken;
}

asio::awaitable<void> sessions::look_up_all() {
  while (!stopping_) {
    questions asked = next_questions();
    if (asked.empty()) {
      co_await looking_.wait(async::worker::now() + at_least_every);
      continue;
    }
    std::vector<routed> commands;
    for (const auto& [key, who] : asked) commands.push_back(look_up(key));
    std::ranges::move(key_.ask_for_losses(), std::back_inserter(commands));
    std::vector<response> said = co_await store_.ask(std::move(commands));
    answer(std::move(asked), std::move(said));
  }
}

// `said`: one of each key, and the two about losses.
void sessions::answer(questions asked, std::vector<response> said) {
  const bool nothing_lost = shared_key::nothing_lost(said[said.size() - 2], said.back());
  std::uint64_t unanswered = 0;
  auto next = said.begin();
  for (auto& [key, who] : asked) {
    if (next->kind == response::kind::lost) unanswered += who.size();
    const port::presence found = read_note(*next++, nothing_lost);
    for (auto& each : who) {
      async::worker& on = each->on;
      asio::post(on.io, [found, to = std::move(each)] {
        to->answer = found;
        to->limit.cancel();
      });
    }
  }
  const std::lock_guard lock(guard_);
  counts_.unanswered += unanswered;
}

sessions::counts sessions::figures() const {
  const std::lock_guard lock(guard_);
  counts all = counts_;
  all.dropped = notes_.dropped();
  return all;
}

}  // namespace switchgear::peers::redis
