#include "load/tool_server.hpp"

#include "load/answers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace switchgear::bench {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr auto event_gap = std::chrono::milliseconds(1);

// The number after a header's name; heads come from this program, from nginx or from the gateway.
std::size_t content_length(std::string_view head) {
  for (std::string_view name : {"\r\nContent-Length: ", "\r\ncontent-length: "}) {
    const std::size_t found = head.find(name);
    if (found == std::string_view::npos) continue;
    const std::string_view digits = head.substr(found + name.size());
    std::size_t length = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    return length;
  }
  return 0;
}

std::string chunk(std::string_view data) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), data.size(), 16).ptr;
  return std::string(digits.data(), end).append("\r\n").append(data).append("\r\n");
}

class connection {
 public:
  explicit connection(tcp::socket socket) : socket_(std::move(socket)), timer_(socket_.get_executor()) {}

  asio::awaitable<void> run() {
    while (co_await read_request()) {
      if (!co_await answer()) co_return;
      in_.erase(0, head_size_ + body_.size());
    }
  }

 private:
  asio::awaitable<bool> read_more() {
    std::array<char, 16 * 1024> piece;
    const auto [error, size] = co_await socket_.async_read_some(asio::buffer(piece), as_result);
    in_.append(piece.data(), size);
    co_return !error;
  }

  asio::awaitable<bool> read_request() {
    std::size_t end = in_.find("\r\n\r\n");
    while (end == std::string::npos) {
      if (!co_await read_more()) co_return false;
      end = in_.find("\r\n\r\n");
    }
    head_size_ = end + 4;
    const std::size_t length = content_length(std::string_view(in_).substr(0, head_size_));
    while (in_.size() < head_size_ + length) {
      if (!co_await read_more()) co_return false;
    }
    body_ = std::string_view(in_).substr(head_size_, length);
    co_return true;
  }

  asio::awaitable<bool> answer() {
    if (in_.starts_with("GET")) co_return co_await send("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
    if (in_.starts_with("DELETE")) co_return co_await send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const request_view request = look_at(body_);
    if (request.method == "tools/call") {
      const tool which = tool_named(request.name);
      if (which == tool::stream) co_return co_await send_stream(request, stream_events, true);
      if (which == tool::flood) co_return co_await send_stream(request, flood_events, false);
      if (which == tool::broken) {
        co_return co_await send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 6\r\n\r\nbroken");
      }
      co_return co_await send_json(request.id, call_end(which));
    }
    if (request.method == "initialize")
      co_return co_await send_json(request.id, initialize_end(), "Mcp-Session-Id: bench\r\n");
    if (request.method == "tools/list") co_return co_await send_json(request.id, tools_list_end());
    if (request.method == "ping") co_return co_await send_json(request.id, ",\"result\":{}}");
    co_return co_await send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
  }

  asio::awaitable<bool> send(std::string_view text) {
    const auto [error, size] = co_await asio::async_write(socket_, asio::buffer(text), as_result);
    co_return !error;
  }

  asio::awaitable<bool> send_json(std::string_view id, std::string_view end, std::string_view extra_head = {}) {
    out_ = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    out_.append(extra_head).append("Content-Length: ");
    out_.append(std::to_string(response_start.size() + id.size() + end.size())).append("\r\n\r\n");
    out_.append(response_start).append(id);
    const std::array<asio::const_buffer, 2> pieces{asio::buffer(out_), asio::buffer(end)};
    const auto [error, size] = co_await asio::async_write(socket_, pieces, as_result);
    co_return !error;
  }

  asio::awaitable<bool> send_stream(request_view request, int events, bool one_by_one) {
    out_ =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
        "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n";
    auto due = std::chrono::steady_clock::now();
    for (int step = 0; step + 1 < events; ++step) {
      out_ += chunk(progress_event(request.progress_token, step));
      if (!one_by_one) continue;
      if (!co_await send(out_)) co_return false;
      out_.clear();
      timer_.expires_at(due += event_gap);
      co_await timer_.async_wait(as_result);
    }
    out_ += chunk("data: " + std::string(response_start) + std::string(request.id) +
                  std::string(call_end(tool::small)) + "\n\n");
    out_ += "0\r\n\r\n";
    co_return co_await send(out_);
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  std::string in_;
  std::string out_;
  std::size_t head_size_ = 0;
  std::string_view body_;
};

asio::awaitable<void> serve_connection(tcp::socket socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  connection served(std::move(socket));
  co_await served.run();
}

}  // namespace

asio::awaitable<void> serve_tools(asio::io_context& io, std::uint16_t port) {
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), port));
  while (true) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (!error) asio::co_spawn(io, serve_connection(std::move(socket)), asio::detached);
  }
}

}  // namespace switchgear::bench
