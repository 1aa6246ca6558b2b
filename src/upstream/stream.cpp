#include "upstream/stream.hpp"

#include "async/small_write.hpp"
#include "upstream/errc.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/socket.h>

namespace switchgear::upstream {

namespace asio = boost::asio;
using asio::ip::tcp;

struct stream::tls_layer {
  tls_layer(tcp::socket& socket, asio::ssl::context& context) : channel(socket, context) {}
  asio::ssl::stream<tcp::socket&> channel;
};

namespace {

// Ends the connect phase when it has taken its share of the call's time.
class phase_limit final : public async::timer_node {
 public:
  phase_limit(async::timer_wheel& wheel, time_point due, void (*stop)(void*), void* context)
      : stop_(stop), context_(context) {
    wheel.arm(*this, due);
  }
  bool passed() const { return passed_; }

 private:
  void fire() override {
    passed_ = true;
    stop_(context_);
  }
  void (*stop_)(void*);
  void* context_;
  bool passed_ = false;
};

std::string seconds(duration length) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(length).count()) + " ms";
}

void cancel_resolve(void* resolver) {
  static_cast<tcp::resolver*>(resolver)->cancel();
}

}  // namespace

stream::stream(async::worker& on) : on_(on), socket_(on.io) {}
stream::~stream() = default;

void stream::cancel(void* self) {
  error_code ignored;
  static_cast<stream*>(self)->socket_.close(ignored);
}

asio::awaitable<error_code> stream::connect_tcp(const url& to, async::interrupt& interrupt, std::string& detail) {
  error_code error;
  const asio::ip::address literal = asio::ip::make_address(to.host, error);
  if (!error) {
    const async::interrupt::guard guard(interrupt, &stream::cancel, this);
    co_await socket_.async_connect(tcp::endpoint(literal, to.port), asio::redirect_error(asio::use_awaitable, error));
    if (error) {
      detail = error.message();
      co_return make_error_code(errc::connect_failed);
    }
    co_return error_code{};
  }

  tcp::resolver resolver(on_.io);
  tcp::resolver::results_type endpoints;
  {
    const async::interrupt::guard guard(interrupt, &cancel_resolve, &resolver);
    endpoints = co_await resolver.async_resolve(to.host, std::to_string(to.port),
                                                asio::redirect_error(asio::use_awaitable, error));
  }
  if (error) {
    detail = "cannot resolve " + to.host + ": " + error.message();
    co_return make_error_code(errc::resolve_failed);
  }
  const async::interrupt::guard guard(interrupt, &stream::cancel, this);
  co_await asio::async_connect(socket_, endpoints, asio::redirect_error(asio::use_awaitable, error));
  if (error) {
    detail = error.message();
    co_return make_error_code(errc::connect_failed);
  }
  co_return error_code{};
}

asio::awaitable<error_code> stream::connect(const url& to, tls_context* tls, duration timeout,
                                            async::interrupt& interrupt, std::string& detail) {
  if (interrupt.raised()) co_return make_error_code(errc::interrupted);
  const phase_limit limit(on_.timers, async::worker::now() + timeout, &stream::cancel, this);
  error_code failed = co_await connect_tcp(to, interrupt, detail);
  if (!failed && tls != nullptr) {
    tls_ = std::make_unique<tls_layer>(socket_, tls->context());
    SSL* native = tls_->channel.native_handle();
    error_code error;
    if (asio::ip::make_address(to.host, error); error) {
      SSL_set_tlsext_host_name(native, to.host.c_str());
      SSL_set1_host(native, to.host.c_str());
    } else {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(native), to.host.c_str());
    }
    tls->resume(native);
    const async::interrupt::guard guard(interrupt, &stream::cancel, this);
    co_await tls_->channel.async_handshake(asio::ssl::stream_base::client,
                                           asio::redirect_error(asio::use_awaitable, error));
    if (error) {
      const long verify = SSL_get_verify_result(native);
      if (verify == X509_V_ERR_HOSTNAME_MISMATCH || verify == X509_V_ERR_IP_ADDRESS_MISMATCH) {
        detail = "certificate is not for the name " + to.host;
      } else if (verify != X509_V_OK) {
        detail = "certificate of " + to.host + " refused: " + X509_verify_cert_error_string(verify);
      } else {
        detail = "TLS with " + to.authority + " failed: " + error.message();
      }
      failed = make_error_code(errc::tls_failed);
    }
  }
  if (failed && limit.passed()) {
    detail = "no connection to " + to.authority + " within " + seconds(timeout);
    co_return make_error_code(errc::connect_timed_out);
  }
  if (failed && interrupt.raised()) co_return make_error_code(errc::interrupted);
  if (failed) co_return failed;

  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  co_return error_code{};
}

asio::awaitable<error_code> stream::write(parts pieces, async::interrupt& interrupt, bool& any_sent) {
  if (interrupt.raised()) co_return make_error_code(errc::interrupted);
  error_code error;
  std::size_t written = 0;
  const std::size_t size = total_size(pieces);
  if (!tls_ && size <= async::most_small_bytes) {
    // Nearly every request: one system call, no trip through the event loop. Copying it together costs less than what
    // the kernel does for each piece.
    written = async::write_small(socket_, pieces, size, error);
    if (error && error != asio::error::would_block) co_return make_error_code(errc::broken);
    if (written != 0) any_sent = true;
    if (written == size) co_return error_code{};
  }
  boost::container::small_vector<asio::const_buffer, 8> buffers;
  for (std::string_view piece : pieces) buffers.emplace_back(piece.data(), piece.size());
  while (!buffers.empty() && written >= buffers.front().size()) {
    written -= buffers.front().size();
    buffers.erase(buffers.begin());
  }
  buffers.front() += written;
  any_sent = true;
  const async::interrupt::guard guard(interrupt, &stream::cancel, this);
  if (tls_) {
    co_await asio::async_write(tls_->channel, buffers, asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await asio::async_write(socket_, buffers, asio::redirect_error(asio::use_awaitable, error));
  }
  if (!error) co_return error_code{};
  co_return make_error_code(interrupt.raised() ? errc::interrupted : errc::broken);
}

asio::awaitable<result<std::size_t>> stream::read_some(char* into, std::size_t size, async::interrupt& interrupt) {
  if (interrupt.raised()) co_return errc::interrupted;
  const async::interrupt::guard guard(interrupt, &stream::cancel, this);
  error_code error;
  std::size_t got = 0;
  if (tls_) {
    got = co_await tls_->channel.async_read_some(asio::buffer(into, size),
                                                 asio::redirect_error(asio::use_awaitable, error));
  } else {
    got = co_await socket_.async_read_some(asio::buffer(into, size), asio::redirect_error(asio::use_awaitable, error));
  }
  if (!error) co_return got;
  if (interrupt.raised()) co_return errc::interrupted;
  const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  co_return ended ? errc::end_of_stream : errc::broken;
}

bool stream::stale() {
  pollfd seen{socket_.native_handle(), POLLIN | POLLRDHUP, 0};
  if (::poll(&seen, 1, 0) == 0) return false;
  if (seen.revents != POLLIN) return true;
  // TLS peers send tickets and updates when they like; on a plain connection unasked bytes mean that we lost step.
  return !tls_ || holds_alert();
}

// A peer that closes says so in an alert, and waits with its FIN for ours. Since TLS 1.3 an alert looks like data from
// outside, but nothing else is as short: two bytes, the type and the tag (RFC 8446, sections 5.2 and 6).
bool stream::holds_alert() {
  constexpr std::size_t head_size = 5, shortest_sealed = 2 + 1 + 16;
  constexpr unsigned char alert = 21, data = 23;
  std::array<unsigned char, 4096> bytes;
  const ssize_t got = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got <= 0) return true;
  const auto size = static_cast<std::size_t>(got);
  for (std::size_t at = 0; at + head_size <= size;) {
    const std::size_t length = bytes[at + 3] * std::size_t{256} + bytes[at + 4];
    if (bytes[at] == alert || (bytes[at] == data && length <= shortest_sealed)) return true;
    at += head_size + length;
  }
  return false;
}

}  // namespace switchgear::upstream
