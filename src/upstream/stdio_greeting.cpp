#include "upstream/stdio_greeting.hpp"

#include "upstream/printable.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

// A request of our own: its asker waits on the same thread, until the timer expires or is cancelled by an end.
class question final : public stdio_request {
 public:
  question(asio::io_context& io, duration timeout) : timer_(io) { timer_.expires_after(timeout); }

  asio::steady_timer& timer() { return timer_; }
  std::optional<stdio_message>& response() { return response_; }
  const std::string& failure() const { return failure_; }
  bool settled() const { return response_.has_value() || !failure_.empty(); }

  bool begin() override { return true; }
  void progressed(stdio_message) override {}
  void answered(stdio_message response) override {
    response_ = std::move(response);
    timer_.cancel();
  }
  void failed(port::fault, std::string_view detail, bool) override {
    failure_ = detail;
    timer_.cancel();
  }

 private:
  asio::steady_timer timer_;
  std::optional<stdio_message> response_;
  std::string failure_;
};

// The response to one request; empty with `why` when there is none.
asio::awaitable<std::optional<stdio_message>> ask(stdio_greeting with, std::uint64_t id, std::string text,
                                                  std::string_view what, std::string& why) {
  const auto asked = std::make_shared<question>(with.on.io, with.timeout);
  with.session.send(id, std::move(text) + "\n", asked);
  if (!asked->settled()) co_await asked->timer().async_wait(asio::as_tuple(asio::use_awaitable));
  if (!asked->settled()) {
    with.session.forget(id);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(with.timeout);
    why = "no answer to " + std::string(what) + " in " + std::to_string(waited.count()) + " ms";
  } else if (!asked->response()) {
    why = asked->failure();
  }
  co_return std::move(asked->response());
}

std::string error_text(std::string_view what, const protocol::message& seen) {
  std::string text = "it answered " + std::string(what) + " with error " + std::to_string(seen.error_code);
  if (!seen.error_message.empty()) text += ": " + printable(seen.error_message, 200);
  return text;
}

}  // namespace

asio::awaitable<bool> greet(stdio_greeting with, server_hello& hello, std::string& why) {
  const std::uint64_t id = with.next_id++;
  const auto response = co_await ask(with, id, initialize_request(id), "initialize", why);
  if (!response) co_return false;
  if (response->seen.error) {
    why = error_text("initialize", response->seen);
    co_return false;
  }
  if (!read_hello(response->seen.result.in(response->text.view()), hello, why)) co_return false;
  with.session.post(std::string(initialized_notification) + "\n");
  co_return true;
}

asio::awaitable<bool> list_tools(stdio_greeting with, listing& tools, std::string& why) {
  std::string cursor;
  std::size_t bytes = 0;
  while (tools.tools.size() < most_pages) {
    const std::uint64_t id = with.next_id++;
    const auto response = co_await ask(with, id, tools_list_request(id, cursor), "tools/list", why);
    if (!response) co_return false;
    const protocol::message& seen = response->seen;
    if (seen.error) {
      if (tools.tools.empty() && means_no_tools(seen.error_code)) co_return true;
      why = error_text("tools/list", seen);
      co_return false;
    }
    tools.tools.emplace_back(seen.result.in(response->text.view()));
    bytes += tools.tools.back().size();
    if (bytes > most_list_bytes) break;
    const std::string_view next = seen.next_cursor.in(response->text.view());
    if (next.empty() || next == "null") co_return true;
    if (next == cursor) {
      why = "tools/list gave the same cursor twice";
      co_return false;
    }
    cursor = next;
  }
  why = "tools/list does not come to an end";
  co_return false;
}

}  // namespace switchgear::upstream
