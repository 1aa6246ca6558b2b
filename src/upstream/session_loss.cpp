#include "upstream/session_loss.hpp"

#include "protocol/errors.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace switchgear::upstream {

namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool speaks_of_session(const port::reply& reply) {
  return in_lower_case(reply.body.view()).find("session") != std::string::npos;
}

// A call can fail because of a session that the tool has somewhere, so an answer must say very clearly which it means.
bool says_not_initialized(const port::reply& reply) {
  if (!reply.has_message || !reply.message.error) return false;
  const std::int64_t code = reply.message.error_code;
  const bool from_the_server = (-32019 <= code && code <= -32000) || code == protocol::code::invalid_request;
  if (!from_the_server) return false;
  constexpr std::array<std::string_view, 6> phrases{"not initialized", "not been initialized", "session not found",
                                                    "unknown session", "no valid session id",  "before initialization"};
  const std::string text = in_lower_case(reply.message.error.in(reply.body.view()));
  return std::ranges::any_of(phrases, [&](std::string_view one) { return text.find(one) != std::string::npos; });
}

// SDK servers refuse an unknown session before they read the request, so without its id.
bool names_no_request(const port::reply& reply) {
  protocol::scratch space;
  const auto seen = protocol::peek(reply.body.view(), space);
  if (!seen || !seen->error) return false;
  return !seen->id || seen->id.in(reply.body.view()) == "null";
}

}  // namespace

loss session_loss(const http_reply& got, bool has_id) {
  const port::reply& reply = got.reply;
  const bool refused = has_id && reply.fault == port::fault::bad_status;
  if (refused && reply.status == 404) return loss::unread;
  if (says_not_initialized(reply)) return loss::likely;
  if (!refused) return loss::none;
  switch (reply.status) {
    case 400:
      if (names_no_request(reply)) return loss::unread;
      return !reply.has_message || speaks_of_session(reply) ? loss::likely : loss::none;
    case 401:
      return !got.challenged && speaks_of_session(reply) ? loss::likely : loss::none;
    case 503:
      return speaks_of_session(reply) ? loss::likely : loss::none;
    default:
      return loss::none;
  }
}

loss era_loss(const http_reply& got) {
  const port::reply& reply = got.reply;
  if (says_not_initialized(reply)) return loss::likely;
  const bool has_error = reply.has_message && reply.message.error;
  if (has_error && reply.message.error_code == protocol::code::unsupported_version) return loss::unread;
  if (reply.fault != port::fault::bad_status || has_error) return loss::none;
  if (reply.status == 404 || reply.status == 405) return loss::unread;
  if (reply.status != 400) return loss::none;
  return names_no_request(reply) ? loss::unread : loss::likely;
}

}  // namespace switchgear::upstream
