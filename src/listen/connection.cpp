#include "listen/connection.hpp"

#include "http/chunks.hpp"
#include "http/errc.hpp"
#include "listen/errc.hpp"
#include "listen/mcp_endpoint.hpp"
#include "listen/principal.hpp"
#include "protocol/errors.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;
namespace code = protocol::code;

namespace {

// How long a connection keeps its buffer after an answer: a busy client sends its next request within this.
constexpr duration warm_time = std::chrono::milliseconds(200);
constexpr std::size_t piece = 16 * 1024;  // by which a buffer grows that turns out too small

class connection final : private idle_connection {
 public:
  connection(shard& here, asio::ip::tcp::socket socket) : here_(here), client_(here.on, std::move(socket)) {
    ++here_.connections;
    here_.recorder.connections(here_.on.index, 1);
  }
  ~connection() {
    --here_.connections;
    here_.recorder.connections(here_.on.index, -1);
  }

  /// True once bytes of a request are there.
  asio::awaitable<bool> wait_for_request();
  /// True if another request may follow.
  asio::awaitable<bool> serve_request();

 private:
  void end() override { client_.close(); }

  asio::awaitable<bool> serve_get(const http::request_head& head, std::string_view principal, std::size_t request_end);
  asio::awaitable<result<std::size_t>> read_head(time_point due);
  asio::awaitable<error_code> read_body(const http::framing& framing, std::size_t head_end, time_point due,
                                        std::size_t& body_size, std::size_t& request_end);
  asio::awaitable<error_code> read_chunked(std::size_t head_end, time_point due, std::size_t& body_size,
                                           std::size_t& request_end);
  asio::awaitable<error_code> read_more(time_point due);
  asio::awaitable<void> refuse_and_close(const http::request_head& head, const refused_request& why);
  asio::awaitable<void> refuse_bad_head(error_code why);

  shard& here_;
  client_stream client_;
  buffer received_;  // from the first byte of the present request
};

asio::awaitable<bool> connection::wait_for_request() {
  if (!received_.empty()) co_return true;  // the next one came with the last
  here_.idle.push_back(*this);
  if (!received_.data()) received_ = here_.on.buffers.take();
  auto got = co_await client_.read_some(received_.data(), received_.capacity(), async::worker::now() + warm_time);
  if (!got && got.error() == errc::timed_out) {
    received_ = {};
    if (co_await client_.wait_readable(async::worker::now() + idle_time)) co_return false;
    received_ = here_.on.buffers.take();
    got = co_await client_.read_some(received_.data(), received_.capacity(), async::worker::now() + warm_time);
  }
  if (!got) co_return false;
  received_.resize(*got);
  idle_connection::unlink();
  co_return true;
}

asio::awaitable<error_code> connection::read_more(time_point due) {
  if (received_.capacity() - received_.size() < 1024) received_.reserve(received_.size() + piece);
  const auto got =
      co_await client_.read_some(received_.data() + received_.size(), received_.capacity() - received_.size(), due);
  if (!got) co_return got.error();
  received_.resize(received_.size() + *got);
  co_return error_code{};
}

asio::awaitable<result<std::size_t>> connection::read_head(time_point due) {
  std::size_t searched = 0;
  for (;;) {
    const auto end = http::find_head_end(received_.view(), searched);
    if (!end || *end != 0) co_return end;
    if (const error_code failed = co_await read_more(due)) co_return failed;
  }
}

asio::awaitable<error_code> connection::read_chunked(std::size_t head_end, time_point due, std::size_t& body_size,
                                                     std::size_t& request_end) {
  http::chunk_reader chunks;
  std::size_t decoded_end = head_end;  // payload ends here, bytes not yet decoded begin here
  for (;;) {
    const std::size_t fresh = received_.size() - decoded_end;
    const auto decoded = chunks.decode(received_.data() + decoded_end, fresh);
    if (!decoded) co_return decoded.error();
    const std::size_t left = fresh - decoded->consumed;
    if (chunks.done()) {
      // What follows belongs to the next request; it must stand behind the payload that has been moved together.
      std::copy_n(received_.data() + decoded_end + decoded->consumed, left,
                  received_.data() + decoded_end + decoded->produced);
    }
    decoded_end += decoded->produced;
    received_.resize(decoded_end + left);
    body_size = decoded_end - head_end;
    request_end = decoded_end;
    if (body_size > here_.settings.max_request) co_return make_error_code(errc::too_large);
    if (chunks.done()) co_return error_code{};
    if (const error_code failed = co_await read_more(due)) co_return failed;
  }
}

asio::awaitable<error_code> connection::read_body(const http::framing& framing, std::size_t head_end, time_point due,
                                                  std::size_t& body_size, std::size_t& request_end) {
  if (framing.chunked) co_return co_await read_chunked(head_end, due, body_size, request_end);
  body_size = static_cast<std::size_t>(framing.content_length.value_or(0));
  request_end = head_end + body_size;
  if (request_end > received_.capacity()) received_.reserve(request_end);
  while (received_.size() < request_end) {
    if (const error_code failed = co_await read_more(due)) co_return failed;
  }
  co_return error_code{};
}

asio::awaitable<void> connection::refuse_and_close(const http::request_head& head, const refused_request& why) {
  http_reply reply(here_, client_, head, false);
  if (!co_await reply.refuse(why, protocol::no_id)) co_await client_.linger();
}

asio::awaitable<void> connection::refuse_bad_head(error_code why) {
  refused_request refused{400, code::invalid_request, "malformed HTTP request"};
  if (why == errc::closed) co_return;
  if (why == errc::timed_out) refused = {408, code::invalid_request, "the request took too long to arrive"};
  if (why == http::errc::head_too_large) refused = {431, code::too_large, "HTTP head too large"};
  co_await refuse_and_close({}, refused);
}

asio::awaitable<bool> connection::serve_request() {
  const time_point arrived = async::worker::now();
  const time_point due = arrived + request_time;
  const auto head_end = co_await read_head(due);
  if (!head_end) {
    co_await refuse_bad_head(head_end.error());
    co_return false;
  }
  // The head is read again once the body is there: a growing buffer moves, and the views of the head with it.
  auto head = http::read_request_head(received_.view().substr(0, *head_end));
  if (!head) {
    co_await refuse_bad_head(head.error());
    co_return false;
  }
  const bool has_body = head->framing.chunked || head->framing.content_length.value_or(0) != 0;
  refused_request refused = mcp_endpoint::check(*head, here_.settings);
  std::string principal;
  if (refused.status == 0) refused = identify(received_.view().substr(0, *head_end), here_.settings, principal);
  if (refused.status == 0 && head->framing.content_length.value_or(0) > here_.settings.max_request) {
    refused = {413, code::too_large, "the request is larger than max_request", {}, port::refusal::too_large};
  }
  if (refused.status != 0 && !has_body) {
    http_reply reply(here_, client_, *head, head->framing.keep_alive);
    const bool keep = co_await reply.refuse(refused, protocol::no_id);
    received_.drop_front(*head_end);
    co_return keep;
  }
  if (refused.status != 0) {
    co_await refuse_and_close(*head, refused);
    co_return false;
  }
  if (head->expects_continue && received_.size() == *head_end) {
    parts go_on;
    go_on.push_back("HTTP/1.1 100 Continue\r\n\r\n");
    if (co_await client_.write(std::move(go_on))) co_return false;
  }

  std::size_t body_size = 0;
  std::size_t request_end = 0;
  const char* const before = received_.data();
  const error_code failed = co_await read_body(head->framing, *head_end, due, body_size, request_end);
  if (received_.data() != before) head = http::read_request_head(received_.view().substr(0, *head_end));
  if (failed == errc::too_large) {
    co_await refuse_and_close(
        *head, {413, code::too_large, "the request is larger than max_request", {}, port::refusal::too_large});
    co_return false;
  }
  if (failed) {
    co_await refuse_bad_head(failed);
    co_return false;
  }

  if (head->method == "GET") co_return co_await serve_get(*head, principal, request_end);
  mcp_endpoint endpoint(here_, client_, *head, received_.view().substr(0, *head_end), principal,
                        received_.size() == request_end);
  const std::string_view body = received_.view().substr(*head_end, body_size);
  const bool keep = head->method == "POST" ? co_await endpoint.post(body, arrived) : co_await endpoint.end_session();
  received_.drop_front(request_end);
  co_return keep;
}

asio::awaitable<bool> connection::serve_get(const http::request_head& head, std::string_view principal,
                                            std::size_t request_end) {
  bool keep = false;
  const auto wanted = co_await mcp_endpoint(here_, client_, head, {}, principal, true).session_of_stream(keep);
  if (!wanted) {
    received_.drop_front(request_end);
    co_return keep;
  }
  std::string id(head.last_event_id);
  received_ = {};  // most streams are silent for hours
  if (id.empty()) {
    co_await serve_stream(here_, client_, wanted);
  } else {
    co_await serve_parked(here_, client_, wanted, std::move(id));
  }
  co_return false;
}

}  // namespace

asio::awaitable<void> serve_connection(shard& here, asio::ip::tcp::socket socket) {
  connection self(here, std::move(socket));
  while (co_await self.wait_for_request()) {
    if (!co_await self.serve_request()) break;
  }
}

}  // namespace switchgear::listen
