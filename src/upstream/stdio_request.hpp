// Something that waits for a child's answer.
#pragma once

#include "base/buffer.hpp"
#include "port/upstream.hpp"
#include "protocol/message.hpp"

#include <string_view>

namespace switchgear::upstream {

/// A response or notification with the bytes that its views point into. The bytes belong to no pool, so that any thread
/// may free them.
struct stdio_message {
  buffer text;
  protocol::message seen;
};

/// A request on a child's pipes. Every function is called on the control worker; at the end exactly one of answered()
/// and failed(), unless the request was taken back.
class stdio_request {
 public:
  virtual ~stdio_request() = default;

  /// Its line is about to be written. False: nobody waits any more, write nothing.
  virtual bool begin() = 0;
  virtual void progressed(stdio_message notification) = 0;
  virtual void answered(stdio_message response) = 0;
  /// `sent`: begin() said yes, so that the child may know of the request.
  virtual void failed(port::fault why, std::string_view detail, bool sent) = 0;
};

}  // namespace switchgear::upstream
