// One connection of a client, by hand: bytes out, and whatever comes back.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>

namespace switchgear::listen {

using headers = std::map<std::string, std::string>;

class wire {
 public:
  explicit wire(std::uint16_t port) : socket_(io_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  void send(std::string_view verb, headers fields, std::string_view body = {}) {
    fields.try_emplace("Accept", "application/json, text/event-stream");
    if (verb == "POST") {
      fields.try_emplace("Content-Type", "application/json");
      fields.try_emplace("Content-Length", std::to_string(body.size()));
    }
    std::string text = std::string(verb) + " /mcp HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& [name, value] : fields) text += name + ": " + value + "\r\n";
    text.append("\r\n").append(body);
    boost::asio::write(socket_, boost::asio::buffer(text));
  }

  /// Reads on until `end` has come; gives all up to and with it. Empty after five seconds, or when the server closes.
  std::string until(std::string_view end) {
    for (;;) {
      if (const std::size_t at = received_.find(end); at != std::string::npos) {
        std::string text = received_.substr(0, at + end.size());
        received_.erase(0, text.size());
        return text;
      }
      if (!more()) return {};
    }
  }

  /// A whole response: its head, and a body with a length.
  std::string response() {
    std::string text = until("\r\n\r\n");
    const std::size_t field = text.find("Content-Length: ");
    if (field == std::string::npos) return text;
    const std::size_t size = std::stoul(text.substr(field + 16));
    while (received_.size() < size && more()) {
    }
    text += received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }

  std::string exchange(std::string_view verb, headers fields, std::string_view body = {}) {
    send(verb, std::move(fields), body);
    return response();
  }

  /// All that comes until the server closes.
  std::string rest() {
    while (more()) {
    }
    return received_;
  }

  void close() { socket_.close(); }

 private:
  bool more() {
    char bytes[4096];
    const ssize_t got = ::recv(socket_.native_handle(), bytes, sizeof bytes, 0);
    if (got > 0) received_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  std::string received_;
};

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The session that an initialize opens for a client with these capabilities.
inline std::string initialize(std::uint16_t port, std::string_view capabilities = "{}",
                              std::string_view revision = "2025-11-25") {
  const std::string body = R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                           std::string(revision) + R"(","capabilities":)" + std::string(capabilities) + "}}";
  const std::string text = wire(port).exchange("POST", {}, body);
  const std::size_t at = text.find("Mcp-Session-Id: ") + 16;
  return text.substr(at, text.find('\r', at) - at);
}

inline std::string call(std::string_view tool, std::string_view id = "1") {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"tools/call","params":{"name":")" +
         std::string(tool) + R"("}})";
}

inline std::string modern(std::string_view method, std::string_view members = {}, std::string_view id = "1") {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) + R"(","params":{)" +
         std::string(members) + R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
         R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
}

inline headers modern_headers(std::string_view method) {
  return {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", std::string(method)}};
}

}  // namespace switchgear::listen
