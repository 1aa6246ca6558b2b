#include "upstream/stdio_questions.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

stdio_questions::stdio_questions(async::worker& on, duration limit, asker ask)
    : on_(on), limit_(limit), ask_(std::move(ask)), one_ended_(on.io, asio::steady_timer::time_point::max()) {}

void stdio_questions::open(stdio_question question) {
  const auto one = std::make_shared<entry>(on_, std::move(question));
  one->until.arm(async::worker::now() + limit_);
  open_.push_back(one);
  asio::co_spawn(on_.io, run(one), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

asio::awaitable<void> stdio_questions::run(std::shared_ptr<entry> one) {
  const stdio_message& request = one->question.request;
  std::string response = co_await ask_(request.text.view(), request.seen, one->until);
  one->question.answer(std::move(response));
  std::erase(open_, one);
  one_ended_.cancel();
}

void stdio_questions::withdraw(std::string_view id) {
  for (const auto& one : open_) {
    const stdio_message& request = one->question.request;
    if (request.seen.id.in(request.text.view()) != id) continue;
    one->until.raise(async::interrupt::reason::cancelled);
    return;
  }
}

asio::awaitable<void> stdio_questions::end(async::interrupt::reason why) {
  for (const auto& one : std::vector(open_)) one->until.raise(why);
  while (!open_.empty()) co_await one_ended_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace switchgear::upstream
