// Progress of a call on its way back to the client, under the client's own token.
#pragma once

#include "port/upstream.hpp"

#include <string>
#include <string_view>

namespace switchgear::call {

/// Passes on notifications/progress with the client's token in the place of the gateway's, and drops everything else:
/// the gateway offers nothing but tools, so a client expects no other notification. Lives as long as the call.
class relay final : public port::notification_sink {
 public:
  /// `token` is the client's, raw. `client` must outlive this.
  relay(port::notification_sink& client, std::string_view token) : client_(client), token_(token) {}

  boost::asio::awaitable<void> on_notification(std::string_view text, const protocol::message& seen) override;

 private:
  port::notification_sink& client_;
  std::string_view token_;
  std::string rewritten_;
  protocol::scratch scratch_;
};

}  // namespace switchgear::call
