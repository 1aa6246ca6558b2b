// The control worker's side of http_upstream: what the server offers, and what it tells by itself.
#include "upstream/http_ear.hpp"
#include "upstream/http_upstream.hpp"
#include "upstream/listing_reader.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

std::string fields_for(protocol::era era, std::string_view method) {
  return era == protocol::era::modern ? mirrored_fields(method, {}) : std::string();
}

}  // namespace

time_point http_upstream::next_listing() const {
  if (!options_.role.lists) return time_point::max();
  if (!listed_) return time_point{};
  return last_listing_ + (listing_wanted_ ? options_.listing_gap : settings_.refresh);
}

asio::awaitable<bool> http_upstream::list() {
  listing_wanted_ = false;
  last_listing_ = async::worker::now();
  const session_ptr of = session_;
  listing_reader reader(of->hello, of->era);
  std::string why;
  denied_ = 0;
  while (why.empty() && !reader.done()) {
    const std::string method(reader.method());
    const std::uint64_t id = next_id(control_);
    http_reply page;
    co_await ask(*of, fields_for(of->era, method), reader.request(id), std::to_string(id), page);
    if (loss_of(*of, page) != loss::none) lost_epoch_ = std::max(lost_epoch_, of->epoch);
    const bool answered = page.reply.has_message && (page.reply.fault == port::fault::none || page.reply.message.error);
    if (!answered) {
      note_denial(page.reply.status);
      why = method + " failed: " + page.reply.detail;
    } else {
      reader.take(page.reply.message, page.reply.body.view(), why);
    }
  }
  if (!why.empty()) {
    listing_wanted_ = true;  // until one is whole: what changed would otherwise wait for the next refresh
    set_state(port::upstream_state::degraded, std::move(why), denied_);
    co_return false;
  }
  listed_ = true;
  watcher_.listed(index_, reader.finish());
  co_return true;
}

void http_upstream::watch(std::set<std::string> uris) {
  wanted_ = std::move(uris);
  wake();
}

asio::awaitable<void> http_upstream::update_watches() {
  if (wanted_ == watching_ || !session_->hello.abilities.subscribe) co_return;
  const session_ptr of = session_;
  if (of->era == protocol::era::modern) {
    std::set<std::string> fresh;
    std::ranges::set_difference(wanted_, watching_, std::inserter(fresh, fresh.end()));
    watching_ = wanted_;
    listen(std::move(fresh));
    co_return;
  }
  const std::set<std::string> wanted = wanted_, before = watching_;
  std::vector<std::string> fresh, gone;
  std::ranges::set_difference(wanted, before, std::back_inserter(fresh));
  std::ranges::set_difference(before, wanted, std::back_inserter(gone));
  for (std::size_t i = 0; i < fresh.size() + gone.size(); ++i) {
    const bool begin = i < fresh.size();
    const std::string& uri = begin ? fresh[i] : gone[i - fresh.size()];
    const std::uint64_t id = next_id(control_);
    http_reply done;
    co_await ask(*of, {}, watch_request(id, uri, begin), std::to_string(id), done);
    if (loss_of(*of, done) != loss::none) lost_epoch_ = std::max(lost_epoch_, of->epoch);
    if (lost_epoch_ >= of->epoch || !done.reply.has_message) co_return;  // the whole difference is tried again
    if (done.reply.message.error) {
      watcher_.remark(index_, "it does not let us watch the resource " + uri);
    } else if (begin) {
      // Whoever watches was told so before the server was: what has changed until now nobody can tell.
      notify_updated(watcher_, index_, uri);
    }
  }
  watching_ = wanted;
}

// A legacy server may have learnt the modern era since it was asked last, and would never say so.
asio::awaitable<void> http_upstream::check_era() {
  if (settings_.http.sse || settings_.era || session_->era == protocol::era::modern) co_return;
  if (async::worker::now() < legacy_until_) co_return;
  legacy_until_ = async::worker::now() + options_.legacy_verdict;
  std::optional<protocol::era> shown;
  http_reply said;
  session_ptr modern = co_await discover(shown, said);
  if (!modern) co_return;
  legacy_until_ = {};
  const session_ptr old = session_;
  drop_session();
  use_session(std::move(modern));
  co_await end_session(old);
}

asio::awaitable<void> http_upstream::hear(std::shared_ptr<ear> one) {
  co_await one->run();
}

void http_upstream::listen(std::set<std::string> fresh) {
  std::shared_ptr<ear> before = std::move(ear_);
  ear_ = std::make_shared<ear>(*this, session_);
  const bool follows = before && session_->era == protocol::era::modern && before->hears(*session_);
  if (follows) {
    ear_->follow(std::move(before), std::move(fresh));
  } else if (before) {
    before->stop();
  }
  if (session_->link) {
    session_->link->attach(ear_.get(), [this, epoch = session_->epoch] {
      lost_epoch_ = std::max(lost_epoch_, epoch);
      wake();
    });
    return;
  }
  if (!options_.role.news) return;
  news_stream::opening request;
  if (session_->era == protocol::era::modern) {
    const std::uint64_t id = next_id(control_);
    request = {session_->post_head, mirrored_fields("subscriptions/listen", {}), listen_request(id, watching_),
               std::to_string(id), &credential_};
  } else {
    request.head = session_->get_head;
    request.credential = &credential_;
  }
  ear_->open(std::move(request));
  asio::co_spawn(control_.io, hear(ear_), [](std::exception_ptr) {});
}

}  // namespace switchgear::upstream
