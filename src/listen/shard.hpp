// What one worker's connections share.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "listen/sessions.hpp"
#include "port/call_handler.hpp"
#include "port/recorder.hpp"
#include "port/settings.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::listen {

/// A tools/call under way, so that a cancellation which comes in on another connection finds it.
struct call_in_flight : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  std::string_view session;
  std::string_view id;  ///< raw
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
  listen::sessions& sessions;
  port::recorder& recorder;
  port::call_handler* handler = nullptr;
  class cancellations* cancellations = nullptr;

  std::shared_ptr<const std::string> tools;  ///< the result of tools/list
  list<call_in_flight> calls;
  list<idle_connection> idle;
  std::size_t connections = 0;
  bool draining = false;
};

/// Carries a cancellation to all workers; the call may be on any of them.
class cancellations {
 public:
  virtual void cancel(std::string_view session, std::string_view id) = 0;

 protected:
  ~cancellations() = default;
};

}  // namespace switchgear::listen
