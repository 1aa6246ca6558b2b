#include "http/date.hpp"
#include "http/head.hpp"
#include "targets.hpp"

#include <chrono>
#include <string>

namespace switchgear::fuzz {

namespace {

bool lies_in(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

void http_head(std::string_view input) {
  std::size_t searched = 0;
  const auto end = http::find_head_end(input, searched);
  if (!end || *end == 0) return;
  must(*end <= input.size() && input.substr(0, *end).ends_with("\r\n\r\n"), "a head ends with an empty line");

  // The end is where it is, however the bytes came.
  std::size_t slowly = 0;
  for (std::size_t size = 1; size < *end && size < 200; ++size) {
    const auto early = http::find_head_end(input.substr(0, size), slowly);
    must(early && *early == 0, "a head that is not complete is waited for");
  }

  const std::string_view head = input.substr(0, *end);
  if (const auto request = http::read_request_head(head)) {
    must(lies_in(request->target, head) && lies_in(request->session_id, head), "views lie in the head");
    must(!(request->framing.chunked && request->framing.content_length), "one framing at most");
  }
  if (const auto response = http::read_response_head(head)) {
    must(lies_in(response->content_type, head) && lies_in(response->retry_after, head), "views lie in the head");
    must(!(response->framing.chunked && response->framing.content_length), "one framing at most");
    const auto wait = http::read_retry_after(response->retry_after, {});
    must(!wait || (*wait >= duration::zero() && *wait <= std::chrono::hours(24)), "a Retry-After is a day at most");
    must(response->status >= 100 && response->status <= 999, "a status has three digits");
  }
}

}  // namespace switchgear::fuzz
