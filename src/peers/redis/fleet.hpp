// What replicas know of each other's clients, and of tools to be left alone, through the Redis that keeps their
// breakers.
#pragma once

#include "peers/redis/courier.hpp"
#include "peers/redis/pauses.hpp"
#include "peers/redis/sessions.hpp"
#include "port/fleet.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace switchgear::peers::redis {

/// Joins the parts: sessions and their secret, pauses, and messages. Nothing here fails when Redis is
/// slow, away or full of rubbish: looks are answered with not_known, and what cannot be told is dropped in the end.
class fleet final : public port::fleet {
 public:
  /// `own`: 32 bytes of chance, the secret of a fleet that has none yet. `seed` makes this replica's name, too.
  /// Outlives the run of `io`, the control thread's.
  fleet(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, std::string own);

  void start();
  void stop();

  void on_key(std::function<void(std::string_view)> hear) override { sessions_.on_key(std::move(hear)); }
  void keep(std::string_view session, duration idle) override { sessions_.keep(session, idle); }
  void forget(std::string_view session) override;
  void on_forgotten(std::function<void(std::string_view)> hear) override { forgotten_ = std::move(hear); }
  boost::asio::awaitable<port::presence> look(async::worker& on, std::string session) override {
    return sessions_.look(on, std::move(session));
  }
  void tell(std::string message) override { courier_.send(mail::subject::told, message); }
  void on_told(std::function<void(std::string_view)> hear) override { told_ = std::move(hear); }

  redis::pauses& pauses() { return pauses_; }

  struct counts {
    sessions::counts sessions;
    redis::pauses::counts pauses;
    courier::counts mails;
  };
  /// Since the start. Any thread.
  counts figures() const { return {sessions_.figures(), pauses_.figures(), courier_.figures()}; }

 private:
  void hear(const mail& from);

  std::function<void(std::string_view)> forgotten_;
  std::function<void(std::string_view)> told_;
  sessions sessions_;
  redis::pauses pauses_;
  courier courier_;
};

}  // namespace switchgear::peers::redis
