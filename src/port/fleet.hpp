// Seam: what replicas know of each other's clients. Their breakers are port::board's.
#pragma once

#include "async/worker.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace switchgear::port {

/// Whether a client's session is alive somewhere in the fleet.
enum class presence : std::uint8_t {
  alive,
  gone,       ///< ended
  unnoted,    ///< nobody says so: it was idle for too long, or is so young that the note of it is still on its way
  not_known,  ///< nobody answered in time, or whoever did has lost what was written
};

/// Nothing here may be waited for by a call for more than `look` says, and nothing is certain to arrive: a replica that
/// is alone goes on with what it knows itself.
class fleet {
 public:
  virtual ~fleet() = default;

  /// One more that hears the secret that all replicas share (32 bytes), as soon as it is known and whenever it changes.
  /// On the control thread. Before start.
  virtual void on_key(std::function<void(std::string_view key)> hear) = 0;

  /// Notes that the session is in use: alive for `idle` from now on. Any thread; never waits. To be called no more
  /// often than needed (once in a quarter of `idle` for a session).
  virtual void keep(std::string_view session, duration idle) = 0;
  /// The session has ended: no replica shall serve it any more. Any thread; never waits.
  virtual void forget(std::string_view session) = 0;
  /// Hears which sessions other replicas have forgotten. On the control thread. Before start.
  virtual void on_forgotten(std::function<void(std::string_view session)>) {}
  /// Is the session alive? Answers within 100 ms, on `on`'s own thread.
  virtual boost::asio::awaitable<presence> look(async::worker& on, std::string session) = 0;

  /// Tells all other replicas; a message is at most 1 MiB, a longer one is dropped. Any thread; never waits.
  virtual void tell(std::string message) = 0;
  /// Hears what other replicas told. On the control thread. Before start.
  virtual void on_told(std::function<void(std::string_view message)> hear) = 0;
};

}  // namespace switchgear::port
