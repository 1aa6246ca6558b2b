#include "listen/batch.hpp"

#include "protocol/errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <deque>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {

// A request of the batch on its way.
struct element {
  explicit element(async::timer_wheel& wheel) : interrupt(wheel) {}

  protocol::scratch space;
  protocol::message seen;
  port::answer out;
  async::interrupt interrupt;
  std::string refused;  // what is answered to a message that is none

  std::string answer() const { return refused.empty() ? joined(out.pieces) : refused; }
};

asio::awaitable<void> answer_one(shard& here, std::string_view text, const sender& from, time_point arrived,
                                 port::event_sink* client, element& one) {
  const incoming asked{text, one.seen, arrived};
  co_await dispatch(here).request(asked, from, one.interrupt, client, one.out);
}

}  // namespace

parts as_array(const std::vector<std::string>& answers) {
  parts pieces;
  for (const std::string& one : answers) {
    pieces.push_back(pieces.empty() ? "[" : ",");
    pieces.push_back(one);
  }
  pieces.push_back("]");
  return pieces;
}

bool has_batches(std::string_view revision) {
  return revision == "2025-03-26";
}

asio::awaitable<std::vector<std::string>> answer_batch(shard& here, const std::vector<std::string_view>& elements,
                                                       const sender& from, time_point arrived,
                                                       port::event_sink* client) {
  std::deque<element> answered;
  std::size_t running = 0;
  asio::steady_timer all_done(here.on.io, time_point::max());
  for (std::string_view text : elements) {
    element& one = answered.emplace_back(here.on.timers);
    const auto seen = protocol::peek(text, one.space);
    if (!seen) {
      one.refused = protocol::write_refusal(text, seen.error());
      continue;
    }
    one.seen = *seen;
    const incoming came{text, one.seen, arrived};
    if (seen->kind == protocol::kind::request && seen->method != "initialize") {
      ++running;
      asio::co_spawn(here.on.io, answer_one(here, text, from, arrived, client, one), [&](std::exception_ptr) {
        if (--running == 0) all_done.cancel();
      });
      continue;
    }
    if (seen->kind == protocol::kind::request) {
      one.refused = protocol::write_error(came.id(), protocol::code::invalid_request, "initialize stands alone");
      continue;
    }
    if (seen->kind == protocol::kind::notification) dispatch(here).notification(came, from);
    if (seen->kind == protocol::kind::response) dispatch(here).response(came, from);
    answered.pop_back();
  }
  while (running != 0) {
    error_code ignored;
    co_await all_done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  std::vector<std::string> answers;
  for (const element& one : answered) answers.push_back(one.answer());
  co_return answers;
}

}  // namespace switchgear::listen
