// Stored answers that replicas keep for each other in the Redis that keeps their breakers.
#pragma once

#include "peers/redis/answer_queue.hpp"
#include "peers/redis/bell.hpp"
#include "peers/redis/pace.hpp"
#include "peers/redis/shelf.hpp"
#include "peers/redis/store.hpp"
#include "port/answers.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Answers are written from time to time, so that what a replica tells is bounded whatever its clients ask, and looked
/// for at once. What cannot be told is dropped; while Redis is away nobody waits for it. Connections of its own.
/// Outlives the run of `io`.
class answers final : public port::answers {
 public:
  static constexpr duration write_every = std::chrono::milliseconds(50);
  static constexpr std::size_t answers_at_once = 64;
  static constexpr std::size_t bytes_at_once = 512 * 1024;
  static constexpr std::size_t most_waiting = 8 * 1024 * 1024;  // bytes that are to be written
  static constexpr std::size_t most_questions = 1000;           // waiting; more are not asked
  static constexpr std::size_t questions_at_once = 16;  // of what comes back that much is in memory at the same time

  /// `bytes`: of the answers of all replicas in Redis.
  answers(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, std::size_t bytes);

  void start();
  void stop();

  void store(const port::question_digest& asked, std::string_view result, duration life) override;
  boost::asio::awaitable<std::optional<found>> find(async::worker& on, port::question_digest asked, duration max_age,
                                                    async::interrupt& until) override;

  struct counts {
    std::uint64_t told = 0;        ///< answers that Redis took, or had a newer one for
    std::uint64_t dropped = 0;     ///< answers that found no place on the way, or were lost on it
    std::uint64_t asked = 0;       ///< questions
    std::uint64_t unanswered = 0;  ///< of these, without any word
  };
  /// Any thread.
  counts figures() const;

 private:
  struct question;
  using questions = std::map<port::question_digest, std::vector<std::shared_ptr<question>>>;

  boost::asio::awaitable<void> write_all();
  boost::asio::awaitable<void> write_some();
  time_point next_task(time_point now) const;
  boost::asio::awaitable<void> find_all();
  questions next_questions(time_point now);
  void answer(questions asked, std::vector<response> said);

  boost::asio::io_context& io_;
  const shelves shelves_;
  const duration look_;
  spread chance_;
  redis::store store_;
  bell writing_, finding_;
  pace pace_;  // of writing, while it fails
  time_point next_write_{};
  bool stopping_ = false;

  mutable std::mutex guard_;  // of what follows; never held for longer than a copy takes
  answer_queue queue_{most_waiting};
  questions asked_;
  std::size_t waiting_questions_ = 0;
  counts counts_;
};

}  // namespace switchgear::peers::redis
