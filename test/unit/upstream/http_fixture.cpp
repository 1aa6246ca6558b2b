#include "http_fixture.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace switchgear::upstream {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

void cancel(void* timer) {
  static_cast<asio::steady_timer*>(timer)->cancel();
}

}  // namespace

asio::awaitable<std::string> asked_client::ask(std::string_view text, const protocol::message& seen,
                                               async::interrupt& until) {
  order.emplace_back(seen.method);
  const std::string id(seen.id.in(text));
  if (waits) {
    asio::steady_timer timer(io, asio::steady_timer::time_point::max());
    const async::interrupt::guard guard(until, &cancel, &timer);
    error_code ignored;
    if (!until.raised()) co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    ++given_up;
  }
  co_return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"roots":[]}})";
}

http_upstream_test::http_upstream_test() = default;

http_upstream_test::~http_upstream_test() {
  server.stop();
  on.io.abandon();
}

void http_upstream_test::start(http_options options, std::string_view path) {
  const http_options standard;
  if (options.attempt_gap == standard.attempt_gap) options.attempt_gap = 5ms;
  if (options.listing_gap == standard.listing_gap) options.listing_gap = 20ms;
  port::upstream_settings settings;
  settings.alias = "up";
  settings.http.url = server.url(path);
  settings.http.headers = {{"Authorization", "Bearer secret"}};
  settings.http.sse = says_sse;
  settings.http.forward = forward;
  settings.handshake_timeout = 3s;
  upstream =
      std::make_unique<http_upstream>(std::vector<async::worker*>{&on}, 4, std::move(settings), news, 1, options);
  upstream->start();
}

void http_upstream_test::be_legacy(std::string_view capabilities, std::string_view id) {
  const std::string session = id.empty() ? std::string() : "Mcp-Session-Id: " + std::string(id) + "\r\n";
  server.on("server/discover", [](const test::mcp_request&) {
    return test::http_answer("400 Bad Request",
                             R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not initialized"}})");
  });
  server.on("initialize", [session, said = std::string(capabilities)](const test::mcp_request& request) {
    return test::rpc_result(
        request, R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"old"},"capabilities":)" + said + "}",
        session);
  });
  server.on("tools/list", [](const test::mcp_request& request) {
    return test::rpc_result(request, R"({"tools":[{"name":"echo"}]})");
  });
  server.on("tools/call",
            [](const test::mcp_request& request) { return test::rpc_result(request, R"({"content":[]})"); });
}

void http_upstream_test::be_modern(std::string_view capabilities) {
  server.on("server/discover", [said = std::string(capabilities)](const test::mcp_request& request) {
    return test::rpc_result(
        request, R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":)" + said + "}");
  });
  server.on("initialize", [](const test::mcp_request& request) {
    return test::rpc_error(request, -32601, "Method not found", "404 Not Found");
  });
  server.on("tools/list", [](const test::mcp_request& request) {
    return test::rpc_result(request, R"({"resultType":"complete","tools":[{"name":"echo"}]})");
  });
  server.on("tools/call", [](const test::mcp_request& request) {
    return test::rpc_result(request, R"({"resultType":"complete","content":[]})");
  });
}

asio::awaitable<void> http_upstream_test::run(std::shared_ptr<running> one, port::outgoing_request with,
                                              port::client_side* to) {
  one->interrupt.arm(async::worker::now() + 4s);
  with.text = one->request.text();
  with.seen = &one->request.seen;
  one->reply = co_await upstream->call(on, with, one->interrupt, to);
  one->done = true;
}

void http_upstream_test::begin_call(std::string_view request, port::outgoing_request with, port::client_side* to) {
  call_ = std::make_shared<running>(request, on);
  asio::co_spawn(on.io, run(call_, with, to), [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
}

port::reply http_upstream_test::finish_call() {
  until([&] { return call_->done; }, "the call ends");
  return std::move(call_->reply);
}

port::reply http_upstream_test::call(std::string_view request, port::outgoing_request with, port::client_side* to) {
  begin_call(request, with, to);
  return finish_call();
}

void http_upstream_test::settle(std::chrono::milliseconds length) {
  const time_point end = async::worker::now() + length;
  while (async::worker::now() < end) {
    on.io.restart();
    on.io.run_one_for(5ms);
  }
}

}  // namespace switchgear::upstream
