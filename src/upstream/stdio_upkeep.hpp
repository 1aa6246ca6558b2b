// What a child is asked besides calls: its lists, and the news that it has.
// Source: MCP 2025-11-25 server/resources "Subscriptions"; 2026-07-28 subscriptions/listen.
#pragma once

#include "base/time.hpp"
#include "upstream/handshake.hpp"
#include "upstream/observer.hpp"
#include "upstream/stdio_greeting.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::upstream {

/// For one child, from its greeting to its end: a new child is asked everything anew. Control worker.
class stdio_upkeep {
 public:
  struct needs {
    stdio_asking asking;
    server_hello hello;
    protocol::era era;
    duration refresh;                      ///< how often lists are asked for when nobody says that they changed
    const std::set<std::string>& watched;  ///< URIs; what is wanted at the moment
    std::function<void(listing offer)> listed;
    std::function<void(std::string_view uri)> updated;  ///< whoever watches has to look: it may have changed unseen
    std::function<void(std::string line)> remark;
    std::function<void()> due_changed;  ///< due() may be sooner than it was
  };

  explicit stdio_upkeep(needs with);
  ~stdio_upkeep();

  /// Asks for all lists. False: `why` is one line, and nothing was told.
  boost::asio::awaitable<bool> list(std::string& why);

  void list_changed();
  /// The child has begun to say what the stream with this raw id asks for; empty: it does not say which one.
  void acknowledged(std::string_view stream_id);

  /// When tend() has something to do.
  time_point due() const;
  /// Does what is due at `now`.
  boost::asio::awaitable<void> tend(time_point now);

 private:
  class stream;

  bool may_watch() const;
  time_point news_due() const;
  boost::asio::awaitable<void> watch();
  boost::asio::awaitable<bool> watch(const std::string& uri, bool begin);
  void listen(time_point now);
  void stream_ended(const stream& which, bool refused);

  needs with_;
  time_point listed_at_{};
  bool list_changed_ = false;
  std::set<std::string> told_;   // the URIs that the child was told to watch
  std::set<std::string> fresh_;  // those of them whose changes may have been missed so far
  std::shared_ptr<stream> stream_;
  time_point stream_due_{};
  duration stream_pause_;
  bool streams_ = true;
  bool remarked_watch_ = false;
};

}  // namespace switchgear::upstream
