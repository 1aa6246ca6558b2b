// A request that is no tools/call: prompts/get, resources/read, completion/complete, a resource's subscription.
#pragma once

#include "call/directory.hpp"
#include "port/breakers.hpp"
#include "port/call_handler.hpp"

#include <boost/asio/awaitable.hpp>

#include <string_view>

namespace switchgear::call {

struct errand {
  async::worker& on;
  port::breakers& breakers;
  const port::incoming_call& call;
  async::interrupt& interrupt;  ///< armed with the deadline
  port::event_sink* client;
  const tool& target;              ///< whose breakers guard it: the upstream's, for this method
  std::string_view original;       ///< the upstream's own name or URI; empty: the client's
  std::string_view request_state;  ///< raw, as the upstream wrote it; empty: none
};

/// How it went: the attempt's reply is the answer if it has a message, and `out` holds an error of our own if not.
/// There is no cascade for these: nothing else can stand in for a prompt or a resource.
struct attempt;
boost::asio::awaitable<void> run_errand(const errand& what, attempt& done, port::answer& out);

}  // namespace switchgear::call
