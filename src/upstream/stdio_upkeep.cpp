#include "upstream/stdio_upkeep.hpp"

#include "protocol/errors.hpp"
#include "upstream/listing_reader.hpp"
#include "upstream/printable.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration list_gap = std::chrono::seconds(1);          // however often a child says that its lists changed
constexpr duration stream_gap = std::chrono::milliseconds(20);  // however often the wanted resources change
constexpr duration shortest_pause = std::chrono::seconds(1);    // after a stream that ended
constexpr duration longest_pause = std::chrono::seconds(30);

}  // namespace

// The request whose response is the end of a modern child's news. What comes on it needs no sorting: the session knows
// each notification by its method.
class stdio_upkeep::stream final : public stdio_request {
 public:
  stream(stdio_upkeep& owner, std::uint64_t id, time_point opened) : id(id), opened(opened), owner_(&owner) {}

  void leave() { owner_ = nullptr; }

  bool is_stream() const override { return true; }
  bool begin() override { return owner_ != nullptr; }
  void answered(kept_message response) override {
    const protocol::message& seen = response.seen;
    if (owner_) owner_->stream_ended(*this, seen.error && seen.error_code == protocol::code::method_not_found);
  }
  void failed(port::fault, std::string_view, bool) override {
    if (owner_) owner_->stream_ended(*this, false);
  }

  const std::uint64_t id;
  const time_point opened;

 private:
  stdio_upkeep* owner_;
};

stdio_upkeep::stdio_upkeep(needs with) : with_(std::move(with)), stream_pause_(shortest_pause) {}

stdio_upkeep::~stdio_upkeep() {
  if (stream_) stream_->leave();
}

asio::awaitable<bool> stdio_upkeep::list(std::string& why) {
  list_changed_ = false;
  stdio_asking& asking = with_.asking;
  listing_reader reader(with_.hello, with_.era);
  while (!reader.done()) {
    const std::uint64_t id = asking.next_id++;
    const auto response = co_await ask_child(asking, id, reader.request(id), reader.method(), why);
    if (!response || !reader.take(response->seen, response->text.view(), why)) co_return false;
  }
  listed_at_ = async::worker::now();
  with_.listed(reader.finish());
  co_return true;
}

void stdio_upkeep::list_changed() {
  list_changed_ = true;
  with_.due_changed();
}

// Until now a watcher may have been told by us that it hears of changes when the child did not yet watch for them.
void stdio_upkeep::acknowledged(std::string_view stream_id) {
  const bool is_current = stream_ && (stream_id.empty() || stream_id == std::to_string(stream_->id));
  if (!is_current) return;
  for (const std::string& uri : std::exchange(fresh_, {})) with_.updated(uri);
}

bool stdio_upkeep::may_watch() const {
  return with_.hello.abilities.subscribe;
}

time_point stdio_upkeep::due() const {
  const time_point list_due = listed_at_ + (list_changed_ ? list_gap : with_.refresh);
  return std::min(list_due, news_due());
}

time_point stdio_upkeep::news_due() const {
  const bool as_wanted = !may_watch() || told_ == with_.watched;
  if (with_.era == protocol::era::legacy) return as_wanted ? time_point::max() : time_point::min();
  return !streams_ || (stream_ && as_wanted) ? time_point::max() : stream_due_;
}

asio::awaitable<void> stdio_upkeep::tend(time_point now) {
  if (now >= news_due()) {
    if (with_.era == protocol::era::modern) {
      listen(now);
    } else {
      co_await watch();
    }
  }
  if (now < listed_at_ + (list_changed_ ? list_gap : with_.refresh)) co_return;
  std::string why;
  if (co_await list(why)) co_return;
  listed_at_ = async::worker::now();
  if (with_.asking.session.usable()) {
    with_.remark("its lists could not be refreshed, the last ones stay: " + why);
  }
}

asio::awaitable<void> stdio_upkeep::watch() {
  // What is wanted may change while the child answers; the next round sees to that.
  const std::set<std::string> wanted = with_.watched;
  std::vector<std::string> ended, begun;
  std::ranges::set_difference(told_, wanted, std::back_inserter(ended));
  std::ranges::set_difference(wanted, told_, std::back_inserter(begun));
  told_ = wanted;
  bool answered = true;
  for (std::size_t i = 0; i < ended.size() && answered; ++i) answered = co_await watch(ended[i], false);
  for (std::size_t i = 0; i < begun.size() && answered; ++i) answered = co_await watch(begun[i], true);
}

asio::awaitable<bool> stdio_upkeep::watch(const std::string& uri, bool begin) {
  stdio_asking& asking = with_.asking;
  const std::uint64_t id = asking.next_id++;
  std::string why;
  const std::string_view method = begin ? "resources/subscribe" : "resources/unsubscribe";
  const auto response = co_await ask_child(asking, id, watch_request(id, uri, begin), method, why);
  if (response && response->seen.error) why = printable(response->seen.error.in(response->text.view()), 200);
  if (begin && !why.empty() && asking.session.usable() && !std::exchange(remarked_watch_, true)) {
    with_.remark("it does not tell when " + printable(uri, 120) + " changes: " + why);
  }
  if (begin && response && why.empty()) with_.updated(uri);
  co_return response.has_value();
}

void stdio_upkeep::listen(time_point now) {
  stdio_asking& asking = with_.asking;
  const std::shared_ptr<stream> before = std::move(stream_);
  if (before) before->leave();
  const std::set<std::string> old = std::exchange(told_, may_watch() ? with_.watched : std::set<std::string>());
  std::ranges::set_difference(told_, old, std::inserter(fresh_, fresh_.end()));
  stream_due_ = now + stream_gap;
  const std::uint64_t id = asking.next_id++;
  stream_ = std::make_shared<stream>(*this, id, now);
  asking.session.send(id, listen_request(id, told_) + "\n", stream_);
  // The old one ends after the new one was asked for, so that no news is missed between them.
  if (before && asking.session.forget(before->id)) {
    asking.session.post(cancelled_notification(before->id, "another stream takes its place") + "\n");
  }
}

void stdio_upkeep::stream_ended(const stream& which, bool refused) {
  const time_point now = async::worker::now();
  if (now - which.opened > longest_pause) stream_pause_ = shortest_pause;
  stream_due_ = now + stream_pause_;
  stream_pause_ = std::min(2 * stream_pause_, longest_pause);
  if (refused) streams_ = false;
  stream_.reset();
  fresh_ = told_;
  with_.due_changed();
}

}  // namespace switchgear::upstream
