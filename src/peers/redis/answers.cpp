#include "peers/redis/answers.hpp"

#include "async/wait.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

namespace {

constexpr duration at_least_every = std::chrono::seconds(1);

void spawn(asio::io_context& io, asio::awaitable<void> task) {
  asio::co_spawn(io, std::move(task), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

}  // namespace

/// But for what never changes it belongs to the thread of its worker, which alone reads and changes it.
struct answers::question {
  question(async::worker& of, duration oldest, time_point end) : on(of), max_age(oldest), until(end), limit(of.io) {}

  async::worker& on;
  const duration max_age;
  const time_point until;
  asio::steady_timer limit;
  std::optional<found> answer;
};

answers::answers(asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, std::size_t bytes)
    : io_(io),
      shelves_(settings.prefix, bytes),
      look_(std::min(longest_look, settings.timeout)),
      chance_(seed),
      store_(io, settings, seed + 3, [](std::string_view) {}),
      writing_(io),
      finding_(io) {
  store_.on_reach([this] { writing_.ring(); });
}

void answers::start() {
  store_.start();
  spawn(io_, write_all());
  spawn(io_, find_all());
}

void answers::stop() {
  store_.stop();
  asio::post(io_, [this] {
    stopping_ = true;
    writing_.ring();
    finding_.ring();
  });
}

void answers::store(const port::question_digest& asked, std::string_view result, duration life) {
  if (result.empty() || result.size() > largest || life <= duration::zero()) return;
  const time_point now = async::worker::now();
  answer_queue::entry what{asked, std::string(result), now, now + life};
  bool was_empty = false;
  {
    const std::lock_guard lock(guard_);
    was_empty = queue_.empty();
    queue_.add(std::move(what));
  }
  // Later ones are written along with it.
  if (was_empty) writing_.call();
}

asio::awaitable<std::optional<port::answers::found>> answers::find(async::worker& on, port::question_digest asked,
                                                                   duration max_age, async::interrupt& until) {
  const time_point end = std::min(async::worker::now() + look_, until.deadline());
  const auto mine = std::make_shared<question>(on, max_age, end);
  mine->limit.expires_at(end);
  {
    const std::lock_guard lock(guard_);
    ++counts_.asked;
    if (waiting_questions_ == most_questions) {
      ++counts_.unanswered;
      co_return std::nullopt;
    }
    ++waiting_questions_;
    asked_[asked].push_back(mine);
  }
  finding_.call();
  co_await async::wait(mine->limit, until);
  co_return std::exchange(mine->answer, std::nullopt);
}

asio::awaitable<void> answers::write_all() {
  while (!stopping_) {
    const time_point now = async::worker::now();
    if (store_.usable() && now >= next_write_ && pace_.due(now)) co_await write_some();
    if (!stopping_) co_await writing_.wait(next_task(async::worker::now()));
  }
}

time_point answers::next_task(time_point now) const {
  const time_point idle = now + at_least_every;
  if (!store_.usable()) return idle;  // on_reach() rings
  const std::lock_guard lock(guard_);
  return queue_.empty() ? idle : std::max(pace_.next(), next_write_);
}

asio::awaitable<void> answers::write_some() {
  const time_point now = async::worker::now();
  std::vector<answer_queue::entry> taken;
  {
    const std::lock_guard lock(guard_);
    taken = queue_.take(answers_at_once, bytes_at_once, now);
  }
  if (taken.empty()) co_return;
  next_write_ = now + write_every;
  std::vector<routed> commands;
  commands.reserve(taken.size());
  for (auto& each : taken) {
    commands.push_back(shelves_.put(each.asked, std::move(each.result), now - each.given, each.until - now));
  }
  const std::vector<response> said = co_await store_.ask(std::move(commands));
  const auto told = static_cast<std::uint64_t>(
      std::ranges::count_if(said, [](const response& each) { return each.kind == response::kind::number; }));
  if (told == said.size()) {
    pace_.achieved();
  } else {
    pace_.tried(async::worker::now(), chance_);
  }
  const std::lock_guard lock(guard_);
  counts_.told += told;
  counts_.dropped += said.size() - told;
}

// Those whose callers have gone on are left out: their answers would only be bytes in memory.
answers::questions answers::next_questions(time_point now) {
  questions taken;
  const std::lock_guard lock(guard_);
  while (!asked_.empty() && taken.size() < questions_at_once) {
    auto next = asked_.extract(asked_.begin());
    auto& who = next.mapped();
    waiting_questions_ -= who.size();
    counts_.unanswered += std::erase_if(who, [now](const auto& each) { return each->until <= now; });
    if (!who.empty()) taken.insert(std::move(next));
  }
  return taken;
}

asio::awaitable<void> answers::find_all() {
  while (!stopping_) {
    questions asked = next_questions(async::worker::now());
    if (asked.empty()) {
      co_await finding_.wait(async::worker::now() + at_least_every);
      continue;
    }
    std::vector<routed> commands;
    for (const auto& [digest, who] : asked) {
      const auto& oldest = *std::ranges::max_element(who, {}, [](const auto& each) { return each->max_age; });
      commands.push_back(shelves_.find(digest, oldest->max_age));
    }
    std::vector<response> said = co_await store_.ask(std::move(commands));
    answer(std::move(asked), std::move(said));
  }
}

// `said`: one of each question.
void answers::answer(questions asked, std::vector<response> said) {
  std::uint64_t unanswered = 0;
  auto next = said.begin();
  for (auto& [digest, who] : asked) {
    if (next->kind == response::kind::lost) unanswered += who.size();
    const std::optional<found> got = shelves::read(std::move(*next++));
    for (auto& each : who) {
      async::worker& on = each->on;
      std::optional<found> mine = got && got->age <= each->max_age ? got : std::nullopt;
      asio::post(on.io, [mine = std::move(mine), to = std::move(each)]() mutable {
        to->answer = std::move(mine);
        to->limit.cancel();
      });
    }
  }
  const std::lock_guard lock(guard_);
  counts_.unanswered += unanswered;
}

answers::counts answers::figures() const {
  const std::lock_guard lock(guard_);
  counts all = counts_;
  all.dropped += queue_.dropped();
  return all;
}

}  // namespace switchgear::peers::redis
