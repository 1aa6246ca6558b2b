#include "app/demo_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>

#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

namespace switchgear::app {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;
using asio::ip::tcp;

namespace {

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds usual_answer{10};

struct conduct {
  std::atomic<behaviour> now{behaviour::well};
  std::atomic<unsigned> changes{0};

  void become(behaviour next) {
    if (now.exchange(next) != next) ++changes;
  }
};

json::value tool_list(bool backup) {
  const json::object city = {{"type", "string"}, {"description", "name of a city"}};
  return {{"tools",
           {{{"name", backup ? "forecast" : "now"},
             {"description", backup ? "The weather by yesterday's forecast" : "The weather in a city, measured now"},
             {"inputSchema", {{"type", "object"}, {"properties", {{"city", city}}}, {"required", {"city"}}}},
             {"annotations", {{"readOnlyHint", true}}}}}}};
}

/// A temperature that is always the same for the same city, so that a watcher can compare answers.
json::value weather_of(std::string_view city, bool backup) {
  unsigned sum = 0;
  for (unsigned char c : city) sum = sum * 31 + c;
  std::string text(city);
  text += backup ? ": about " : ": ";
  text += std::to_string(sum % 25) + " degrees";
  text += backup ? ", by the forecast" : ", measured now";
  return {{"content", json::array{json::object{{"type", "text"}, {"text", text}}}}, {"isError", false}};
}

json::value handshake(const json::object& params, bool backup) {
  const json::value* const wanted = params.if_contains("protocolVersion");
  return {{"protocolVersion", wanted && wanted->is_string() ? *wanted : json::value("2025-06-18")},
          {"capabilities", {{"tools", json::object()}}},
          {"serverInfo", {{"name", backup ? "demo-backup" : "demo-weather"}, {"version", "1"}}}};
}

http::response<http::string_body> response_of(http::status status, std::string_view media_type, std::string body) {
  http::response<http::string_body> response(status, 11);
  response.set(http::field::content_type, {media_type.data(), media_type.size()});
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

http::response<http::string_body> result_of(const json::value& id, json::value result) {
  return response_of(http::status::ok, "application/json",
                     json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}));
}

http::response<http::string_body> refusal(http::status status, std::string why) {
  return response_of(status, "text/plain", std::move(why));
}

asio::awaitable<void> wait(std::chrono::nanoseconds length) {
  asio::steady_timer timer(co_await asio::this_coro::executor, length);
  co_await timer.async_wait(as_values);
}

}  // namespace

struct demo_server::state {
  using response = http::response<http::string_body>;

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(tcp::socket socket);
  asio::awaitable<std::optional<response>> answer(const http::request<http::string_body>& asked);
  asio::awaitable<std::optional<response>> call(bool on_backup, const json::value& id, std::string city);

  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::uint16_t port = 0;
  conduct weather;
  conduct backup;
};

asio::awaitable<void> demo_server::state::accept() {
  for (;;) {
    auto [failed, socket] = co_await acceptor.async_accept(as_values);
    if (failed) {
      co_await wait(std::chrono::milliseconds(50));
      continue;
    }
    asio::co_spawn(io, serve(std::move(socket)), [](std::exception_ptr) {});
  }
}

asio::awaitable<void> demo_server::state::serve(tcp::socket socket) {
  boost::beast::tcp_stream stream(std::move(socket));
  boost::beast::flat_buffer read;
  for (;;) {
    http::request<http::string_body> asked;
    const auto [failed, size] = co_await http::async_read(stream, read, asked, as_values);
    if (failed) co_return;
    const std::optional<response> said = co_await answer(asked);
    if (!said) co_return;  // never answered: the connection ends with the behaviour
    const auto [unsent, written] = co_await http::async_write(stream, *said, as_values);
    if (unsent) co_return;
  }
}

asio::awaitable<std::optional<http::response<http::string_body>>> demo_server::state::answer(
    const http::request<http::string_body>& asked) {
  const bool on_backup = asked.target() == "/backup/mcp";
  if (!on_backup && asked.target() != "/weather/mcp") co_return refusal(http::status::not_found, "no such path");
  if (asked.method() != http::verb::post) co_return refusal(http::status::method_not_allowed, "POST only");

  boost::system::error_code failed;
  const json::value parsed = json::parse(asked.body(), failed);
  if (failed || !parsed.is_object()) co_return refusal(http::status::bad_request, "not a JSON-RPC message");
  const json::object& message = parsed.get_object();
  const json::value* const method = message.if_contains("method");
  const json::value* const id = message.if_contains("id");
  if (!method || !method->is_string()) co_return refusal(http::status::bad_request, "no method");
  if (!id) co_return response_of(http::status::accepted, "text/plain", "");

  const json::value* const given = message.if_contains("params");
  const json::object params = given && given->is_object() ? given->get_object() : json::object();
  const std::string_view verb(method->get_string());
  if (verb == "initialize") co_return result_of(*id, handshake(params, on_backup));
  if (verb == "ping") co_return result_of(*id, json::object());
  if (verb == "tools/list") co_return result_of(*id, tool_list(on_backup));
  if (verb != "tools/call") {
    const json::object error = {{"code", -32601}, {"message", "no such method"}};
    co_return response_of(http::status::ok, "application/json",
                          json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", *id}, {"error", error}}));
  }
  boost::system::error_code absent;
  const json::value* const city = given ? given->find_pointer("/arguments/city", absent) : nullptr;
  co_return co_await call(on_backup, *id, city && city->is_string() ? std::string(city->get_string()) : "nowhere");
}

asio::awaitable<std::optional<http::response<http::string_body>>> demo_server::state::call(bool on_backup,
                                                                                           const json::value& id,
                                                                                           std::string city) {
  const conduct& mine = on_backup ? backup : weather;
  switch (mine.now.load()) {
    case behaviour::errors:
      co_return refusal(http::status::internal_server_error, "the database of the weather service is gone");
    case behaviour::hang:
      for (const unsigned since = mine.changes.load(); mine.changes.load() == since;) {
        co_await wait(std::chrono::milliseconds(100));
      }
      co_return std::nullopt;
    case behaviour::slow:
      co_await wait(demo_slow_answer);
      break;
    case behaviour::well:
      co_await wait(usual_answer);
      break;
  }
  co_return result_of(id, weather_of(city, on_backup));
}

demo_server::demo_server(std::unique_ptr<state> started) : state_(std::move(started)) {
  asio::co_spawn(state_->io, state_->accept(), [](std::exception_ptr) {});
  thread_ = std::thread([at = state_.get()] { at->io.run(); });
}

demo_server::~demo_server() {
  state_->io.stop();
  thread_.join();
}

result<std::unique_ptr<demo_server>> demo_server::start() {
  auto made = std::make_unique<state>();
  error_code failed;
  const tcp::endpoint anywhere(asio::ip::address_v4::loopback(), 0);
  made->acceptor.open(anywhere.protocol(), failed);
  if (!failed) made->acceptor.bind(anywhere, failed);
  if (!failed) made->acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (!failed) made->port = made->acceptor.local_endpoint(failed).port();
  if (failed) return failed;
  return std::unique_ptr<demo_server>(new demo_server(std::move(made)));
}

std::string demo_server::weather_url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + "/weather/mcp";
}

std::string demo_server::backup_url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + "/backup/mcp";
}

void demo_server::behave(behaviour weather, behaviour backup) {
  state_->weather.become(weather);
  state_->backup.become(backup);
}

}  // namespace switchgear::app
