// How an http_upstream hears and answers what its server says of its own accord.
#pragma once

#include "upstream/http_upstream.hpp"
#include "upstream/news_stream.hpp"
#include "upstream/sse_link.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <utility>

namespace switchgear::upstream {

/// Within a call: what is not the call's business.
class http_upstream::voice final : public exchange_session {
 public:
  voice(http_upstream& owner, async::worker& on, session_ptr used) : owner_(owner), on_(on), used_(std::move(used)) {}

  void respond(std::string response) override { owner_.note(on_, used_, std::move(response), most_responses); }
  void list_changed() override { owner_.lists_changed(used_->epoch); }

 private:
  static constexpr unsigned most_responses = 128;  // on their way at once, per worker

  http_upstream& owner_;
  async::worker& on_;
  const session_ptr used_;
};

/// Between calls, on the control worker: what one session's server says. A stream of its own for that, unless the
/// session has a link, on which everything comes. Lives until run() has ended.
class http_upstream::ear final : public news_stream::listener {
 public:
  ear(http_upstream& owner, session_ptr used) : owner_(owner), used_(used), voice_(owner, owner.control_, used) {}

  void open(news_stream::opening request) {
    stream_.emplace(owner_.control_, owner_.endpoint_, owner_.seats_.back()->pool, std::move(request), *this);
  }
  boost::asio::awaitable<void> run() { return stream_->run(); }
  void stop() {
    if (stream_) stream_->stop();
    if (used_->link) used_->link->stop();
  }

  void respond(std::string response) override { voice_.respond(std::move(response)); }
  void list_changed() override { voice_.list_changed(); }
  void notified(std::string_view text, const protocol::message& seen) override {
    owner_.watcher_.notified(owner_.index_, text, seen);
  }
  boost::asio::awaitable<std::string> asked(std::string_view text, const protocol::message& seen,
                                            async::interrupt& until) override {
    return owner_.watcher_.asked(owner_.index_, text, seen, until);
  }

 private:
  http_upstream& owner_;
  const session_ptr used_;
  voice voice_;
  std::optional<news_stream> stream_;
};

}  // namespace switchgear::upstream
