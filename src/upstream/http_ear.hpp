// How an http_upstream hears and answers what its server says of its own accord.
#pragma once

#include "upstream/http_upstream.hpp"
#include "upstream/news_stream.hpp"
#include "upstream/sse_link.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace switchgear::upstream {

/// Within a call: what is not the call's business.
class http_upstream::voice final : public exchange_session {
 public:
  static constexpr unsigned most_responses = 128;  // on their way at once, per worker

  /// `credential`: the call's, which outlives this.
  voice(http_upstream& owner, async::worker& on, session_ptr used, std::string_view credential)
      : owner_(owner), on_(on), used_(std::move(used)), credential_(credential) {}

  void respond(std::string response) override {
    owner_.note(on_, used_, std::move(response), most_responses, std::string(credential_));
  }
  void list_changed() override { owner_.lists_changed(used_->epoch); }

 private:
  http_upstream& owner_;
  async::worker& on_;
  const session_ptr used_;
  const std::string_view credential_;
};

/// Between calls, on the control worker: what one session's server says. A stream of its own for that, unless the
/// session has a link, on which everything comes. Lives until run() has ended.
class http_upstream::ear final : public news_stream::listener {
 public:
  ear(http_upstream& owner, session_ptr used) : owner_(owner), used_(std::move(used)) {}

  /// Goes on from the one before, which hears until this one does: nothing may be missed between two streams. `fresh`
  /// are resources that nobody has watched so far, whose changes may be missed until then.
  void follow(std::shared_ptr<ear> before, std::set<std::string> fresh) {
    fresh_ = std::move(fresh);
    if (before && !before->acknowledged_) {
      before->stop_stream();
      fresh_.merge(before->fresh_);
      before = std::move(before->before_);
    }
    before_ = std::move(before);
  }
  bool hears(const session& of) const { return used_.get() == &of; }
  void open(news_stream::opening request) {
    stream_.emplace(owner_.control_, owner_.endpoint_, owner_.seats_.back()->pool, std::move(request), *this);
  }
  boost::asio::awaitable<void> run() { return stream_->run(); }
  void stop() {
    if (before_) std::exchange(before_, nullptr)->stop();
    stop_stream();
    if (used_->link) used_->link->stop();
  }

  void respond(std::string response) override {
    owner_.note(owner_.control_, used_, std::move(response), voice::most_responses, *owner_.credential_.now());
  }
  void list_changed() override { owner_.lists_changed(used_->epoch); }
  void notified(std::string_view text, const protocol::message& seen) override {
    owner_.watcher_.notified(owner_.index_, text, seen);
  }
  void acknowledged(bool again) override {
    acknowledged_ = true;
    if (before_) std::exchange(before_, nullptr)->stop();
    // What has changed until now nobody can tell: whoever watches has to look.
    for (const std::string& uri : again ? owner_.watching_ : std::exchange(fresh_, {})) {
      notify_updated(owner_.watcher_, owner_.index_, uri);
    }
  }
  boost::asio::awaitable<std::string> asked(std::string_view text, const protocol::message& seen,
                                            async::interrupt& until) override {
    return owner_.watcher_.asked(owner_.index_, text, seen, until);
  }

 private:
  void stop_stream() {
    if (stream_) stream_->stop();
  }

  http_upstream& owner_;
  const session_ptr used_;
  std::optional<news_stream> stream_;
  std::shared_ptr<ear> before_;
  std::set<std::string> fresh_;
  bool acknowledged_ = false;
};

}  // namespace switchgear::upstream
