// The key by which a tool knows a call again, so that a repeated one has no second effect.
#pragma once

#include "call/directory.hpp"
#include "port/call_handler.hpp"
#include "protocol/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::call {

/// Keys that no other gateway makes: 128 random bits of its own, and a number. One per worker.
class key_maker {
 public:
  key_maker();
  std::string next();

 private:
  std::string own_;
  std::uint64_t made_ = 0;
};

/// A call to a tool that takes an idempotency key as an argument (tool::idempotency_key). A key of the caller's own
/// stays; a call without one gets one, which is the same in all of its tries. Not movable.
class keyed_request {
 public:
  keyed_request() = default;
  keyed_request(const keyed_request&) = delete;
  keyed_request& operator=(const keyed_request&) = delete;

  /// Whether the call goes out with a key. Only for a tool that takes one.
  bool make(const port::incoming_call& call, const tool& called, key_maker& keys);

  /// The request to send: the caller's own if nothing had to be added.
  std::string_view text(const port::incoming_call& call) const { return text_.empty() ? call.text : text_.view(); }
  const protocol::message* seen(const port::incoming_call& call) const { return text_.empty() ? call.seen : &seen_; }

 private:
  buffer text_;
  protocol::scratch space_;
  protocol::message seen_;
};

}  // namespace switchgear::call
