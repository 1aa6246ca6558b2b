#include "peers/redis/connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <openssl/x509v3.h>

#include <exception>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

void append(std::string& to, const command& words) {
  to += '*' + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) to += '$' + std::to_string(word.size()) + "\r\n" + word + "\r\n";
}

}  // namespace

struct connection::tls_layer {
  tls_layer(tcp::socket& socket, std::shared_ptr<asio::ssl::context> files)
      : trusted(std::move(files)), channel(socket, *trusted) {}
  std::shared_ptr<asio::ssl::context> trusted;
  asio::ssl::stream<tcp::socket&> channel;
};

connection::connection(asio::io_context& io) : io_(io), resolver_(io), socket_(io), limit_(io) {}
connection::~connection() = default;

void connection::close() {
  closed_ = true;
  resolver_.cancel();
  limit_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void connection::end(std::string why) {
  if (closed_) return;
  close();
  if (ended_) ended_(std::move(why));
}

asio::awaitable<error_code> connection::connect_tcp(const std::string& host, std::uint16_t port) {
  error_code failed;
  const asio::ip::address literal = asio::ip::make_address(host, failed);
  if (!failed) {
    co_await socket_.async_connect(tcp::endpoint(literal, port), asio::redirect_error(asio::use_awaitable, failed));
    co_return failed;
  }
  const auto found =
      co_await resolver_.async_resolve(host, std::to_string(port), asio::redirect_error(asio::use_awaitable, failed));
  if (!failed && closed_) failed = asio::error::operation_aborted;
  if (!failed) co_await asio::async_connect(socket_, found, asio::redirect_error(asio::use_awaitable, failed));
  co_return failed;
}

asio::awaitable<std::string> connection::shake_hands(const std::string& host) {
  SSL* const native = tls_->channel.native_handle();
  error_code failed;
  if (asio::ip::make_address(host, failed); failed) {
    SSL_set_tlsext_host_name(native, host.c_str());
    SSL_set1_host(native, host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(native), host.c_str());
  }
  co_await tls_->channel.async_handshake(asio::ssl::stream_base::client,
                                         asio::redirect_error(asio::use_awaitable, failed));
  if (!failed) co_return std::string();
  if (const long fault = SSL_get_verify_result(native); fault != X509_V_OK) {
    co_return std::string("the certificate is not accepted: ") + X509_verify_cert_error_string(fault);
  }
  co_return "TLS handshake failed: " + failed.message();
}

asio::awaitable<std::string> connection::connect(std::string host, std::uint16_t port,
                                                 std::shared_ptr<asio::ssl::context> tls, time_point until) {
  const auto self = shared_from_this();
  limit_.expires_at(until);
  limit_.async_wait([late = weak_from_this()](error_code stopped) {
    if (const auto it = late.lock(); it && !stopped) it->close();
  });
  std::string why;
  const error_code failed = co_await connect_tcp(host, port);
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  if (failed) {
    why = failed.message();
  } else if (tls) {
    tls_ = std::make_unique<tls_layer>(socket_, std::move(tls));
    why = co_await shake_hands(host);
  }
  if (closed_) co_return "no connection in time";
  limit_.cancel();
  if (!why.empty()) close();
  co_return why;
}

void connection::read(std::function<void(response)> told, std::function<void(std::string)> ended) {
  told_ = std::move(told);
  ended_ = std::move(ended);
  asio::co_spawn(io_, read_all(shared_from_this()), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

asio::awaitable<void> connection::read_all(std::shared_ptr<connection> self) {
  while (!self->closed_) {
    error_code failed;
    const auto room = asio::buffer(self->arrived_);
    std::size_t got = 0;
    if (self->tls_) {
      got = co_await self->tls_->channel.async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
    } else {
      got = co_await self->socket_.async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
    }
    if (failed) {
      self->end(failed == asio::error::eof ? "the node hung up" : failed.message());
      break;
    }
    self->reader_.feed({self->arrived_.data(), got});
    while (!self->closed_) {
      auto whole = self->reader_.next();
      if (!whole) break;
      self->told_(*std::move(whole));
    }
    if (self->reader_.gave_up()) self->end("what answers is no Redis");
  }
}

void connection::write(const std::vector<command>& commands) {
  if (closed_) return;
  for (const command& words : commands) append(waiting_, words);
  write_more();
}

void connection::write_more() {
  if (!leaving_.empty() || waiting_.empty() || closed_) return;
  leaving_.swap(waiting_);
  const auto written = [self = shared_from_this()](error_code failed, std::size_t) {
    self->leaving_.clear();
    if (failed) {
      self->end(failed.message());
    } else {
      self->write_more();
    }
  };
  if (tls_) {
    asio::async_write(tls_->channel, asio::buffer(leaving_), written);
  } else {
    asio::async_write(socket_, asio::buffer(leaving_), written);
  }
}

}  // namespace switchgear::peers::redis
