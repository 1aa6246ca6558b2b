// The answer to one request as server-sent events: opened by the first message before the answer, ended by the answer.
// Source: MCP 2025-11-25 basic/transports "Sending Messages to the Server", "Listening for Messages".
#pragma once

#include "async/timer_wheel.hpp"
#include "async/worker.hpp"
#include "base/parts.hpp"
#include "listen/client_stream.hpp"
#include "listen/parked_answers.hpp"
#include "listen/questions.hpp"
#include "listen/sessions.hpp"
#include "port/call_handler.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace switchgear::listen {

/// A client whose call brings nothing before its answer gets plain JSON, which costs less and which every client takes:
/// the stream is opened only when there is something to say. While it is open, a comment goes out every 15 s, since
/// clients and proxies give up on silent streams.
class event_stream final : public port::event_sink, private async::timer_node {
 public:
  /// `asker` is the session whose client servers may ask; null: a client that cannot be asked.
  event_stream(async::worker& on, client_stream& client, listen::questions& questions, const session* asker)
      : on_(on), client_(client), questions_(questions), asker_(asker) {}
  ~event_stream();

  void add(parts message) override;
  boost::asio::awaitable<void> flush() override;
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override;

  void let_go() override;

  /// The client knows how to come back for an answer that its stream did not bring: the stream begins with an event
  /// that has an id, and `parked` keeps the answer under it. `release` gets the socket when let_go() ends the stream
  /// early.
  struct resumption {
    parked_answers* parked = nullptr;
    void (*release)(void* context, boost::asio::ip::tcp::socket socket) = nullptr;
    void* context = nullptr;
  };
  void resumes(resumption how) { resumption_ = how; }
  /// Adds events that were kept.
  void replay(std::string_view events) { pending_.append(events); }

  /// Raised as cancelled when the client turns out to be gone.
  void interrupts(async::interrupt& what) { interrupt_ = &what; }

  /// Sends the head and a comment at once: some clients wait for a first byte before they go on.
  boost::asio::awaitable<void> open();

  /// The client is gone: nothing more is written, and who still asks it something gets an error.
  void break_off();

  /// Something was said before the answer, sent already or not.
  bool used() const { return opened_ || !pending_.empty(); }

  /// Writes the answer as the last event and ends the body; opens the stream if need be. Without an answer only the
  /// body ends. False if the client is gone.
  boost::asio::awaitable<bool> finish(parts answer);

  /// Questions go out on this stream under its number.
  std::uint64_t number();

 private:
  void fire() override;
  bool is_away() const { return broken_ || let_go_; }
  void park(const parts& answer);
  boost::asio::awaitable<void> turn();
  boost::asio::awaitable<void> write_chunk(parts message, bool last);

  static constexpr duration keep_alive = std::chrono::seconds(15);

  async::worker& on_;
  client_stream& client_;
  listen::questions& questions_;
  const session* asker_;
  async::interrupt* interrupt_ = nullptr;
  std::unique_ptr<boost::asio::steady_timer> turn_;  // made when two writers meet for the first time
  std::string pending_;                              // events that were added and not yet sent
  std::string unsent_;                               // the rest of a comment that the socket did not take whole
  std::uint64_t number_ = 0;                         // 0: nothing was asked
  resumption resumption_;
  std::string first_id_;  // of the stream's first event, while the answer is owed; empty: it had none
  bool opened_ = false;
  bool writing_ = false;
  bool broken_ = false;
  bool letting_go_ = false;  // as soon as what is being written is out
  bool let_go_ = false;      // the stream has been ended before its answer
};

}  // namespace switchgear::listen
