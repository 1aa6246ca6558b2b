#include "peers/redis/fleet.hpp"

#include <utility>

namespace switchgear::peers::redis {

fleet::fleet(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed, std::string own)
    : sessions_(io, settings, seed, std::move(own)),
      pauses_(io, settings, seed, [this] { courier_.send(mail::subject::noted, {}); }),
      courier_(io, settings, seed, [this](const mail& from) { hear(from); }) {}

void fleet::start() {
  sessions_.start();
  pauses_.start();
  courier_.start();
}

void fleet::stop() {
  sessions_.stop();
  pauses_.stop();
  courier_.stop();
}

void fleet::forget(std::string_view session) {
  sessions_.forget(session);
  courier_.send(mail::subject::ended, session);
}

void fleet::hear(const mail& from) {
  switch (from.subject) {
    case mail::subject::told:
      if (told_) told_(from.text);
      break;
    case mail::subject::ended:
      if (forgotten_) forgotten_(from.text);
      break;
    case mail::subject::noted:
      pauses_.look();
      break;
  }
}

}  // namespace switchgear::peers::redis
