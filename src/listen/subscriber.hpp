// A client's open stream, for messages that belong to none of its requests.
// Source: MCP 2025-11-25 basic/transports "Listening for Messages"; 2026-07-28 basic/patterns/subscriptions.
#pragma once

#include "async/worker.hpp"
#include "listen/sessions.hpp"
#include "port/call_handler.hpp"
#include "protocol/subscription.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::listen {

/// Lives on its worker, in the coroutine that writes the stream. What is pushed waits here until that coroutine takes
/// it; a client that reads too slowly loses its stream, not some of its messages.
class subscriber : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// A legacy client's: it hears of every list, and of what its session subscribed to.
  subscriber(async::worker& on, std::shared_ptr<listen::session> session);
  /// A modern client's: it hears of what the filter names, tagged with its request's id (raw).
  subscriber(async::worker& on, std::string id, protocol::subscription_filter filter);

  const protocol::subscription_filter& filter() const { return filter_; }

  /// Tells of lists that changed, as far as they are wanted here.
  void tell(const protocol::list_changes& changed);
  /// Tells of a resource that changed, if the filter names it. (What a legacy client's session subscribed to is
  /// pushed.)
  void tell_updated(std::string_view uri);
  /// A whole message.
  void push(std::string message);

  /// The stream ends once what was pushed before has been sent; deliver() then completes.
  void end();

  /// Passes on to `client` what is pushed, until end(), an overflow, or `until` is raised.
  boost::asio::awaitable<void> deliver(port::event_sink& client, async::interrupt& until);

  /// Bytes that may wait for a slow reader.
  static constexpr std::size_t most_waiting = 256 * 1024;

  std::uint64_t mark = 0;  ///< given by the clientele

 private:
  std::shared_ptr<listen::session> session_;
  std::string id_;
  protocol::subscription_filter filter_;
  boost::asio::steady_timer wake_;
  std::vector<std::string> waiting_;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace switchgear::listen
