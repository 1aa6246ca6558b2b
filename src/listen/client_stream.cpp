#include "listen/client_stream.hpp"

#include "async/small_write.hpp"
#include "listen/errc.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {

// Takes back whatever the socket waits for when its time is over.
class limit final : public async::timer_node {
 public:
  limit(async::timer_wheel& wheel, asio::ip::tcp::socket& socket, time_point due) : socket_(socket) {
    wheel.arm(*this, due);
  }
  bool passed() const { return passed_; }

 private:
  void fire() override {
    passed_ = true;
    error_code ignored;
    socket_.cancel(ignored);
  }
  asio::ip::tcp::socket& socket_;
  bool passed_ = false;
};

errc meaning(const limit& limit) {
  return limit.passed() ? errc::timed_out : errc::closed;
}

using buffers = boost::container::small_vector<asio::const_buffer, 16>;

void drop_front(buffers& pieces, std::size_t bytes) {
  auto first = pieces.begin();
  while (first != pieces.end() && bytes >= first->size()) bytes -= (first++)->size();
  pieces.erase(pieces.begin(), first);
  if (!pieces.empty()) pieces.front() += bytes;
}

}  // namespace

// Waits for the socket to become readable, on behalf of whoever watches at that time. The wait is not taken back when
// the watch ends: the next one finds it armed, and most requests cost no trip to the event loop.
struct client_stream::ear : std::enable_shared_from_this<ear> {
  explicit ear(asio::ip::tcp::socket& of) : socket(&of) {}

  void listen() {
    if (waiting || socket == nullptr) return;
    waiting = true;
    socket->async_wait(asio::ip::tcp::socket::wait_read,
                       [self = shared_from_this()](const error_code& error) { self->hear(error); });
  }

  void hear(const error_code& error) {
    waiting = false;
    if (socket == nullptr || gone == nullptr) return;
    if (error == asio::error::operation_aborted) return listen();  // somebody else's wait had its limit
    char next = 0;
    const ssize_t got = ::recv(socket->native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) return;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return listen();
    std::exchange(gone, nullptr)(context);
  }

  asio::ip::tcp::socket* socket;  // null: closed
  bool waiting = false;
  void (*gone)(void*) = nullptr;
  void* context = nullptr;
};

client_stream::watch::watch(client_stream& client, void (*gone)(void*), void* context) {
  if (!client.ear_) client.ear_ = std::make_shared<ear>(client.socket_);
  ear_ = client.ear_;
  ear_->gone = gone;
  ear_->context = context;
  ear_->listen();
}

client_stream::watch::~watch() {
  ear_->gone = nullptr;
}

client_stream::client_stream(async::worker& on, asio::ip::tcp::socket socket) : on_(on), socket_(std::move(socket)) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
}

client_stream::~client_stream() {
  if (ear_) ear_->socket = nullptr;
}

asio::awaitable<result<std::size_t>> client_stream::read_some(char* into, std::size_t size, time_point due) {
  const limit limit(on_.timers, socket_, due);
  error_code error;
  const std::size_t got =
      co_await socket_.async_read_some(asio::buffer(into, size), asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return meaning(limit);
  co_return got;
}

asio::awaitable<error_code> client_stream::wait_readable(time_point due) {
  const limit limit(on_.timers, socket_, due);
  error_code error;
  co_await socket_.async_wait(asio::ip::tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
  co_return error ? make_error_code(meaning(limit)) : error_code{};
}

asio::awaitable<error_code> client_stream::write(parts pieces) {
  error_code error;
  std::size_t written = 0;
  // Nearly every answer fits the socket's buffer: one system call, no trip through the event loop. Copying a small one
  // together costs less than what the kernel does for each piece.
  if (const std::size_t size = total_size(pieces); size <= async::most_small_bytes) {
    written = async::write_small(socket_, pieces, size, error);
    if (written == size) co_return error_code{};
  }
  buffers left;
  for (std::string_view piece : pieces) left.emplace_back(piece.data(), piece.size());
  drop_front(left, written);
  if (!error) drop_front(left, socket_.write_some(left, error));
  while (!left.empty() && (!error || error == asio::error::would_block)) {
    const limit limit(on_.timers, socket_, async::worker::now() + write_stall);
    drop_front(left, co_await socket_.async_write_some(left, asio::redirect_error(asio::use_awaitable, error)));
    if (error && limit.passed()) co_return make_error_code(errc::timed_out);
  }
  co_return error ? make_error_code(errc::closed) : error_code{};
}

std::size_t client_stream::write_now(std::string_view bytes) {
  error_code error;
  const std::size_t written = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  return error ? 0 : written;
}

asio::awaitable<void> client_stream::linger() {
  constexpr std::size_t most_discarded = 1024 * 1024;
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  const time_point due = async::worker::now() + std::chrono::seconds(1);
  buffer rest = on_.buffers.take();
  for (std::size_t discarded = 0; discarded < most_discarded;) {
    const auto got = co_await read_some(rest.data(), rest.capacity(), due);
    if (!got) break;
    discarded += *got;
  }
}

asio::ip::tcp::socket client_stream::release() {
  if (ear_) std::exchange(ear_, nullptr)->socket = nullptr;
  error_code ignored;
  socket_.cancel(ignored);
  return std::move(socket_);
}

void client_stream::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace switchgear::listen
