#include "upstream/stdio_greeting.hpp"

#include "upstream/printable.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

// Its asker waits on the same thread, until the timer expires or is cancelled by an end.
class question final : public stdio_request {
 public:
  explicit question(asio::io_context& io) : timer_(io) {}

  asio::awaitable<void> settle_within(duration limit) {
    if (settled()) co_return;
    timer_.expires_after(limit);
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  std::optional<kept_message>& response() { return response_; }
  const std::string& failure() const { return failure_; }
  bool settled() const { return response_.has_value() || !failure_.empty(); }

  bool begin() override { return true; }
  void answered(kept_message response) override {
    response_ = std::move(response);
    timer_.cancel();
  }
  void failed(port::fault, std::string_view detail, bool) override {
    failure_ = detail;
    timer_.cancel();
  }

 private:
  asio::steady_timer timer_;
  std::optional<kept_message> response_;
  std::string failure_;
};

std::string error_text(std::string_view what, const protocol::message& seen) {
  std::string text = "it answered " + std::string(what) + " with error " + std::to_string(seen.error_code);
  if (!seen.error_message.empty()) text += ": " + printable(seen.error_message, 200);
  return text;
}

asio::awaitable<bool> discover(stdio_asking with, server_hello& hello) {
  const std::uint64_t id = with.next_id++;
  std::string why;
  const auto response = co_await ask_child(with, id, discover_request(id), "server/discover", why);
  if (!response || response->seen.error) co_return false;
  co_return read_discovery(response->seen.result.in(response->text.view()), hello, why);
}

}  // namespace

asio::awaitable<std::optional<kept_message>> ask_child(stdio_asking with, std::uint64_t id, std::string text,
                                                       std::string_view what, std::string& why) {
  const auto asked = std::make_shared<question>(with.on.io);
  with.session.send(id, std::move(text) + "\n", asked);
  co_await asked->settle_within(with.timeout);
  if (!asked->settled()) {
    with.session.forget(id);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(with.timeout);
    why = "no answer to " + std::string(what) + " in " + std::to_string(waited.count()) + " ms";
  } else if (!asked->response()) {
    why = asked->failure();
  }
  co_return std::move(asked->response());
}

asio::awaitable<std::optional<protocol::era>> greet(stdio_asking with, greeting how, server_hello& hello,
                                                    std::string& why) {
  if (how.first == opening::modern_only) {
    if (co_await discover(with, hello)) co_return protocol::era::modern;
    why = "it does not answer server/discover as a server of the modern era";
    co_return std::nullopt;
  }
  bool probed = how.first == opening::legacy_only;  // and answered
  if (how.first == opening::modern_first) {
    const std::uint64_t id = with.next_id++;
    const auto probe = std::make_shared<question>(with.on.io);
    with.session.send(id, discover_request(id) + "\n", probe);
    co_await probe->settle_within(how.probe_timeout);
    // An answer that comes later is nobody's: a child that starts slowly is asked again if it refuses initialize.
    if (const auto& response = probe->response()) {
      probed = true;
      std::string not_modern;
      if (!response->seen.error && read_discovery(response->seen.result.in(response->text.view()), hello, not_modern)) {
        co_return protocol::era::modern;
      }
    } else if (probe->settled()) {
      why = probe->failure();
      co_return std::nullopt;
    }
  }
  const std::uint64_t id = with.next_id++;
  const auto response = co_await ask_child(with, id, initialize_request(id, how.abilities), "initialize", why);
  if (!response) co_return std::nullopt;
  if (response->seen.error) {
    if (!probed && co_await discover(with, hello)) co_return protocol::era::modern;
    why = error_text("initialize", response->seen);
    co_return std::nullopt;
  }
  if (!read_hello(response->seen.result.in(response->text.view()), hello, why)) co_return std::nullopt;
  with.session.post(std::string(initialized_notification) + "\n");
  co_return protocol::era::legacy;
}

}  // namespace switchgear::upstream
