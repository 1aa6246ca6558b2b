#include "upstream/stdio_session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t read_size = 64 * 1024;  // what a pipe holds
// The last output of a child that has ended is in the pipe already; only a stray process could keep the pipe open.
constexpr auto last_output_wait = std::chrono::milliseconds(500);

}  // namespace

stdio_session::stdio_session(async::worker& on, child_process child, std::size_t max_message,
                             const protocol::client_abilities& abilities, events& owner)
    : on_(on),
      child_(std::move(child)),
      abilities_(abilities),
      owner_(owner),
      max_message_(max_message),
      lines_(max_message),
      queue_changed_(on.io, asio::steady_timer::time_point::max()),
      output_ended_(on.io) {}

asio::awaitable<void> stdio_session::run() {
  using namespace asio::experimental::awaitable_operators;
  const auto self = shared_from_this();
  co_await (write_input() && read_output() && read_errors() && watch());
  fail_all(reason());
  finished_ = true;
  owner_.session_changed();
}

asio::awaitable<void> stdio_session::watch() {
  const child_end end = co_await child_.ended();
  if (output_open_) {
    output_ended_.expires_after(last_output_wait);
    co_await output_ended_.async_wait(as_result);
  }
  end_ = end;
  mark_unusable("the child " + end.text());
  boost::system::error_code ignored;
  child_.output().close(ignored);
  child_.errors().close(ignored);
  close_input();
}

asio::awaitable<void> stdio_session::write_input() {
  while (input_open_) {
    if (queue_.empty()) {
      co_await queue_changed_.async_wait(as_result);
      continue;
    }
    const queued_line line = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= line.text.size();
    if (line.id != 0) {
      const auto found = waiting_.find(line.id);
      if (found == waiting_.end()) continue;
      if (!found->second.request->begin()) {
        waiting_.erase(found);
        continue;
      }
      found->second.begun = true;
    }
    const auto [error, written] = co_await asio::async_write(child_.input(), asio::buffer(line.text), as_result);
    if (error) {
      mark_unusable("the child closed its stdin");
      close_input();
    }
  }
}

asio::awaitable<void> stdio_session::read_output() {
  buffer piece;
  piece.reserve(read_size);
  while (output_open_) {
    const auto [error, size] =
        co_await child_.output().async_read_some(asio::buffer(piece.data(), read_size), as_result);
    if (error) break;
    piece.resize(size);
    read_piece(piece.view());
  }
  std::string_view last;
  if (lines_.finish(last) == protocol::line_reader::step::line) read_line(last);
  output_open_ = false;
  output_ended_.cancel();
  mark_unusable("the child closed its stdout");
}

asio::awaitable<void> stdio_session::read_errors() {
  std::string piece(16 * 1024, '\0');
  while (true) {
    const auto [error, size] = co_await child_.errors().async_read_some(asio::buffer(piece), as_result);
    if (error) co_return;  // a child may close its stderr and live on
    errors_.add(std::string_view(piece).substr(0, size), on_.now(),
                [this](std::string_view line) { owner_.error_line(line); });
  }
}

void stdio_session::send(std::uint64_t id, std::string line, std::shared_ptr<stdio_request> request) {
  if (!usable_) {
    request->failed(port::fault::not_ready, reason(), false);
    return;
  }
  if (queue_.size() >= most_queued_lines || queued_bytes_ + line.size() > most_queued_bytes) {
    request->failed(port::fault::not_ready, "the child does not read its stdin, and too many requests wait for it",
                    false);
    return;
  }
  newest_id_ = std::max(newest_id_, id);
  waiting_.emplace(id, waiting{std::move(request)});
  enqueue({std::move(line), id});
}

void stdio_session::post(std::string line) {
  const bool room = queue_.size() < most_queued_lines && queued_bytes_ + line.size() <= most_queued_bytes;
  if (usable_ && room) enqueue({std::move(line), 0});
}

void stdio_session::enqueue(queued_line line) {
  queued_bytes_ += line.text.size();
  queue_.push_back(std::move(line));
  queue_changed_.cancel();
}

bool stdio_session::forget(std::uint64_t id) {
  return waiting_.erase(id) != 0;
}

void stdio_session::close_input() {
  if (!input_open_) return;
  input_open_ = false;
  boost::system::error_code ignored;
  child_.input().close(ignored);
  queue_changed_.cancel();
}

void stdio_session::read_piece(std::string_view piece) {
  using step = protocol::line_reader::step;
  lines_.feed(piece);
  std::string_view line;
  for (step next = lines_.next(line); next != step::more; next = lines_.next(line)) {
    if (next == step::line) {
      line_ends_.line_read();
      read_line(line);
    } else {
      line_ends_.too_large();
    }
  }
  std::optional<std::uint64_t> owner;
  if (line_ends_.piece_read(piece, owner)) over_limit_line_ended(owner);
}

void stdio_session::over_limit_line_ended(std::optional<std::uint64_t> owner) {
  // With one request under way there is no doubt whose answer it was, wherever the id stood.
  const auto expects_one = [](const auto& entry) { return entry.second.begun && !entry.second.request->is_stream(); };
  if (!owner && std::ranges::count_if(waiting_, expects_one) == 1) {
    owner = std::ranges::find_if(waiting_, expects_one)->first;
  }
  owner_.noise("(a message above the size limit)");
  if (owner) {
    fail(*owner, port::fault::too_large,
         "an answer of more than the limit of " + std::to_string(max_message_) + " bytes");
  }
}

void stdio_session::fail(std::uint64_t id, port::fault why, std::string_view detail) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  const waiting entry = std::move(found->second);
  waiting_.erase(found);
  entry.request->failed(why, detail, entry.begun);
}

void stdio_session::fail_all(std::string_view why) {
  for (auto& [id, entry] : std::exchange(waiting_, {})) {
    entry.request->failed(entry.begun ? port::fault::lost : port::fault::not_ready, why, entry.begun);
  }
}

void stdio_session::mark_unusable(std::string_view why) {
  // That a child has ended says more than that its pipes closed just before.
  if (why_unusable_.empty() || end_) why_unusable_ = why;
  if (!std::exchange(usable_, false)) return;
  owner_.session_changed();
}

std::string stdio_session::reason() const {
  const std::string words = errors_.last_words();
  return words.empty() ? why_unusable_ : why_unusable_ + "; its last words: " + words;
}

}  // namespace switchgear::upstream
