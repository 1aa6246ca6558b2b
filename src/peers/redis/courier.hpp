// Carries mails between replicas over one channel of Redis.
#pragma once

#include "peers/redis/bell.hpp"
#include "peers/redis/mail.hpp"
#include "peers/redis/mailbag.hpp"
#include "peers/redis/store.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// At most once, in order for each sender, and with no promise that it arrives: whoever is not connected does not hear
/// it, and what Redis did not take in time is not said twice. Connections of its own, since a long mail must not keep
/// anybody waiting. In a cluster the channel is a sharded one: an ordinary one would take each mail to every node.
class courier {
 public:
  /// `hear` gets the mails of others, on the control thread. Outlives the run of `io`.
  courier(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed,
          std::function<void(const mail&)> hear);

  void start();
  void stop();

  /// Any thread. A text that is too long is dropped.
  void send(enum mail::subject subject, std::string_view text);

  struct counts {
    std::uint64_t sent = 0;     ///< mails that Redis took
    std::uint64_t lost = 0;     ///< mails that it did not take, or of which it did not say so
    std::uint64_t dropped = 0;  ///< mails that were too long, or waited for too long, or were too many
    std::uint64_t heard = 0;    ///< mails of others
    std::uint64_t strange = 0;  ///< messages on the channel that are no mail
  };
  /// Any thread.
  counts figures() const;

 private:
  boost::asio::awaitable<void> deliver();
  std::vector<std::string> next_load();
  void take(std::string_view message);

  boost::asio::io_context& io_;
  const std::string name_;
  const std::string channel_;
  const unsigned slot_;
  const std::string publish_;
  const std::function<void(const mail&)> hear_;
  store store_;
  bell work_;
  bool stopping_ = false;

  mutable std::mutex guard_;  // of what follows; never held for longer than a copy takes
  mailbag bag_;
  counts counts_;
};

}  // namespace switchgear::peers::redis
