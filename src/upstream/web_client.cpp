#include "upstream/web_client.hpp"

#include "base/version.hpp"

#include <chrono>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration connect_timeout = std::chrono::seconds(5);  // the call's deadline comes before it, mostly
constexpr std::size_t most_connections = 1024;                 // of one worker to one origin

http_endpoint endpoint_of(const std::string& url, std::size_t max_answer) {
  http_endpoint endpoint{read_url(url).value(), nullptr, connect_timeout, max_answer};
  if (endpoint.address.tls) endpoint.tls = std::make_unique<tls_context>("");
  return endpoint;
}

}  // namespace

class web_client::place final : public port::web_origin {
 public:
  place(const std::vector<async::worker*>& workers, const std::string& url, std::size_t max_answer)
      : endpoint_(endpoint_of(url, max_answer)) {
    for (async::worker* one : workers) pools_.push_back(std::make_unique<connection_pool>(*one, most_connections));
  }

  asio::awaitable<port::web_reply> fetch(async::worker& on, port::web_request request,
                                         async::interrupt& interrupt) override {
    const std::string head = head_of(request);
    http_request sent{.head = head, .fields = request.fields, .may_redirect = false};
    if (!request.body.empty()) sent.body.push_back(request.body);
    http_transfer transfer(on, endpoint_, *pools_[on.index], interrupt);
    http_reply got;
    if (co_await transfer.begin(sent, got)) co_await read_answer(transfer, got.reply);
    co_return port::web_reply{std::move(got.reply), std::string(transfer.media_type())};
  }

 private:
  std::string head_of(const port::web_request& request) const {
    std::string head(request.method);
    head.append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ").append(endpoint_.address.authority);
    head.append("\r\nUser-Agent: switchgear/").append(version);
    head.append(
        "\r\nAccept: application/json, text/plain;q=0.9, text/*;q=0.5, */*;q=0.1\r\nAccept-Encoding: identity\r\n");
    if (!request.body.empty()) head.append("Content-Type: application/json\r\n");
    return head;
  }

  asio::awaitable<void> read_answer(http_transfer& transfer, port::reply& reply) const {
    const bool good = reply.status >= 200 && reply.status < 300;
    if (good) {
      if (!co_await transfer.read_whole(reply, endpoint_.max_answer)) co_return;
    } else {
      reply.fault = port::fault::bad_status;
      port::reply aside;  // what goes wrong while reading the failure must not hide the failure
      aside.sent = aside.head_seen = true;
      if (!co_await transfer.read_whole(aside, most_failure_body)) {
        reply.detail = transfer.page();
        if (aside.fault == port::fault::cancelled) reply.fault = aside.fault;
        co_return;
      }
    }
    reply.body = std::move(transfer.payload());
    reply.detail = transfer.page();
    if (!reply.body.empty()) reply.detail += ": " + shown(reply.body.view());
    transfer.finish();
  }

  http_endpoint endpoint_;
  std::vector<std::unique_ptr<connection_pool>> pools_;  // by worker
};

web_client::web_client(std::vector<async::worker*> workers, std::size_t max_answer)
    : workers_(std::move(workers)), max_answer_(max_answer) {}

web_client::~web_client() = default;

port::web_origin& web_client::origin(std::string_view url) {
  auto found = places_.find(url);
  if (found == places_.end()) {
    std::string text(url);
    auto made = std::make_unique<place>(workers_, text, max_answer_);
    found = places_.emplace(std::move(text), std::move(made)).first;
  }
  return *found->second;
}

}  // namespace switchgear::upstream
