// Plain HTTP endpoints that answer as a test tells them to.
#pragma once

#include "port/web.hpp"
#include "support/fake_upstream.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::test {

inline port::web_reply page_of(std::string_view body, std::string_view media_type = "application/json",
                               int status = 200) {
  port::web_reply made;
  made.reply = reply_of(status < 300 ? port::fault::none : port::fault::bad_status, status,
                        "HTTP " + std::to_string(status) + " " + std::string(media_type));
  made.reply.sent = made.reply.head_seen = true;
  made.reply.body.append(body);
  made.media_type = media_type;
  return made;
}

/// All origins are one.
class fake_web final : public port::web, public port::web_origin {
 public:
  struct seen_request {
    std::string method, target, fields, body;
  };
  std::vector<std::string> origins;
  std::vector<seen_request> requests;

  void answer(port::web_reply next) { script_.push_back(std::move(next)); }
  /// The next request ends when it is interrupted, as all do for which there is no answer.
  void hang() { script_.push_back(std::nullopt); }

  port::web_origin& origin(std::string_view url) override {
    origins.emplace_back(url);
    return *this;
  }

  boost::asio::awaitable<port::web_reply> fetch(async::worker& on, port::web_request request,
                                                async::interrupt& interrupt) override {
    requests.push_back({std::string(request.method), std::string(request.target), std::string(request.fields),
                        std::string(request.body)});
    co_await boost::asio::post(on.io, boost::asio::use_awaitable);
    std::optional<port::web_reply> next;
    if (!script_.empty()) {
      next = std::move(script_.front());
      script_.pop_front();
    }
    if (next && !interrupt.raised()) co_return std::move(*next);
    if (!interrupt.raised()) co_await until_interrupted(on, interrupt);
    const bool late = interrupt.why() == async::interrupt::reason::deadline;
    co_return port::web_reply{reply_of(late ? port::fault::deadline : port::fault::cancelled), {}};
  }

 private:
  std::deque<std::optional<port::web_reply>> script_;
};

}  // namespace switchgear::test
