#include "listen/server.hpp"

#include "listen/connection.hpp"
#include "listen/errc.hpp"
#include "listen/shard.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;
using asio::ip::tcp;
using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

namespace {
asio::awaitable<std::size_t> connections_of(const shard& here) {
  co_return here.connections;
}
}  // namespace

// A worker's part of the server. The parent of its connections: drain() waits for them.
struct server::front {
  explicit front(shard& worker) : here(worker), acceptor(here.on.io), pause(here.on.io) {}

  error_code open(const tcp::endpoint& address) {
    error_code error;
    acceptor.open(address.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.set_option(reuse_port(true), error);
    if (!error) acceptor.bind(address, error);
    if (!error) acceptor.listen(4096, error);
    if (!error) return {};
    if (error == asio::error::address_in_use) return make_error_code(errc::address_in_use);
    const bool not_ours = error == boost::system::errc::address_not_available;
    return make_error_code(not_ours ? errc::bad_address : errc::cannot_listen);
  }

  asio::awaitable<void> accept() {
    while (acceptor.is_open()) {
      error_code error;
      tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (!error) {
        asio::co_spawn(here.on.io, serve_connection(here, std::move(socket)), [](std::exception_ptr) {});
        continue;
      }
      if (error == asio::error::operation_aborted) break;
      // Out of descriptors, most likely: a tight loop would not bring one back.
      pause.expires_after(std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }

  asio::awaitable<void> sweep() {
    asio::steady_timer timer(here.on.io);
    while (acceptor.is_open()) {
      error_code ignored;
      timer.expires_after(std::chrono::seconds(10));
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      here.all.sweep(async::worker::now());
    }
  }

  void close() {
    error_code ignored;
    acceptor.close(ignored);
    pause.cancel();
  }

  shard& here;
  tcp::acceptor acceptor;
  asio::steady_timer pause;
};

server::server(std::vector<async::worker*> workers, port::listen_settings settings,
               std::vector<port::call_handler*> handlers, port::recorder& recorder, clientele_links links)
    : workers_(std::move(workers)),
      settings_(std::move(settings)),
      clients_(workers_, settings_, handlers, recorder, std::move(links)) {
  for (std::size_t i = 0; i < clients_.size(); ++i) fronts_.push_back(std::make_unique<front>(clients_.at(i)));
}

server::~server() = default;

error_code server::listen() {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(settings_.address, error);
  if (error) return make_error_code(errc::bad_address);
  tcp::endpoint endpoint(address, settings_.port);
  // SO_REUSEPORT lets a second gateway share the port in silence; a plain bind tells whether somebody is there.
  if (endpoint.port() != 0) {
    tcp::acceptor probe(workers_.front()->io);
    probe.open(endpoint.protocol(), error);
    if (!error) probe.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) probe.bind(endpoint, error);
    if (!error) probe.listen(1, error);
    if (error == asio::error::address_in_use) return make_error_code(errc::address_in_use);
  }
  for (auto& one : fronts_) {
    if (const error_code failed = one->open(endpoint)) return failed;
    endpoint.port(one->acceptor.local_endpoint().port());
  }
  port_ = endpoint.port();
  for (auto& one : fronts_) asio::co_spawn(one->here.on.io, one->accept(), [](std::exception_ptr) {});
  asio::co_spawn(fronts_.front()->here.on.io, fronts_.front()->sweep(), [](std::exception_ptr) {});
  return {};
}

asio::awaitable<void> server::drain(async::worker& on) {
  for (auto& one : fronts_) asio::post(one->here.on.io, [&to = *one] { to.close(); });
  clients_.begin_drain();
  const time_point limit = async::worker::now() + settings_.drain;
  bool interrupted = false;
  asio::steady_timer timer(on.io);
  for (;;) {
    // Each round asks every worker for its count; a drain is rare, so the round trips do not matter.
    std::size_t left = 0;
    for (auto& one : fronts_)
      left += co_await asio::co_spawn(one->here.on.io, connections_of(one->here), asio::use_awaitable);
    if (left == 0) co_return;
    const time_point now = async::worker::now();
    if (now >= limit && !interrupted) {
      interrupted = true;
      clients_.interrupt_calls();
    }
    if (now >= limit + std::chrono::seconds(1)) co_return;
    error_code ignored;
    timer.expires_after(std::chrono::milliseconds(20));
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

}  // namespace switchgear::listen
