// The request of a tool step: the caller's call with other arguments.
#pragma once

#include "cascade/template.hpp"
#include "port/call_handler.hpp"
#include "port/upstream.hpp"

#include <string>
#include <string_view>

namespace switchgear::call {

/// Owns what an outgoing call points to. Not movable.
class step_request {
 public:
  step_request() = default;
  step_request(const step_request&) = delete;
  step_request& operator=(const step_request&) = delete;

  /// Builds the request from the caller's, with its `_meta` and the arguments that the template makes of the caller's.
  /// Errors: those of read_arguments, of json_template::fill (with *missing as there) and of protocol::peek.
  error_code build(const port::incoming_call& call, const cascade::json_template& arguments,
                   std::string* missing = nullptr);

  /// After build() without an error. `tool` is the upstream's name of the tool.
  port::outgoing_request outgoing(std::string_view tool, const port::client& client) const {
    return {.text = text_, .seen = &seen_, .target = tool, .client = client};
  }

 private:
  std::string text_;
  protocol::scratch scratch_;
  protocol::message seen_;
};

}  // namespace switchgear::call
