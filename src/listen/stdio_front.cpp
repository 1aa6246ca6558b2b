#include "listen/stdio_front.hpp"

#include "listen/batch.hpp"
#include "listen/clientele.hpp"
#include "listen/subscriber.hpp"
#include "protocol/batch.hpp"
#include "protocol/errc.hpp"
#include "protocol/errors.hpp"
#include "protocol/mirrored.hpp"
#include "protocol/results.hpp"
#include "protocol/version.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::listen {

namespace asio = boost::asio;
namespace code = protocol::code;
using protocol::era;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t read_size = 64 * 1024;
constexpr duration last_moment = std::chrono::seconds(1);  // of what was interrupted at the end

}  // namespace

// A message of the client with what its answer needs.
struct stdio_front::request {
  request(async::timer_wheel& wheel, std::string_view line) : arrived(async::worker::now()), interrupt(wheel) {
    text.reserve(line.size());
    text.append(line);
  }

  incoming came() const { return {text.view(), seen, arrived}; }

  buffer text;
  protocol::scratch space;
  protocol::message seen;
  std::vector<std::string_view> batch;  // empty: the text is one message
  time_point arrived;
  sender from;
  async::interrupt interrupt;
};

stdio_front::stdio_front(shard& here, int input, int output)
    : here_(here),
      input_(here.on.io, input),
      output_(here.on, output, here.all.questions()),
      lines_(here.settings.max_request),
      task_ended_(here.on.io, asio::steady_timer::time_point::max()) {
  ++here_.connections;
  here_.recorder.connections(here_.on.index, 1);
  here_.idle.push_back(*this);
}

stdio_front::~stdio_front() {
  --here_.connections;
  here_.recorder.connections(here_.on.index, -1);
}

template <class Task>
void stdio_front::spawn(Task task) {
  ++tasks_;
  asio::co_spawn(here_.on.io, std::move(task), [this](std::exception_ptr error) {
    --tasks_;
    task_ended_.cancel();
    if (error) std::rethrow_exception(error);
  });
}

void stdio_front::end() {
  reading_ = false;
  output_.hurry();
  error_code ignored;
  input_.cancel(ignored);
}

asio::awaitable<void> stdio_front::run() {
  spawn(write_output());
  if (!here_.draining) co_await read_input();
  co_await finish();
}

asio::awaitable<void> stdio_front::write_output() {
  co_await output_.run();
  if (!output_.broken()) co_return;
  end();
  interrupt_requests(async::interrupt::reason::cancelled);
}

void stdio_front::interrupt_requests(async::interrupt::reason why) {
  for (const auto& one : requests_) one->interrupt.raise(why);
  // Those of a batch are not in our list.
  for (call_in_flight& call : here_.calls) {
    if (session_ && call.client == session_->id()) call.interrupt->raise(why);
  }
}

asio::awaitable<void> stdio_front::read_input() {
  using step = protocol::line_reader::step;
  std::string piece(read_size, '\0');
  std::string_view line;
  while (reading_) {
    co_await output_.flush();
    const auto [failed, size] = co_await input_.async_read_some(asio::buffer(piece), as_result);
    if (failed) break;
    lines_.feed(std::string_view(piece).substr(0, size));
    for (step next = lines_.next(line); next != step::more; next = lines_.next(line)) {
      if (next == step::line) {
        take(line);
      } else {
        here_.recorder.refused(here_.on.index, port::refusal::too_large);
        say(protocol::write_error(protocol::no_id, code::too_large, "the message is larger than max_request"));
      }
    }
  }
  // A last message may lack its line end.
  if (lines_.finish(line) == step::line) take(line);
  reading_ = false;
}

// No one will ask for more, and nothing can be answered later: what runs may come to its end, what waits for news ends.
asio::awaitable<void> stdio_front::finish() {
  for (const auto& one : requests_) {
    if (one->seen.method == "subscriptions/listen") one->interrupt.raise(async::interrupt::reason::shutdown);
  }
  const time_point due = async::worker::now() + here_.settings.drain;
  co_await requests_end(due);
  interrupt_requests(async::interrupt::reason::shutdown);
  co_await requests_end(due + last_moment);

  if (session_) here_.all.end(*session_);
  output_.close();
  co_await tasks_end(async::worker::now() + last_moment);
  output_.give_up();
  co_await tasks_end(time_point::max());
}

asio::awaitable<void> stdio_front::requests_end(time_point due) {
  while (!requests_.empty() && async::worker::now() < due) {
    task_ended_.expires_at(due);
    co_await task_ended_.async_wait(as_result);
  }
}

asio::awaitable<void> stdio_front::tasks_end(time_point due) {
  while (tasks_ != 0 && async::worker::now() < due) {
    task_ended_.expires_at(due);
    co_await task_ended_.async_wait(as_result);
  }
}

void stdio_front::say(std::string_view message) {
  parts pieces;
  pieces.push_back(message);
  output_.add(std::move(pieces));
}

void stdio_front::take(std::string_view line) {
  auto one = std::make_unique<request>(here_.on.timers, line);
  if (protocol::is_batch(line)) return take_batch(std::move(one));
  const auto seen = protocol::peek(one->text.view(), one->space);
  if (!seen) {
    here_.recorder.refused(here_.on.index, port::refusal::bad_request);
    return say(protocol::write_refusal(line, seen.error()));
  }
  one->seen = *seen;
  switch (seen->kind) {
    case protocol::kind::request:
      return protocol::says_modern(*seen) ? take_modern(std::move(one)) : take_legacy(std::move(one));
    case protocol::kind::notification:
      return take_notification(*one);
    case protocol::kind::response:
      if (session_) dispatch(here_).response(one->came(), sender_of(session_));
  }
}

// It need not say which era it belongs to.
void stdio_front::take_notification(const request& one) {
  if (session_) dispatch(here_).notification(one.came(), sender_of(session_));
  if (one.seen.method != "notifications/cancelled" || !one.seen.cancelled_id) return;
  const std::string_view id = one.seen.cancelled_id.in(one.text.view());
  for (const auto& held : requests_) {
    if (held->came().id() == id) held->interrupt.raise(async::interrupt::reason::cancelled);
  }
}

void stdio_front::take_modern(std::unique_ptr<request> one) {
  if (const std::string refused = protocol::refuse_modern(one->text.view(), one->seen, nullptr); !refused.empty()) {
    here_.recorder.refused(here_.on.index, port::refusal::version);
    return say(refused);
  }
  one->from.era = era::modern;
  start(std::move(one));
}

void stdio_front::take_legacy(std::unique_ptr<request> one) {
  const std::string_view id = one->came().id();
  if (one->seen.method == "initialize") {
    initialize(*one);
  } else if (session_) {
    one->from = sender_of(session_);
    start(std::move(one));
  } else if (one->seen.method == "ping") {
    say(protocol::write_result(id, protocol::empty_result));
  } else {
    here_.recorder.refused(here_.on.index, port::refusal::unknown_session);
    say(protocol::write_error(id, code::invalid_request, "initialize first"));
  }
}

void stdio_front::take_batch(std::unique_ptr<request> one) {
  const auto elements = protocol::split_batch(one->text.view());
  const bool allowed = session_ && has_batches(session_->revision());
  if (elements && allowed) {
    one->from = sender_of(session_);
    one->batch = *elements;
    return start(std::move(one));
  }
  here_.recorder.refused(here_.on.index, port::refusal::bad_request);
  say(protocol::write_refusal(one->text.view(), elements ? make_error_code(protocol::errc::batch) : elements.error()));
}

void stdio_front::initialize(const request& one) {
  if (session_) return say(protocol::write_error(one.came().id(), code::invalid_request, "already initialized"));
  port::answer out;
  session_ = dispatch(here_).initialize(one.came(), {}, out);
  output_.add(std::move(out.pieces));
  if (!session_) return;
  output_.opened(*session_);
  spawn(serve_session_stream());
}

void stdio_front::start(std::unique_ptr<request> one) {
  if (requests_.size() >= most_requests) {
    const std::string_view id = one->seen.id ? one->came().id() : protocol::no_id;
    return say(protocol::write_error(id, code::overloaded, "too many requests at once"));
  }
  request& kept = *requests_.emplace_back(std::move(one));
  spawn(kept.batch.empty() ? serve(kept) : serve_batch(kept));
}

asio::awaitable<void> stdio_front::serve(request& one) {
  port::answer out;
  co_await dispatch(here_).request(one.came(), one.from, one.interrupt, &output_, out);
  // What the client took back it no longer waits for (MCP basic/utilities/cancellation).
  if (one.interrupt.why() != async::interrupt::reason::cancelled) output_.add(std::move(out.pieces));
  co_await output_.flush();
  forget(one);
}

asio::awaitable<void> stdio_front::serve_batch(request& one) {
  const std::vector<std::string> answers = co_await answer_batch(here_, one.batch, one.from, one.arrived, &output_);
  if (!answers.empty()) output_.add(as_array(answers));
  co_await output_.flush();
  forget(one);
}

void stdio_front::forget(const request& one) {
  requests_.remove_if([&](const std::unique_ptr<request>& held) { return held.get() == &one; });
}

// A client that reads too slowly loses its stream, but here it has no way to ask for another.
asio::awaitable<void> stdio_front::serve_session_stream() {
  async::interrupt never(here_.on.timers);
  while (reading_ && !output_.broken()) {
    subscriber stream(here_.on, session_);
    here_.all.attach(here_, stream, *session_);
    if (here_.draining) stream.end();
    co_await stream.deliver(output_, never);
    here_.all.detach(stream, *session_);
  }
}

}  // namespace switchgear::listen
