// Which clients' sessions are alive, as all replicas know it through Redis, and the secret that belongs to them.
#pragma once

#include "async/worker.hpp"
#include "peers/redis/attendance.hpp"
#include "peers/redis/bell.hpp"
#include "peers/redis/pace.hpp"
#include "peers/redis/shared_key.hpp"
#include "peers/redis/store.hpp"
#include "port/fleet.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Writes attendance's notes down and reads them. What cannot be written now is tried again until it is of no use.
/// Connections of its own. Outlives the run of `io`.
class sessions {
 public:
  static constexpr duration look_limit = std::chrono::milliseconds(100);
  static constexpr std::size_t most_looks = 10'000;  // waiting; more are answered with not_known at once

  /// `own`: the secret of a fleet that has none yet, of shared_key::size bytes.
  sessions(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, std::string own);

  /// On the control thread. Before start().
  void on_key(std::function<void(std::string_view)> hear) { key_heard_.push_back(std::move(hear)); }
  void start();
  void stop();

  /// As in port::fleet. Any thread.
  void keep(std::string_view session, duration idle);
  void forget(std::string_view session);
  boost::asio::awaitable<port::presence> look(async::worker& on, std::string session);

  struct counts {
    std::uint64_t written = 0;     ///< notes that Redis took
    std::uint64_t dropped = 0;     ///< notes that found no place
    std::uint64_t looked = 0;      ///< sessions looked up
    std::uint64_t unanswered = 0;  ///< of these, without any answer
  };
  /// Any thread.
  counts figures() const;

 private:
  struct question;
  using questions = std::map<std::string, std::vector<std::shared_ptr<question>>>;  // by the session's key

  boost::asio::awaitable<void> write_all();
  boost::asio::awaitable<void> agree();
  boost::asio::awaitable<bool> write_some();
  time_point next_task(time_point now) const;
  boost::asio::awaitable<void> look_up_all();
  questions next_questions();
  void answer(questions asked, std::vector<response> said);

  boost::asio::io_context& io_;
  const std::string prefix_;
  std::vector<std::function<void(std::string_view)>> key_heard_;
  spread chance_;
  store store_;
  bell writing_, looking_;
  shared_key key_;
  pace pace_;  // of writing, while it fails
  bool stopping_ = false;

  mutable std::mutex guard_;  // of what follows; never held for longer than a copy takes
  attendance notes_;
  questions asked_;
  std::size_t waiting_looks_ = 0;
  counts counts_;
};

}  // namespace switchgear::peers::redis
