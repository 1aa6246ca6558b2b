// How an http_upstream hears and answers what its server says of its own accord.
#pragma once

#include "upstream/http_upstream.hpp"
#include "upstream/news_stream.hpp"

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
  session_ptr used_;
};

/// Between calls, on the control worker: one session's stream of news. Lives until its coroutine has ended.
class http_upstream::ear final : public news_stream::listener {
 public:
  ear(http_upstream& owner, session_ptr used, news_stream::opening request)
      : owner_(owner),
        voice_(owner, owner.control_, std::move(used)),
        stream(owner.control_, owner.endpoint_, owner.seats_.back()->pool, std::move(request), *this) {}

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
  voice voice_;

 public:
  news_stream stream;
};

}  // namespace switchgear::upstream
