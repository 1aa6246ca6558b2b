// Something that waits for a child's answer.
#pragma once

#include "port/upstream.hpp"
#include "upstream/asked_requests.hpp"
#include "upstream/kept_message.hpp"

#include <string_view>

namespace switchgear::upstream {

/// A request on a child's pipes. Every function is called on the control worker; at the end exactly one of answered()
/// and failed(), unless the request was taken back.
class stdio_request {
 public:
  virtual ~stdio_request() = default;

  /// A client's request, not one of our own.
  virtual bool is_call() const { return false; }
  /// There is somebody who takes what the child says before its response.
  virtual bool has_listener() const { return false; }
  /// Open for as long as it goes well; its response is its end.
  virtual bool is_stream() const { return false; }

  /// Its line is about to be written. False: nobody waits any more, write nothing.
  virtual bool begin() = 0;
  virtual void heard(kept_message /*notification*/) {}
  virtual void asked(asked_request /*question*/) {}
  /// The child took back the question with this id (raw).
  virtual void withdrawn(std::string_view /*question*/) {}
  virtual void answered(kept_message response) = 0;
  /// `sent`: begin() said yes, so that the child may know of the request.
  virtual void failed(port::fault why, std::string_view detail, bool sent) = 0;
};

}  // namespace switchgear::upstream
