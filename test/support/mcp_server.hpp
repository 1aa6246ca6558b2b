// A tool server over HTTP in the test's own event loop: every request is answered by what the test says for its method.
#pragma once

#include "support/loopback_acceptor.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::test {

struct mcp_request {
  std::string verb, target, head, body;
  std::string method;  ///< of the JSON-RPC message; "response" if it has none; the verb if there is no body
  std::string id;      ///< raw

  bool has(std::string_view field) const {
    return head.find("\r\n" + std::string(field) + "\r\n") != std::string::npos;
  }
};

inline std::string http_answer(std::string_view status, std::string_view body, std::string_view fields = {}) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\n" + std::string(fields) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

inline std::string rpc_result(const mcp_request& to, std::string_view result, std::string_view fields = {}) {
  return http_answer("200 OK", R"({"jsonrpc":"2.0","id":)" + to.id + R"(,"result":)" + std::string(result) + "}",
                     fields);
}

inline std::string rpc_error(const mcp_request& to, int code, std::string_view text, std::string_view status = "200 OK",
                             std::string_view more = {}) {
  return http_answer(status, R"({"jsonrpc":"2.0","id":)" + to.id + R"(,"error":{"code":)" + std::to_string(code) +
                                 R"(,"message":")" + std::string(text) + "\"" + std::string(more) + "}}");
}

/// The head of an event stream that stays open for push().
inline const std::string stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
inline const std::string stream_end = "0\r\n\r\n";

inline std::string in_chunk(std::string_view payload) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", payload.size());
  return size + std::string(payload) + "\r\n";
}
inline std::string as_event(std::string_view message, std::string_view fields = {}) {
  return in_chunk(std::string(fields) + "data: " + std::string(message) + "\n\n");
}

class mcp_server {
 public:
  using answerer = std::function<std::string(const mcp_request&)>;

  explicit mcp_server(boost::asio::io_context& io)
      : io_(io), acceptor_(io, [this](socket peer) {
          boost::asio::co_spawn(io_, serve(std::make_shared<socket>(std::move(peer))), [](std::exception_ptr) {});
        }) {}

  std::string url(std::string_view path = "/mcp") const { return acceptor_.url(path); }

  /// From now on; "" is every method that has no answer of its own. An empty answer closes the connection.
  void on(std::string_view method, answerer answer) { answers_[std::string(method)] = std::move(answer); }

  /// Writes to every connection whose last answer was an event stream without its end.
  void push(std::string bytes) {
    for (const auto& peer : streams_) {
      boost::asio::co_spawn(io_, write(peer, bytes), [](std::exception_ptr) {});
    }
  }
  void cut_streams() {
    boost::system::error_code ignored;
    for (const auto& peer : streams_) peer->close(ignored);
    streams_.clear();
  }
  std::size_t streams() const { return streams_.size(); }

  const std::vector<mcp_request>& requests() const { return requests_; }
  std::vector<mcp_request> arrived(std::string_view method) const {
    std::vector<mcp_request> found;
    std::ranges::copy_if(requests_, std::back_inserter(found), [&](const auto& one) { return one.method == method; });
    return found;
  }
  void stop() { acceptor_.stop(); }

 private:
  using socket = boost::asio::ip::tcp::socket;

  boost::asio::awaitable<void> write(std::shared_ptr<socket> peer, std::string bytes) {
    boost::system::error_code error;
    co_await boost::asio::async_write(*peer, boost::asio::buffer(bytes),
                                      boost::asio::redirect_error(boost::asio::use_awaitable, error));
  }

  boost::asio::awaitable<void> serve(std::shared_ptr<socket> peer) {
    std::string received;
    for (;;) {
      boost::system::error_code error;
      const std::size_t head =
          co_await boost::asio::async_read_until(*peer, boost::asio::dynamic_buffer(received), "\r\n\r\n",
                                                 boost::asio::redirect_error(boost::asio::use_awaitable, error));
      if (error) break;
      const std::size_t at = received.substr(0, head).find("Content-Length: ");
      const std::size_t size = head + (at == std::string::npos ? 0 : std::stoul(received.substr(at + 16)));
      while (received.size() < size && !error) {
        char piece[4096];
        const std::size_t got = co_await peer->async_read_some(
            boost::asio::buffer(piece), boost::asio::redirect_error(boost::asio::use_awaitable, error));
        received.append(piece, got);
      }
      if (error) break;
      requests_.push_back(read(received.substr(0, head), received.substr(head, size - head)));
      received.erase(0, size);
      const std::string answer = answer_to(requests_.back());
      if (answer.empty()) break;
      const bool stays_open = answer.starts_with(stream_head) && !answer.ends_with(stream_end);
      if (stays_open) streams_.push_back(peer);
      co_await write(peer, answer);
    }
    std::erase(streams_, peer);
    boost::system::error_code ignored;
    peer->close(ignored);
  }

  static mcp_request read(std::string head, std::string body) {
    mcp_request request;
    request.verb = head.substr(0, head.find(' '));
    request.target = head.substr(request.verb.size() + 1);
    request.target.resize(request.target.find(' '));
    request.head = std::move(head);
    request.method = request.verb;
    if (!body.empty()) {
      const boost::json::object message = boost::json::parse(body).as_object();
      request.method = message.contains("method") ? std::string(message.at("method").as_string()) : "response";
      if (message.contains("id")) request.id = boost::json::serialize(message.at("id"));
    }
    request.body = std::move(body);
    return request;
  }

  std::string answer_to(const mcp_request& request) {
    auto found = answers_.find(request.method);
    if (found == answers_.end()) found = answers_.find("");
    if (found != answers_.end()) return found->second(request);
    if (request.verb != "POST") return http_answer("405 Method Not Allowed", "");
    if (request.id.empty() || request.method == "response") return http_answer("202 Accepted", "");
    return rpc_error(request, -32601, "Method not found");
  }

  boost::asio::io_context& io_;
  loopback_acceptor acceptor_;
  std::map<std::string, answerer> answers_;
  std::vector<mcp_request> requests_;
  std::vector<std::shared_ptr<socket>> streams_;
};

}  // namespace switchgear::test
