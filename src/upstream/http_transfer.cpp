#include "upstream/http_transfer.hpp"

#include "http/date.hpp"
#include "http/errc.hpp"
#include "http/fields.hpp"
#include "http/media_type.hpp"
#include "protocol/text.hpp"
#include "upstream/errc.hpp"
#include "upstream/redirect.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr std::size_t piece = 32 * 1024;

// A date counts from the server's own, so that the clocks need not agree; from ours when it says none.
std::optional<duration> read_retry_after(std::string_view value, std::string_view head) {
  if (value.empty()) return std::nullopt;
  const auto ours = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto now = http::read_date(http::field(head, "date").value_or(""));
  return http::read_retry_after(value, now.value_or(ours));
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

std::string shown(std::string_view body) {
  std::string text(protocol::head(body, 300));
  std::ranges::replace_if(text, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, ' ');
  return text;
}

void http_transfer::fail(port::reply& reply, error_code why) const {
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
  } else if (why == errc::connect_timed_out) {
    reply.fault = fault::connect_timed_out;
  } else if (why == errc::end_of_stream || why == errc::broken || why == errc::connect_failed) {
    reply.fault = reply.sent ? fault::lost : fault::connect_failed;
  } else {
    reply.fault = fault::bad_message;
  }
  if (reply.detail.empty()) reply.detail = why.message();
}

asio::awaitable<bool> http_transfer::connect(port::reply& reply) {
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

asio::awaitable<bool> http_transfer::send(std::string_view head, const http_request& request, port::reply& reply) {
  // A GET has no body, and servers are right to wonder about a length of one.
  std::array<char, 48> length;
  char* end = length.data();
  const auto add = [&](std::string_view text) { end = std::ranges::copy(text, end).out; };
  if (!head.starts_with("GET ")) {
    add("Content-Length: ");
    end = std::to_chars(end, end + 20, total_size(request.body)).ptr;
    add("\r\n");
  }
  add("\r\n");
  parts pieces;
  pieces.push_back(head);
  if (!request.fields.empty()) pieces.push_back(request.fields);
  if (!request.credential.empty()) pieces.push_back(request.credential);
  pieces.push_back({length.data(), static_cast<std::size_t>(end - length.data())});
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

asio::awaitable<bool> http_transfer::begin(const http_request& request, http_reply& out) {
  if (!co_await send(request.head, request, out.reply) || !co_await read_head(out)) co_return false;
  if (status_ == 304 || status_ / 100 != 3 || !request.may_redirect) co_return true;
  co_return co_await follow_redirect(request, out);
}

asio::awaitable<bool> http_transfer::follow_redirect(const http_request& request, http_reply& out) {
  redirection next = follow(endpoint_.address, status_, location_);
  if (next.target.empty()) {
    out.reply.detail = std::move(next.problem);
    co_return true;
  }
  port::reply ignored;
  if (co_await read_whole(ignored, most_failure_body)) finish();
  reset();
  const std::size_t method_end = request.head.find(' ') + 1;
  std::string head(request.head.substr(0, method_end));
  head.append(next.target).append(request.head.substr(request.head.find(' ', method_end)));
  if (!co_await send(head, request, out.reply) || !co_await read_head(out)) co_return false;
  if (status_ != 304 && status_ / 100 == 3) {
    out.reply.detail = "redirects to " + shown(next.target) + " and from there to " + shown(location_);
  }
  co_return true;
}

void http_transfer::reset() {
  if (connection_) {
    connection_.reset();
    pool_.closed();
  }
  framing_ = {};
  chunks_ = {};
  inflater_.reset();
  body_read_ = 0;
  body_done_ = false;
  reusable_ = true;
}

http_transfer::~http_transfer() {
  if (!connection_) return;
  connection_.reset();
  pool_.closed();
}

asio::awaitable<bool> http_transfer::read_head(http_reply& out) {
  std::size_t searched = 0;
  received_ = on_.buffers.take();
  const auto refuse = [&](error_code why) {
    out.reply.detail = "answer from " + endpoint_.address.authority + ": " + why.message();
    fail(out.reply, make_error_code(errc::bad_head));
  };
  for (;;) {
    const auto end = http::find_head_end(received_.view(), searched);
    if (!end) {
      refuse(end.error());
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
    const std::string_view head_text = received_.view().substr(0, *end);
    const auto head = http::read_response_head(head_text);
    if (!head) {
      refuse(head.error());
      co_return false;
    }
    const bool interim = head->status >= 100 && head->status < 200 && head->status != 101;
    if (!interim) {
      take_head(*head, out);
      out.reply.retry_after = read_retry_after(head->retry_after, head_text);
    }
    received_.drop_front(*end);
    if (!interim) co_return decode_new(0, out.reply);
    searched = 0;
  }
}

void http_transfer::take_head(const http::response_head& head, http_reply& out) {
  out.reply.head_seen = true;
  out.reply.status = status_ = head.status;
  out.session_id.assign(head.session_id);
  out.challenged = !head.www_authenticate.empty();
  location_ = head.location;
  take_type(head);
  framing_ = head.framing;
  if (http::has_no_body(head.status)) framing_ = {.content_length = 0, .keep_alive = framing_.keep_alive};
  if (!framing_.chunked && !framing_.content_length) reusable_ = false;
  if (framing_.content_length == 0) body_done_ = true;
}

// The two types that nearly every answer has are compared once and cost no allocation.
void http_transfer::take_type(const http::response_head& head) {
  // Nobody asked for it, but some servers and the proxies before them compress whatever they send.
  if (http::inflater::knows(head.content_encoding)) inflater_ = std::make_unique<http::inflater>();
  const bool plain = inflater_ || head.content_encoding.empty() || http::same_text(head.content_encoding, "identity");
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

bool http_transfer::decode_new(std::size_t from, port::reply& reply) {
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
    return inflate_new(from, reply);
  }
  body_read_ += fresh;
  if (framing_.content_length && body_read_ >= *framing_.content_length) {
    const std::uint64_t beyond = body_read_ - *framing_.content_length;
    if (beyond != 0) reusable_ = false;
    received_.resize(received_.size() - static_cast<std::size_t>(beyond));
    body_read_ -= beyond;
    body_done_ = true;
  }
  return inflate_new(from, reply);
}

bool http_transfer::inflate_new(std::size_t from, port::reply& reply) {
  if (!inflater_) return true;
  const std::string compressed(received_.view().substr(from));
  received_.resize(from);
  const error_code failed = inflater_->decode(compressed, received_, endpoint_.max_answer);
  if (!failed) return true;
  reply.detail = failed.message();
  fail(reply, make_error_code(failed == http::errc::too_much ? errc::too_large : errc::bad_head));
  return false;
}

asio::awaitable<bool> http_transfer::fill(port::reply& reply) {
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

asio::awaitable<bool> http_transfer::read_whole(port::reply& reply, std::size_t limit, bool is_answer) {
  if (framing_.content_length && *framing_.content_length > limit) {
    reply.detail =
        "an answer of " + std::to_string(*framing_.content_length) + " bytes; the limit is " + std::to_string(limit);
    fail(reply, make_error_code(errc::too_large));
    co_return false;
  }
  if (framing_.content_length && !body_done_) received_.reserve(static_cast<std::size_t>(*framing_.content_length));
  while (!body_done_ && received_.size() <= limit) {
    if (!co_await fill(reply)) co_return false;
    if (is_answer) interrupt_.heard(async::interrupt::sign::answer);
  }
  if (received_.size() > limit) {
    reply.detail = "an answer of more than the limit of " + std::to_string(limit) + " bytes";
    fail(reply, make_error_code(errc::too_large));
    co_return false;
  }
  co_return true;
}

std::string http_transfer::page() const {
  std::string text = "HTTP " + std::to_string(status_);
  if (!media_type_.empty()) text += " " + shown(media_type_);
  return text;
}

void http_transfer::finish() {
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

}  // namespace switchgear::upstream
