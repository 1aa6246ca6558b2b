// The answer to one POST as server-sent events: opened by the first notification, ended by the answer.
// Source: MCP 2025-11-25 basic/transports "Sending Messages to the Server".
#pragma once

#include "async/timer_wheel.hpp"
#include "async/worker.hpp"
#include "base/parts.hpp"
#include "listen/client_stream.hpp"
#include "port/call_handler.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace switchgear::listen {

/// A client whose call brings no notification gets plain JSON, which costs less and which every client takes: the
/// stream is opened only when there is something to say before the answer. While it is open, a comment goes out every
/// 15 s, since clients and proxies give up on silent streams.
class event_stream final : public port::event_sink, private async::timer_node {
 public:
  event_stream(async::worker& on, client_stream& client) : on_(on), client_(client) {}

  void add(parts message) override;
  boost::asio::awaitable<void> flush() override;
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override;

  /// Something was said before the answer, sent already or not.
  bool used() const { return opened_ || !pending_.empty(); }

  /// Writes the answer as the last event and ends the body; opens the stream if need be. False if the client is gone.
  boost::asio::awaitable<bool> finish(parts answer);

 private:
  void fire() override;
  boost::asio::awaitable<void> write_chunk(parts message, bool last);

  static constexpr duration keep_alive = std::chrono::seconds(15);

  async::worker& on_;
  client_stream& client_;
  std::string pending_;  // events that were added and not yet sent
  std::string unsent_;   // the rest of a comment that the socket did not take whole
  bool opened_ = false;
  bool writing_ = false;
  bool broken_ = false;
};

}  // namespace switchgear::listen
