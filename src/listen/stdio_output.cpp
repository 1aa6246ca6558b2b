#include "listen/stdio_output.hpp"

#include "protocol/errors.hpp"
#include "protocol/line_writer.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t most_in_one_write = 64 * 1024;  // what a pipe holds

// Takes a write back that lasts too long.
class stall final : public async::timer_node {
 public:
  stall(async::timer_wheel& wheel, asio::posix::stream_descriptor& descriptor, time_point due)
      : descriptor_(descriptor) {
    wheel.arm(*this, due);
  }

 private:
  void fire() override {
    error_code ignored;
    descriptor_.cancel(ignored);
  }

  asio::posix::stream_descriptor& descriptor_;
};

}  // namespace

stdio_output::stdio_output(async::worker& on, int descriptor, listen::questions& questions)
    : on_(on),
      descriptor_(on.io, descriptor),
      questions_(questions),
      route_(questions.new_route()),
      changed_(on.io, asio::steady_timer::time_point::max()) {}

void stdio_output::add(parts message) {
  if (broken_ || closed_) return;
  lines_.push_back(protocol::write_line(message));
  waiting_bytes_ += lines_.back().size();
  changed_.cancel();
}

asio::awaitable<void> stdio_output::flush() {
  while (!has_room()) co_await changed_.async_wait(as_result);
}

asio::awaitable<std::string> stdio_output::ask(std::string_view text, const protocol::message& seen,
                                               async::interrupt& until) {
  if (client_ == nullptr || broken_ || closed_) {
    co_return protocol::write_error(seen.id.in(text), protocol::code::method_not_found, "the client cannot be asked");
  }
  co_return co_await questions_.ask(
      on_, {.stream = *this, .number = route_, .session = client_->id(), .abilities = client_->abilities()}, text, seen,
      until);
}

asio::awaitable<void> stdio_output::run() {
  while (!broken_ && !(closed_ && lines_.empty())) {
    if (lines_.empty()) {
      co_await changed_.async_wait(as_result);
      continue;
    }
    // Small lines go out together.
    std::string piece = std::move(lines_.front());
    lines_.pop_front();
    while (!lines_.empty() && piece.size() + lines_.front().size() <= most_in_one_write) {
      piece += lines_.front();
      lines_.pop_front();
    }
    if (!co_await write(piece)) break_off();
    waiting_bytes_ -= piece.size();
    changed_.cancel();
  }
}

asio::awaitable<bool> stdio_output::write(std::string_view lines) {
  while (!lines.empty()) {
    const stall limit(on_.timers, descriptor_, async::worker::now() + longest_stall);
    const auto [failed, written] = co_await descriptor_.async_write_some(asio::buffer(lines), as_result);
    if (failed) co_return false;
    lines.remove_prefix(written);
  }
  co_return true;
}

void stdio_output::break_off() {
  broken_ = true;
  for (const std::string& line : lines_) waiting_bytes_ -= line.size();
  lines_.clear();
  questions_.close_route(route_);
}

void stdio_output::hurry() {
  hurried_ = true;
  changed_.cancel();
}

void stdio_output::give_up() {
  break_off();
  error_code ignored;
  descriptor_.cancel(ignored);
  changed_.cancel();
}

void stdio_output::close() {
  closed_ = true;
  questions_.close_route(route_);
  changed_.cancel();
}

}  // namespace switchgear::listen
