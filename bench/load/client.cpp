#include "load/client.hpp"

#include "load/answers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <stdexcept>
#include <utility>

namespace switchgear::bench {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view chunked_end = "\r\n0\r\n\r\n";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
  }
  return out;
}

std::string_view header(std::string_view lowered_head, std::string_view name, std::string_view head) {
  const std::size_t found = lowered_head.find("\r\n" + std::string(name) + ": ");
  if (found == std::string_view::npos) return {};
  const std::string_view rest = head.substr(found + name.size() + 4);
  return rest.substr(0, rest.find("\r\n"));
}

}  // namespace

std::string http_request(const target& to, std::string_view body) {
  std::string text = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(to.port) +
                     "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                     "MCP-Protocol-Version: 2025-11-25\r\n";
  if (!to.session.empty()) text += "Mcp-Session-Id: " + to.session + "\r\n";
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

client::client(tcp::socket socket) : socket_(std::move(socket)) {}

asio::awaitable<tcp::socket> client::connect(std::uint16_t port) {
  tcp::socket socket(co_await asio::this_coro::executor);
  const tcp::endpoint there(asio::ip::address_v4::loopback(), port);
  const auto [error] = co_await socket.async_connect(there, as_result);
  boost::system::error_code ignored;
  if (error) {
    socket.close(ignored);
  } else {
    socket.set_option(tcp::no_delay(true), ignored);
  }
  co_return socket;
}

asio::awaitable<client::response> client::exchange(std::string_view request) {
  response got;
  const auto [error, written] = co_await asio::async_write(socket_, asio::buffer(request), as_result);
  if (error) co_return got;
  if (in_.empty()) in_.resize(16 * 1024);
  filled_ = 0;
  std::size_t end = std::string_view::npos;
  while (end == std::string_view::npos) {
    if (!co_await read_more()) co_return got;
    end = std::string_view(in_.data(), filled_).find("\r\n\r\n");
  }
  got.head = in_.substr(0, end + 4);
  std::from_chars(in_.data() + 9, in_.data() + 12, got.status);

  std::size_t body = filled_ - got.head.size();
  const std::string lowered = lower(got.head);
  const std::string_view length_text = header(lowered, "content-length", got.head);
  if (!length_text.empty() || got.status == 202) {
    std::size_t length = 0;
    std::from_chars(length_text.data(), length_text.data() + length_text.size(), length);
    if (length + got.head.size() > in_.size() && in_.size() < piece_size) in_.resize(piece_size);
    while (body < length) {
      if (filled_ == in_.size()) filled_ = 0;
      const std::size_t before = filled_;
      if (!co_await read_more()) co_return got;
      body += filled_ - before;
    }
  } else {
    // No body of the bench holds these bytes, so a chunked response ends where they stand last.
    while (!std::string_view(in_.data(), filled_).ends_with(chunked_end)) {
      if (filled_ + chunked_end.size() > in_.size()) in_.resize(in_.size() * 2);
      if (!co_await read_more()) co_return got;
    }
  }
  got.ok = got.status == 200;
  got.is_error =
      body < 8 * 1024 && std::string_view(in_.data(), filled_).find(R"("isError":true)") != std::string_view::npos;
  co_return got;
}

asio::awaitable<bool> client::read_more() {
  const auto [error, size] =
      co_await socket_.async_read_some(asio::buffer(in_.data() + filled_, in_.size() - filled_), as_result);
  filled_ += size;
  co_return !error;
}

asio::awaitable<void> open_session(target& to) {
  client connection(co_await client::connect(to.port));
  const auto hello = co_await connection.exchange(http_request(to, initialize_request()));
  if (!hello.ok) throw std::runtime_error("no answer to initialize from port " + std::to_string(to.port));
  to.session = header(lower(hello.head), "mcp-session-id", hello.head);
  const auto noted = co_await connection.exchange(http_request(to, initialized_notification));
  if (noted.status != 202) throw std::runtime_error("initialized was answered with " + std::to_string(noted.status));
}

}  // namespace switchgear::bench
