#include "upstream/http_exchange.hpp"

#include "http/errc.hpp"
#include "http/media_type.hpp"
#include "protocol/text.hpp"
#include "upstream/errc.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr std::size_t piece = 32 * 1024;
constexpr std::string_view json_type = "application/json";
constexpr std::string_view events_type = "text/event-stream";
constexpr std::size_t most_failure_body = 64 * 1024;
constexpr std::size_t most_shown = 300;

std::optional<duration> read_retry_after(std::string_view text) {
  // Seconds only: a date would need a clock that both sides agree on. A day is longer than any sensible pause.
  constexpr long long most_seconds = 24 * 60 * 60;
  long long seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, most_seconds));
}

std::string shown(std::string_view body) {
  std::string text(protocol::head(body, most_shown));
  std::ranges::replace_if(text, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, ' ');
  return text;
}

// A server may end its event stream a moment after the answer. Waiting for that end here, and not in the call, gives
// the client its answer at once and still keeps the connection.
asio::awaitable<void> finish_body(async::worker& on, connection_pool& pool, std::unique_ptr<stream> connection,
                                  http::chunk_reader chunks) {
  async::interrupt limit(on.timers);
  limit.arm(async::worker::now() + std::chrono::seconds(1));
  buffer rest = on.buffers.take();
  for (std::size_t total = 0; !chunks.done() && total < most_failure_body;) {
    const auto got = co_await connection->read_some(rest.data(), rest.capacity(), limit);
    if (!got) break;
    const auto decoded = chunks.decode(rest.data(), *got);
    if (!decoded || decoded->consumed != *got) break;
    total += *got;
    if (chunks.done()) {
      pool.give(std::move(connection), async::worker::now());
      co_return;
    }
  }
  pool.closed();
}

}  // namespace

void http_exchange::fail(port::reply& reply, error_code why) {
  using port::fault;
  if (why == errc::interrupted) {
    if (interrupt_.why() != async::interrupt::reason::deadline) {
      reply.fault = fault::cancelled;
    } else if (!reply.sent) {
      reply.fault = fault::deadline_before_send;
    } else {
      reply.fault = reply.head_seen ? fault::deadline_after_head : fault::deadline;
    }
  } else if (why == errc::resolve_failed) {
    reply.fault = fault::resolve_failed;
  } else if (why == errc::tls_failed) {
    reply.fault = fault::tls_failed;
  } else if (why == errc::too_large) {
    reply.fault = fault::too_large;
  } else if (why == errc::end_of_stream || why == errc::broken || why == errc::connect_failed) {
    reply.fault = reply.sent ? fault::lost : fault::connect_failed;
  } else {
    reply.fault = fault::bad_message;
  }
  if (reply.detail.empty()) reply.detail = why.message();
}

asio::awaitable<bool> http_exchange::connect(port::reply& reply) {
  if (!pool_.may_open()) {
    reply.fault = port::fault::overloaded;
    reply.detail = "every allowed connection to " + endpoint_.address.authority + " is in use";
    co_return false;
  }
  connection_ = std::make_unique<stream>(on_);
  pool_.opened();
  const error_code failed = co_await connection_->connect(endpoint_.address, endpoint_.tls.get(),
                                                          endpoint_.connect_timeout, interrupt_, reply.detail);
  if (failed) fail(reply, failed);
  co_return !failed;
}

asio::awaitable<bool> http_exchange::send(const http_request& request, port::reply& reply) {
  char length[24];
  const auto [end, error] = std::to_chars(length, length + 20, total_size(request.body));
  const std::string_view end_of_head = "\r\n\r\n";
  std::copy(end_of_head.begin(), end_of_head.end(), end);
  parts pieces;
  pieces.push_back(request.head);
  pieces.push_back({length, static_cast<std::size_t>(end - length) + end_of_head.size()});
  pieces.insert(pieces.end(), request.body.begin(), request.body.end());

  connection_ = pool_.take();
  const bool kept = connection_ != nullptr;
  if (!kept && !co_await connect(reply)) co_return false;
  error_code failed = co_await connection_->write(pieces, interrupt_, reply.sent);
  if (failed && kept && !reply.sent && failed != errc::interrupted) {
    connection_.reset();
    pool_.closed();
    if (!co_await connect(reply)) co_return false;
    failed = co_await connection_->write(pieces, interrupt_, reply.sent);
  }
  if (failed) fail(reply, failed);
  co_return !failed;
}

asio::awaitable<bool> http_exchange::read_head(http_reply& out) {
  std::size_t searched = 0;
  received_ = on_.buffers.take();
  for (;;) {
    const auto end = http::find_head_end(received_.view(), searched);
    if (!end) {
      out.reply.detail = "answer from " + endpoint_.address.authority + ": " + end.error().message();
      fail(out.reply, make_error_code(errc::bad_head));
      co_return false;
    }
    if (*end == 0) {
      if (received_.size() + 1024 > received_.capacity()) received_.reserve(received_.size() + piece);
      const auto got = co_await connection_->read_some(received_.data() + received_.size(),
                                                       received_.capacity() - received_.size(), interrupt_);
      if (!got) {
        fail(out.reply, got.error());
        co_return false;
      }
      received_.resize(received_.size() + *got);
      continue;
    }
    const auto head = http::read_response_head(received_.view().substr(0, *end));
    if (!head) {
      out.reply.detail = "answer from " + endpoint_.address.authority + ": " + head.error().message();
      fail(out.reply, make_error_code(errc::bad_head));
      co_return false;
    }
    if (head->status >= 100 && head->status < 200 && head->status != 101) {
      received_.drop_front(*end);
      searched = 0;
      continue;
    }
    out.reply.head_seen = true;
    out.reply.status = status_ = head->status;
    out.reply.retry_after = read_retry_after(head->retry_after);
    out.session_id.assign(head->session_id);
    take_type(*head);
    if (head->status >= 300 && head->status < 400) {
      out.reply.detail = "redirects to " + shown(head->location) + ", which is not followed";
    }
    framing_ = head->framing;
    received_.drop_front(*end);
    if (http::has_no_body(head->status)) framing_ = {.content_length = 0, .keep_alive = framing_.keep_alive};
    if (!framing_.chunked && !framing_.content_length) reusable_ = false;
    if (framing_.content_length == 0) body_done_ = true;
    co_return decode_new(0, out.reply);
  }
}

// The two types that nearly every answer has are compared once and cost no allocation.
void http_exchange::take_type(const http::response_head& head) {
  const bool plain = head.content_encoding.empty() || http::same_text(head.content_encoding, "identity");
  if (plain && http::is_media_type(head.content_type, json_type)) {
    media_type_ = json_type;
  } else if (plain && http::is_media_type(head.content_type, events_type)) {
    media_type_ = events_type;
  } else {
    other_type_ = head.content_type;
    if (!plain) other_type_ += " (content-encoding " + std::string(head.content_encoding) + ")";
    media_type_ = other_type_;
  }
}

bool http_exchange::decode_new(std::size_t from, port::reply& reply) {
  const std::size_t fresh = received_.size() - from;
  if (framing_.chunked) {
    const auto decoded = chunks_.decode(received_.data() + from, fresh);
    if (!decoded) {
      reply.detail = decoded.error().message();
      fail(reply, make_error_code(errc::bad_head));
      return false;
    }
    if (decoded->consumed != fresh) reusable_ = false;
    received_.resize(from + decoded->produced);
    body_read_ += decoded->produced;
    body_done_ = chunks_.done();
    return true;
  }
  body_read_ += fresh;
  if (framing_.content_length && body_read_ >= *framing_.content_length) {
    const std::uint64_t beyond = body_read_ - *framing_.content_length;
    if (beyond != 0) reusable_ = false;
    received_.resize(received_.size() - static_cast<std::size_t>(beyond));
    body_read_ -= beyond;
    body_done_ = true;
  }
  return true;
}

asio::awaitable<bool> http_exchange::fill(port::reply& reply) {
  std::size_t room = piece;
  if (framing_.content_length) {
    room = static_cast<std::size_t>(std::min<std::uint64_t>(*framing_.content_length - body_read_, 1024 * 1024));
  }
  if (received_.capacity() - received_.size() < room) {
    received_.reserve(std::max(received_.size() + room, received_.size() * 2));
  }
  const std::size_t from = received_.size();
  const auto got = co_await connection_->read_some(received_.data() + from, received_.capacity() - from, interrupt_);
  if (!got) {
    const bool until_end = !framing_.chunked && !framing_.content_length;
    if (until_end && got.error() == errc::end_of_stream) {
      body_done_ = true;
      co_return true;
    }
    fail(reply, got.error());
    co_return false;
  }
  received_.resize(from + *got);
  co_return decode_new(from, reply);
}

asio::awaitable<bool> http_exchange::read_whole_body(port::reply& reply, std::size_t limit) {
  if (framing_.content_length && *framing_.content_length > limit) {
    reply.detail =
        "an answer of " + std::to_string(*framing_.content_length) + " bytes; the limit is " + std::to_string(limit);
    fail(reply, make_error_code(errc::too_large));
    co_return false;
  }
  if (framing_.content_length && !body_done_) received_.reserve(static_cast<std::size_t>(*framing_.content_length));
  while (!body_done_ && received_.size() <= limit) {
    if (!co_await fill(reply)) co_return false;
  }
  if (received_.size() > limit) {
    reply.detail = "an answer of more than the limit of " + std::to_string(limit) + " bytes";
    fail(reply, make_error_code(errc::too_large));
    co_return false;
  }
  co_return true;
}

// What came, for people.
std::string http_exchange::page() const {
  std::string text = "HTTP " + std::to_string(status_);
  if (!media_type_.empty()) text += " " + shown(media_type_);
  return text;
}

void http_exchange::take_message(const http_request& request, port::reply& reply) {
  const auto seen = protocol::peek(reply.body.view(), space_);
  if (!seen || seen->kind != protocol::kind::response) {
    if (reply.fault == port::fault::none) {
      reply.fault = port::fault::bad_message;
      reply.detail = page() + " that is no JSON-RPC response" + (seen ? "" : " (" + seen.error().message() + ")") +
                     ": " + shown(reply.body.view());
    }
    return;
  }
  if (seen->id.in(reply.body.view()) != request.id) {
    if (reply.fault == port::fault::none) {
      reply.fault = port::fault::bad_message;
      reply.detail = page() + ": a response to id " + shown(seen->id.in(reply.body.view())) + ", which nobody sent";
    }
    return;
  }
  accept(*seen, reply);
}

void http_exchange::accept(const protocol::message& seen, port::reply& reply) {
  // Spans hold in any copy of the text; the unescaped views do not, and a caller has the spans.
  reply.message = seen;
  reply.message.method = reply.message.error_message = {};
  reply.has_message = true;
}

asio::awaitable<void> http_exchange::read_json(const http_request& request, port::reply& reply) {
  if (!co_await read_whole_body(reply, endpoint_.max_answer)) co_return;
  reply.body = std::move(received_);
  take_message(request, reply);
}

asio::awaitable<void> http_exchange::read_events(const http_request& request, port::reply& reply) {
  for (;;) {
    events_.feed(received_.view());
    protocol::sse_event event;
    for (auto step = events_.next(event); step != protocol::sse_reader::step::more; step = events_.next(event)) {
      if (step == protocol::sse_reader::step::too_large) {
        reply.detail = "an event of more than the limit of " + std::to_string(endpoint_.max_answer) + " bytes";
        fail(reply, make_error_code(errc::too_large));
        co_return;
      }
      if (!event.is_message()) continue;
      const auto seen = protocol::peek(event.data, space_);
      if (!seen) {
        reply.fault = port::fault::bad_message;
        reply.detail =
            page() + ": an event that is no JSON-RPC message (" + seen.error().message() + "): " + shown(event.data);
        co_return;
      }
      if (seen->kind == protocol::kind::notification && client_ != nullptr) {
        client_->take(event.data, *seen);
      }
      // A response to another id is nobody's; the stream may still bring ours.
      if (seen->kind == protocol::kind::response && seen->id.in(event.data) == request.id) {
        reply.body = on_.buffers.take();
        reply.body.append(event.data);
        accept(*seen, reply);
        co_return;
      }
    }
    received_.clear();
    if (body_done_) break;
    if (client_ != nullptr) co_await client_->flush();
    if (!co_await fill(reply)) co_return;
  }
  reply.fault = port::fault::bad_message;
  reply.detail = page() + ": the stream ended without the response";
}

asio::awaitable<void> http_exchange::read_failure(const http_request& request, port::reply& reply) {
  const bool is_success = reply.status >= 200 && reply.status < 300;
  const bool has_type = !media_type_.empty() && reply.status != 202;
  reply.fault = !is_success ? port::fault::bad_status
                : has_type  ? port::fault::bad_media_type
                            : port::fault::bad_message;
  port::reply aside;  // what goes wrong while reading the failure must not hide the failure
  aside.sent = aside.head_seen = true;
  const std::string seen_detail = std::move(reply.detail);
  const bool whole = co_await read_whole_body(aside, most_failure_body);
  if (!whole && interrupt_.raised()) {
    reply.fault = aside.fault;
    reply.detail = aside.detail;
    co_return;
  }
  reply.body = std::move(received_);
  reply.detail = page();
  if (!seen_detail.empty()) {
    reply.detail += ", " + seen_detail;
  } else if (!reply.body.empty()) {
    reply.detail += ": " + shown(reply.body.view());
  }
  if (whole) take_message(request, reply);
}

void http_exchange::finish() {
  if (!connection_) return;
  if (reusable_ && framing_.keep_alive && body_done_) {
    pool_.give(std::move(connection_), async::worker::now());
  } else if (reusable_ && framing_.keep_alive && framing_.chunked && !interrupt_.raised()) {
    asio::co_spawn(on_.io, finish_body(on_, pool_, std::move(connection_), chunks_), [](std::exception_ptr) {});
  } else {
    connection_.reset();
    pool_.closed();
  }
}

asio::awaitable<void> http_exchange::run(const http_request& request, http_reply& out) {
  port::reply& reply = out.reply;
  if (!co_await send(request, reply) || !co_await read_head(out)) {
    reusable_ = false;
    finish();
    co_return;
  }
  const bool is_success = reply.status >= 200 && reply.status < 300;
  if (request.id.empty() && is_success) {
    port::reply ignored;
    if (!co_await read_whole_body(ignored, most_failure_body)) reusable_ = false;
  } else if (reply.status == 200 && media_type_ == json_type) {
    co_await read_json(request, reply);
  } else if (reply.status == 200 && media_type_ == events_type) {
    co_await read_events(request, reply);
  } else {
    co_await read_failure(request, reply);
  }
  const bool answered = reply.has_message || reply.fault == port::fault::none || body_done_;
  if (!answered) reusable_ = false;
  finish();
}

}  // namespace switchgear::upstream
