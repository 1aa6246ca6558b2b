#include "app/demo_traffic.hpp"

#include "app/demo_reading.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <utility>

namespace switchgear::app {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;

namespace {

using std::chrono::milliseconds;

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view protocol_version = "2025-06-18";
constexpr std::array<std::string_view, 4> cities = {"Oslo", "Lima", "Kyoto", "Accra"};

// Enough callers that each is free again before its turn comes: then the calls stay evenly spaced.
constexpr duration between_calls = duration(std::chrono::seconds(1)) / demo_calls_per_second;
constexpr unsigned callers = static_cast<unsigned>(demo_patience / between_calls) + 8;
constexpr duration between_looks = milliseconds(100);

time_point now() {
  return std::chrono::steady_clock::now();
}

asio::awaitable<void> wait_until(time_point moment) {
  asio::steady_timer timer(co_await asio::this_coro::executor,
                           std::chrono::time_point_cast<std::chrono::steady_clock::duration>(moment));
  co_await timer.async_wait(as_values);
}

demo_request get(std::string_view target) {
  return demo_request(http::verb::get, {target.data(), target.size()}, 11);
}

}  // namespace

demo_request demo_traffic::post(std::string body) const {
  demo_request request(http::verb::post, "/mcp", 11);
  request.set(http::field::content_type, "application/json");
  request.set(http::field::accept, "application/json, text/event-stream");
  if (!session_.empty()) {
    request.set("Mcp-Session-Id", session_);
    request.set("MCP-Protocol-Version", {protocol_version.data(), protocol_version.size()});
  }
  request.body() = std::move(body);
  return request;
}

asio::awaitable<std::string> demo_traffic::open() {
  demo_connection admin(io_.get_executor(), admin_port_);
  const time_point limit = now() + std::chrono::seconds(15);
  for (;;) {
    const auto ready = co_await admin.ask(get("/readyz"), milliseconds(1000));
    if (ready && ready->result() == http::status::ok) break;
    if (now() > limit) co_return ready ? "the gateway does not become ready: " + ready->body() : "no answer of /readyz";
    co_await wait_until(now() + milliseconds(50));
  }

  demo_connection client(io_.get_executor(), mcp_port_);
  const json::object hello = {{"jsonrpc", "2.0"},
                              {"id", 1},
                              {"method", "initialize"},
                              {"params",
                               {{"protocolVersion", protocol_version},
                                {"capabilities", json::object()},
                                {"clientInfo", {{"name", "switchgear-demo"}, {"version", "1"}}}}}};
  const auto greeted = co_await client.ask(post(json::serialize(hello)), std::chrono::seconds(5));
  if (!greeted || greeted->result() != http::status::ok) co_return "initialize was not answered";
  session_ = std::string((*greeted)["Mcp-Session-Id"]);
  const auto noted =
      co_await client.ask(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), std::chrono::seconds(5));
  if (!noted) co_return "notifications/initialized was not taken";

  const auto listed =
      co_await client.ask(post(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"), std::chrono::seconds(5));
  if (!listed || listed->body().find(demo_tool) == std::string::npos)
    co_return "the demo's tools are not in tools/list";
  co_return "";
}

void demo_traffic::spawn(asio::awaitable<void> task) {
  ++running_;
  asio::co_spawn(io_, std::move(task), [this](std::exception_ptr) { --running_; });
}

void demo_traffic::run(time_point start, std::function<void(const seen_call&)> on_call,
                       std::function<void(const seen_state&)> on_look) {
  start_ = start;
  on_call_ = std::move(on_call);
  on_look_ = std::move(on_look);
  for (unsigned number = 0; number < callers; ++number) spawn(caller(number));
  spawn(watcher());
}

asio::awaitable<void> demo_traffic::caller(unsigned number) {
  demo_connection connection(io_.get_executor(), mcp_port_);
  for (duration due = between_calls * number; due < demo_length(); due += between_calls * callers) {
    co_await wait_until(start_ + due);
    const std::uint64_t id = ++last_id_;
    const json::object call = {
        {"jsonrpc", "2.0"},
        {"id", id},
        {"method", "tools/call"},
        {"params", {{"name", demo_tool}, {"arguments", {{"city", cities[id % cities.size()]}}}}}};
    const time_point sent = now();
    const auto response = co_await connection.ask(post(json::serialize(call)), demo_patience);
    seen_call seen;
    if (response && response->result() == http::status::ok) {
      seen = read_answer(response->body(), id).value_or(seen_call{});
    }
    seen.sent = sent - start_;
    seen.took = now() - sent;
    on_call_(seen);
  }
}

asio::awaitable<void> demo_traffic::watcher() {
  demo_connection connection(io_.get_executor(), admin_port_);
  for (time_point due = start_; due < start_ + demo_length(); due += between_looks) {
    co_await wait_until(due);
    const auto response = co_await connection.ask(get("/api/circuits"), milliseconds(500));
    if (!response) continue;
    auto seen = read_circuits(response->body());
    if (!seen) continue;
    seen->at = now() - start_;
    on_look_(*seen);
  }
}

}  // namespace switchgear::app
