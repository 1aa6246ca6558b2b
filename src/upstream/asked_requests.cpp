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

asked_requests::asked_requests(async::worker& on, duration limit, asker ask,
                               std::function<void(std::string response)> answer)
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
  if (auto kept = read_message(text, space_)) open({*std::move(kept), answer_});
}

void asked_requests::open(asked_request asked) {
  const auto one = std::make_shared<question>(on_, std::move(asked));
  if (limit_ != duration::zero()) one->until.arm(async::worker::now() + limit_);
  open_.push_back(one);
  asio::co_spawn(on_.io, answer_one(one), [this, one](std::exception_ptr) {
    std::erase(open_, one);
    if (open_.empty()) none_open_.cancel();
  });
}

asio::awaitable<void> asked_requests::answer_one(std::shared_ptr<question> one) {
  const kept_message& request = one->asked.request;
  std::string response = co_await ask_(request.text.view(), request.seen, one->until);
  if (!one->taken_back) one->asked.answer(std::move(response));
}

void asked_requests::take_back(std::string_view id) {
  const auto found = std::ranges::find_if(open_, [&](const auto& one) {
    const kept_message& request = one->asked.request;
    return request.seen.id.in(request.text.view()) == id;
  });
  if (found == open_.end()) return;
  const std::shared_ptr<question> one = *found;
  one->taken_back = true;
  one->until.raise(async::interrupt::reason::cancelled);
}

asio::awaitable<void> asked_requests::end(last_words said) {
  for (const auto& one : std::vector(open_)) {
    one->taken_back = one->taken_back || said == last_words::none;
    one->until.raise(async::interrupt::reason::cancelled);
  }
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
