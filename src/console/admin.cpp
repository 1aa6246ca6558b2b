#include "console/admin.hpp"

#include "console/answers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <exception>
#include <unordered_set>
#include <utility>

namespace switchgear::console {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::size_t most_connections = 64;
constexpr std::uint32_t most_head_bytes = 8 * 1024;
constexpr std::chrono::seconds connection_deadline{10};
constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

std::string_view field_of(const http::fields& head, http::field name) {
  const auto found = head.find(name);
  return found == head.end() ? std::string_view{} : std::string_view(found->value().data(), found->value().size());
}

http::response<http::string_body> to_response(reply said, unsigned version, bool keep_alive) {
  http::response<http::string_body> response(static_cast<http::status>(said.status), version);
  response.set(http::field::content_type, {said.media_type.data(), said.media_type.size()});
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Content-Security-Policy",
               "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
               "frame-ancestors 'none'");
  if (said.status == 405) response.set(http::field::allow, "GET");
  response.body() = std::move(said.body);
  response.keep_alive(keep_alive);
  response.prepare_payload();
  return response;
}

/// What to say to bytes that are no request that we take; 0 when the connection just ended.
unsigned status_of(const boost::system::error_code& failed) {
  if (failed == http::error::header_limit) return 431;
  if (failed == http::error::body_limit) return 413;
  if (failed.category() == http::make_error_code(http::error::bad_method).category() &&
      failed != http::error::end_of_stream && failed != http::error::partial_message) {
    return 400;
  }
  return 0;
}

}  // namespace

/// Shared by the listener and its connections: the coroutines may outlive the admin object by a turn of the event loop.
struct admin::state {
  state(async::worker& on, admin_settings wanted, admin_sources from)
      : acceptor(on.io), settings(std::move(wanted)), sources(std::move(from)) {}

  static asio::awaitable<void> accept(std::shared_ptr<state> shared);
  static asio::awaitable<void> serve(std::shared_ptr<state> shared, tcp::socket socket);
  reply reply_to(const http::request_parser<http::empty_body>& parser) const;

  tcp::acceptor acceptor;
  admin_settings settings;
  admin_sources sources;
  std::uint16_t port = 0;
  bool stopping = false;
  std::unordered_set<boost::beast::tcp_stream*> connections;

  /// Counts a connection while its coroutine runs, however that ends.
  class presence {
   public:
    presence(state& owner, boost::beast::tcp_stream& stream) : owner_(owner), stream_(&stream) {
      owner_.connections.insert(stream_);
    }
    ~presence() { owner_.connections.erase(stream_); }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;

   private:
    state& owner_;
    boost::beast::tcp_stream* stream_;
  };
};

reply admin::state::reply_to(const http::request_parser<http::empty_body>& parser) const {
  const auto& head = parser.get();
  return answer({.method = {head.method_string().data(), head.method_string().size()},
                 .target = {head.target().data(), head.target().size()},
                 .host = field_of(head, http::field::host),
                 .origin = field_of(head, http::field::origin)},
                settings, sources);
}

asio::awaitable<void> admin::state::serve(std::shared_ptr<state> shared, tcp::socket socket) {
  boost::beast::tcp_stream stream(std::move(socket));
  const presence counted(*shared, stream);
  boost::beast::flat_buffer read;
  for (bool open = true; open && !shared->stopping;) {
    http::request_parser<http::empty_body> parser;
    parser.header_limit(most_head_bytes);
    stream.expires_after(connection_deadline);
    const auto [failed, size] = co_await http::async_read(stream, read, parser, as_values);
    if (shared->stopping) break;

    reply said;
    if (failed) {
      said.status = status_of(failed);
      if (said.status == 0) break;
      said.body = R"({"error":"not a request that the admin API takes"})";
      open = false;
    } else {
      said = shared->reply_to(parser);
      open = parser.keep_alive();
    }
    const auto response = to_response(std::move(said), failed ? 11 : parser.get().version(), open);
    stream.expires_after(connection_deadline);
    const auto [unsent, written] = co_await http::async_write(stream, response, as_values);
    if (unsent) break;
  }
  boost::system::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

asio::awaitable<void> admin::state::accept(std::shared_ptr<state> shared) {
  while (!shared->stopping) {
    auto [failed, socket] = co_await shared->acceptor.async_accept(as_values);
    if (shared->stopping) break;
    if (failed) {
      // Out of descriptors or memory: the pending connection stays pending, so asking at once again would spin.
      asio::steady_timer pause(shared->acceptor.get_executor(), std::chrono::milliseconds(100));
      co_await pause.async_wait(as_values);
      continue;
    }
    if (shared->connections.size() >= most_connections) continue;  // the destructor closes it
    asio::co_spawn(shared->acceptor.get_executor(), serve(shared, std::move(socket)),
                   [shared](std::exception_ptr) {});  // out of memory for one connection ends that one only
  }
}

namespace {

result<tcp::endpoint> endpoint_of(const admin_settings& settings) {
  boost::system::error_code failed;
  const auto address =
      asio::ip::make_address(settings.address == "localhost" ? std::string("127.0.0.1") : settings.address, failed);
  if (failed) return failed;
  return tcp::endpoint(address, settings.port);
}

error_code open(tcp::acceptor& acceptor, const tcp::endpoint& at) {
  boost::system::error_code failed;
  acceptor.open(at.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor.bind(at, failed);
  if (!failed) acceptor.listen(static_cast<int>(most_connections), failed);
  return failed;
}

}  // namespace

admin::admin(std::shared_ptr<state> shared) : state_(std::move(shared)) {}

admin::~admin() {
  stop();
}

result<std::unique_ptr<admin>> admin::listen(async::worker& on, admin_settings settings, admin_sources sources) {
  const result<tcp::endpoint> at = endpoint_of(settings);
  if (!at) return at.error();
  auto shared = std::make_shared<state>(on, std::move(settings), std::move(sources));
  if (const error_code failed = open(shared->acceptor, *at)) return failed;
  boost::system::error_code failed;
  shared->port = shared->acceptor.local_endpoint(failed).port();
  if (failed) return failed;
  asio::co_spawn(on.io, state::accept(shared), [shared](std::exception_ptr) {});
  return std::unique_ptr<admin>(new admin(std::move(shared)));
}

std::uint16_t admin::port() const {
  return state_->port;
}

void admin::stop() {
  if (state_->stopping) return;
  state_->stopping = true;
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  for (boost::beast::tcp_stream* each : state_->connections) each->close();
}

}  // namespace switchgear::console
