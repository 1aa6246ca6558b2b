// What one worker's clients share, whatever carries their messages.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "listen/subscriber.hpp"
#include "port/call_handler.hpp"
#include "port/offer.hpp"
#include "port/recorder.hpp"
#include "port/settings.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace switchgear::listen {

class clientele;

/// A request under way, so that a cancellation which comes in another way finds it.
struct call_in_flight : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  std::string_view client;  ///< sender::client
  std::string_view id;      ///< raw
  async::interrupt* interrupt = nullptr;
};

/// A connection that waits for its next request, so that a drain can end it at once.
class idle_connection
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual void end() = 0;

 protected:
  ~idle_connection() = default;
};

/// Touched on its worker's thread only.
struct shard {
  template <class T>
  using list = boost::intrusive::list<T, boost::intrusive::constant_time_size<false>>;

  async::worker& on;
  const port::listen_settings& settings;
  clientele& all;
  port::recorder& recorder;
  port::call_handler& handler;

  std::shared_ptr<const port::offer> offer;
  list<call_in_flight> calls;
  list<idle_connection> idle;
  list<subscriber> streams;
  std::uint64_t streams_opened = 0;
  std::size_t connections = 0;
  bool draining = false;
};

}  // namespace switchgear::listen
