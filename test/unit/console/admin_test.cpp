#include "console/admin.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace switchgear::console {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// The listener on a thread of its own, as in the gateway, and blocking clients.
class admin_listener : public testing::Test {
 protected:
  admin_listener() {
    admin_sources sources;
    sources.metrics = [] { return std::string("counted 1\n"); };
    auto listening = admin::listen(on_, {.port = 0}, std::move(sources));
    if (!listening) throw boost::system::system_error(listening.error());
    admin_ = std::move(*listening);
    thread_ = std::thread([this] { on_.io.run(); });
  }

  ~admin_listener() override {
    asio::post(on_.io, [this] { admin_->stop(); });
    thread_.join();  // run() returns by itself: nothing may be left behind
  }

  tcp::socket connect() {
    tcp::socket socket(client_);
    socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), admin_->port()));
    return socket;
  }

  /// Everything until the server closes.
  static std::string rest_of(tcp::socket& socket) {
    std::string text;
    boost::system::error_code ended;
    asio::read(socket, asio::dynamic_buffer(text), ended);
    return text;
  }

  std::string exchange(const std::string& request) {
    tcp::socket socket = connect();
    asio::write(socket, asio::buffer(request));
    return rest_of(socket);
  }

  asio::io_context client_;
  async::worker on_{0};
  std::unique_ptr<admin> admin_;
  std::thread thread_;
};

TEST_F(admin_listener, answers_several_requests_on_one_connection) {
  const std::string said = exchange(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

  EXPECT_NE(said.find("{\"alive\":true}"), std::string::npos) << said;
  EXPECT_NE(said.find("counted 1\n"), std::string::npos) << said;
}

TEST_F(admin_listener, forbids_caching_framing_and_guessing_of_types) {
  const std::string said = exchange("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

  for (const char* header : {"Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
                             "Content-Security-Policy: default-src 'none'"}) {
    EXPECT_NE(said.find(header), std::string::npos) << header;
  }
}

TEST_F(admin_listener, names_the_allowed_method) {
  const std::string said = exchange("POST /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

  EXPECT_TRUE(said.starts_with("HTTP/1.1 405 ")) << said;
  EXPECT_NE(said.find("Allow: GET"), std::string::npos);
}

TEST_F(admin_listener, refuses_a_head_over_8_kb) {
  const std::string said =
      exchange("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + std::string(9000, 'a') + "\r\n\r\n");

  EXPECT_TRUE(said.starts_with("HTTP/1.1 431 ")) << said.substr(0, 100);
}

TEST_F(admin_listener, refuses_bytes_that_are_no_http) {
  EXPECT_TRUE(exchange("\x16\x03\x01 hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nno colon\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(admin_listener, lives_on_after_clients_that_leave_half_way) {
  {
    tcp::socket socket = connect();
    asio::write(socket, asio::buffer(std::string("GET /met")));
  }

  const std::string said = exchange("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(said.starts_with("HTTP/1.1 200 ")) << said;
}

TEST_F(admin_listener, closes_connections_beyond_64_and_keeps_the_others) {
  std::vector<tcp::socket> held;
  for (int i = 0; i < 64; ++i) {
    held.push_back(connect());
    asio::write(held.back(), asio::buffer(std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    std::string head;
    asio::read_until(held.back(), asio::dynamic_buffer(head), "true}");
  }

  tcp::socket one_more = connect();
  EXPECT_EQ(rest_of(one_more), "");

  asio::write(held.front(), asio::buffer(std::string("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")));
  EXPECT_TRUE(rest_of(held.front()).starts_with("HTTP/1.1 200 "));
}

TEST_F(admin_listener, ends_open_connections_when_it_stops) {
  tcp::socket idle = connect();
  asio::write(idle, asio::buffer(std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")));
  std::string head;
  asio::read_until(idle, asio::dynamic_buffer(head), "true}");

  asio::post(on_.io, [this] { admin_->stop(); });

  EXPECT_EQ(rest_of(idle), "");
}

TEST_F(admin_listener, says_that_a_port_is_in_use) {
  async::worker other(1);

  const auto second = admin::listen(other, {.port = admin_->port()}, {});

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), boost::system::errc::address_in_use);
}

TEST(admin_address, must_be_one_of_this_machine) {
  async::worker on(0);

  EXPECT_FALSE(admin::listen(on, {.address = "not an address", .port = 0}, {}));
  EXPECT_FALSE(admin::listen(on, {.address = "192.0.2.1", .port = 0}, {}));
  EXPECT_TRUE(admin::listen(on, {.address = "localhost", .port = 0}, {}));
}

}  // namespace
}  // namespace switchgear::console
