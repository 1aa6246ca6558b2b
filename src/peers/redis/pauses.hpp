// Which tools are to be left alone, as all replicas know it through Redis.
#pragma once

#include "peers/redis/bell.hpp"
#include "peers/redis/pace.hpp"
#include "peers/redis/pause_log.hpp"
#include "peers/redis/store.hpp"
#include "port/pauses.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

namespace switchgear::peers::redis {

/// Writes into the log and reads it: when another replica says that it has written, once a second in any case, and from
/// its beginning when Redis has come (back). What comes in a burst is written together. Connections of its own.
/// Outlives the run of `io`.
class pauses final : public port::pauses {
 public:
  static constexpr duration write_every = std::chrono::milliseconds(20);

  /// `written`: something new stands in the log, which the other replicas should hear; on the control thread.
  pauses(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed,
         std::function<void()> written);

  void start();
  void stop();

  void tell(std::string_view name, duration length) override;
  void on_told(std::function<void(std::string_view name, duration left)> hear) override { hear_ = std::move(hear); }

  /// What stood in the log at the start is known. Any thread.
  bool known() const { return known_.load(std::memory_order_relaxed); }

  /// Another replica has written. Control thread.
  void look();

  struct counts {
    std::uint64_t written = 0;  ///< notes that Redis took
    std::uint64_t dropped = 0;  ///< notes that found no place
    std::uint64_t heard = 0;    ///< entries that were in force, our own included
  };
  /// Any thread.
  counts figures() const;

 private:
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> write_some();
  boost::asio::awaitable<void> read_some();
  time_point next_task(time_point now) const;

  boost::asio::io_context& io_;
  const std::function<void()> written_;
  std::function<void(std::string_view, duration)> hear_ = [](std::string_view, duration) {};
  spread chance_;
  store store_;
  bell work_;
  pace pace_;  // of writing, while it fails
  time_point next_write_{}, next_look_{};
  std::atomic<bool> known_ = false;
  bool anew_ = false;  // what is read next may be another store
  bool stopping_ = false;

  mutable std::mutex guard_;  // of what follows; never held for longer than a copy takes
  pause_log log_;             // but for what it knows of reading, which is the control thread's own
  counts counts_;
};

}  // namespace switchgear::peers::redis
