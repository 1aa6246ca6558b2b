#include "upstream/asked_requests.hpp"

#include "protocol/errors.hpp"
#include "protocol/results.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

asked_requests::asked_requests(async::worker& on, duration limit, asker ask, answerer answer)
    : on_(on),
      limit_(limit),
      ask_(std::move(ask)),
      answer_(std::move(answer)),
      none_open_(on.io, asio::steady_timer::time_point::max()) {}

void asked_requests::add(std::string_view text, const protocol::message& seen) {
  const std::string_view id = seen.id.in(text);
  if (seen.method == "ping") return answer_(protocol::write_result(id, protocol::empty_result));
  if (open_.size() >= most_open) {
    return answer_(protocol::write_error(id, protocol::code::overloaded, "too many requests at once"));
  }
  auto one = std::make_shared<question>(on_);
  one->text = on_.buffers.take();
  one->text.append(text);
  // The same text was read a moment ago; only its unescaped views need memory that lasts.
  const auto again = protocol::peek(one->text.view(), one->space);
  if (!again) return;
  one->seen = *again;
  if (limit_ != duration::zero()) one->until.arm(async::worker::now() + limit_);
  open_.push_back(one);
  asio::co_spawn(on_.io, answer_one(std::move(one)), [](std::exception_ptr) {});
}

asio::awaitable<void> asked_requests::answer_one(std::shared_ptr<question> one) {
  std::string response = co_await ask_(one->text.view(), one->seen, one->until);
  std::erase(open_, one);
  if (!one->taken_back) answer_(std::move(response));
  if (open_.empty()) none_open_.cancel();
}

void asked_requests::take_back(question& one) {
  one.taken_back = true;
  one.until.raise(async::interrupt::reason::cancelled);
}

void asked_requests::take_back(std::string_view id) {
  const auto found =
      std::ranges::find_if(open_, [&](const auto& one) { return one->seen.id.in(one->text.view()) == id; });
  if (found != open_.end()) take_back(*std::shared_ptr<question>(*found));
}

asio::awaitable<void> asked_requests::end() {
  const std::vector<std::shared_ptr<question>> all = open_;
  for (const auto& one : all) take_back(*one);
  while (!open_.empty()) {
    error_code ignored;
    co_await none_open_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

std::string refusal_of(std::string_view text, const protocol::message& request) {
  const std::string_view id = request.id.in(text);
  if (request.method == "ping") return protocol::write_result(id, protocol::empty_result);
  return protocol::write_error(id, protocol::code::method_not_found, "the client does not take this request");
}

}  // namespace switchgear::upstream
