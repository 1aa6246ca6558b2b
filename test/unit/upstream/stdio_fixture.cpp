#include "unit/upstream/stdio_fixture.hpp"

#include "protocol/message.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <algorithm>

namespace switchgear::test {

namespace asio = boost::asio;

namespace {

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

void run(async::worker& worker) {
  const auto work = asio::make_work_guard(worker.io);
  worker.io.run();
}

std::string first_text(std::string_view response) {
  boost::json::error_code error;
  const auto value = boost::json::parse(response, error);
  if (error) return {};
  const auto text = value.find_pointer("/result/content/0/text", error);
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : std::string();
}

std::string response_to(std::string_view text, const protocol::message& seen, std::string_view what) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(seen.id.in(text)) + "," + std::string(what) + "}";
}

// A client that answers at once, unless it is asked for something of `elicitation`: that it leaves open.
class recording_client final : public port::client_side {
 public:
  void take(std::string_view text, const protocol::message&) override { texts.emplace_back(text); }
  asio::awaitable<void> flush() override { co_return; }
  asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                   async::interrupt& until) override {
    texts.emplace_back(text);
    if (seen.method != "elicitation/create") co_return response_to(text, seen, R"("result":{"model":"m"})");
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    const async::interrupt::guard guard(
        until, [](void* timer) { static_cast<asio::steady_timer*>(timer)->cancel(); }, &never);
    while (!until.raised()) co_await never.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return response_to(text, seen, R"("error":{"code":-1,"message":"nobody waits"})");
  }
  std::vector<std::string> texts;
};

}  // namespace

bool until(const std::function<bool()>& condition, duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::vector<std::string> small_server(std::vector<std::string> modes) {
  std::vector<std::string> command{"python3", "-S", SWITCHGEAR_TEST_SUPPORT "/stdio_server.py"};
  command.insert(command.end(), modes.begin(), modes.end());
  return command;
}

void recording_observer::listed(unsigned, upstream::listing tools) {
  const std::lock_guard lock(mutex_);
  lists_.push_back(std::move(tools));
}

void recording_observer::state_changed(unsigned, const port::upstream_status& status) {
  const std::lock_guard lock(mutex_);
  states_.push_back(status);
}

void recording_observer::remark(unsigned, std::string_view line) {
  const std::lock_guard lock(mutex_);
  remarks_.emplace_back(line);
}

void recording_observer::notified(unsigned, std::string_view text, const protocol::message&) {
  const std::lock_guard lock(mutex_);
  notifications_.emplace_back(text);
}

asio::awaitable<std::string> recording_observer::asked(unsigned, std::string_view text, const protocol::message& seen,
                                                       async::interrupt&) {
  const std::lock_guard lock(mutex_);
  questions_.emplace_back(text);
  co_return response_to(text, seen, R"("result":{"roots":[]})");
}

std::vector<upstream::listing> recording_observer::lists() const {
  const std::lock_guard lock(mutex_);
  return lists_;
}

std::vector<port::upstream_status> recording_observer::states() const {
  const std::lock_guard lock(mutex_);
  return states_;
}

std::vector<std::string> recording_observer::remarks() const {
  const std::lock_guard lock(mutex_);
  return remarks_;
}

std::vector<std::string> recording_observer::notifications() const {
  const std::lock_guard lock(mutex_);
  return notifications_;
}

std::vector<std::string> recording_observer::questions() const {
  const std::lock_guard lock(mutex_);
  return questions_;
}

bool recording_observer::remarked(std::string_view part) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& line : remarks_) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

stdio_fixture::stdio_fixture() {
  settings.alias = "small";
  settings.is_stdio = true;
  settings.stdio.command = small_server();
  settings.handshake_timeout = std::chrono::seconds(10);
}

stdio_fixture::~stdio_fixture() {
  if (upstream_) stop();
  data_.io.stop();
  control_.io.stop();
  if (data_thread_.joinable()) data_thread_.join();
  if (control_thread_.joinable()) control_thread_.join();
  control_.io.abandon();
  data_.io.abandon();
}

void stdio_fixture::start() {
  upstream_ = std::make_unique<upstream::stdio_upstream>(control_, 0, settings, observed, 42, role);
  data_thread_ = std::thread(run, std::ref(data_));
  control_thread_ = std::thread(run, std::ref(control_));
  asio::post(control_.io, [this] { upstream_->start(); });
}

void stdio_fixture::start_ready() {
  start();
  ASSERT_TRUE(until([&] { return upstream_->status().state == port::upstream_state::ready; }))
      << upstream_->status().reason;
}

duration stdio_fixture::stop() {
  if (std::exchange(stopped_, true)) return {};
  const auto begin = std::chrono::steady_clock::now();
  std::promise<void> done;
  asio::co_spawn(control_.io, upstream_->stop(), [&](std::exception_ptr error) {
    done.set_value();
    rethrow(error);
  });
  done.get_future().wait();
  return std::chrono::steady_clock::now() - begin;
}

std::future<called> stdio_fixture::call_soon(std::string tool, std::string arguments, duration deadline) {
  std::string request = R"({"jsonrpc":"2.0","id":"client-7","method":"tools/call","params":{"name":"exported__x",)"
                        R"("_meta":{"progressToken":"client-token"},"arguments":)" +
                        std::move(arguments) + "}}";
  return call_text(std::move(request), std::move(tool), deadline);
}

called stdio_fixture::call(std::string tool, std::string arguments, duration deadline) {
  return call_soon(std::move(tool), std::move(arguments), deadline).get();
}

std::future<called> stdio_fixture::call_text(std::string request, std::string tool, duration deadline) {
  auto done = std::make_shared<std::promise<called>>();
  auto future = done->get_future();
  asio::co_spawn(data_.io, make_call(std::move(request), std::move(tool), deadline, std::move(done)), rethrow);
  return future;
}

asio::awaitable<void> stdio_fixture::make_call(std::string request, std::string tool, duration deadline,
                                               std::shared_ptr<std::promise<called>> done) {
  buffer text;
  text.append(request);
  protocol::scratch space;
  const auto seen = protocol::peek(text.view(), space);
  if (!seen) throw std::runtime_error("the test's request is no message");
  const time_point begin = async::worker::now();
  async::interrupt interrupt(data_.timers);
  interrupt.arm(begin + deadline);
  in_flight_[tool] = &interrupt;
  recording_client listener;
  const port::outgoing_request outgoing{.text = text.view(), .seen = &*seen, .target = tool, .client = client};
  port::reply reply = co_await upstream_->call(data_, outgoing, interrupt, has_listener ? &listener : nullptr);
  called out;
  out.took = async::worker::now() - begin;
  out.fault = reply.fault;
  out.sent = reply.sent;
  out.body = reply.body.view();
  out.text = first_text(out.body);
  out.detail = reply.detail;
  out.heard = std::move(listener.texts);
  out.era = reply.era;
  if (in_flight_[tool] == &interrupt) in_flight_.erase(tool);
  done->set_value(std::move(out));
}

void stdio_fixture::watch(std::set<std::string> uris) {
  asio::post(control_.io, [this, uris = std::move(uris)] { upstream_->watch(uris); });
}

std::vector<std::string> stdio_fixture::received() {
  std::vector<std::string> lines;
  const auto texts = boost::json::parse(call("received").text);
  for (const auto& line : texts.as_array()) lines.emplace_back(line.as_string());
  return lines;
}

bool stdio_fixture::receives(std::vector<std::string> parts) {
  return until([&] {
    return std::ranges::any_of(received(), [&](const std::string& line) {
      return std::ranges::all_of(parts, [&](const std::string& part) { return line.find(part) != std::string::npos; });
    });
  });
}

void stdio_fixture::cancel_call(std::string tool) {
  asio::post(data_.io, [this, tool = std::move(tool)] {
    const auto found = in_flight_.find(tool);
    if (found != in_flight_.end()) found->second->raise(async::interrupt::reason::cancelled);
  });
}

}  // namespace switchgear::test
