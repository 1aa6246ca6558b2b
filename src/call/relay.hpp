// Progress of a call on its way back to the client, under the client's own token.
#pragma once

#include "port/call_handler.hpp"
#include "port/upstream.hpp"

#include <string_view>

namespace switchgear::call {

/// Passes on notifications/progress with the client's token in the place of the gateway's, and drops everything else:
/// the gateway offers nothing but tools, so a client expects no other notification. Lives as long as the call.
class relay final : public port::client_side {
 public:
  /// `token` is the client's, raw. `client` must outlive this.
  relay(port::event_sink& client, std::string_view token) : client_(client), token_(token) {}

  void take(std::string_view text, const protocol::message& seen) override;
  boost::asio::awaitable<void> flush() override { return client_.flush(); }
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override {
    return client_.ask(text, seen, until);
  }

 private:
  port::event_sink& client_;
  std::string_view token_;
};

}  // namespace switchgear::call
