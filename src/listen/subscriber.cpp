#include "listen/subscriber.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {
constexpr protocol::list_changes every_list{.tools = true, .prompts = true, .resources = true};
}  // namespace

subscriber::subscriber(async::worker& on, std::shared_ptr<listen::session> session)
    : session_(std::move(session)), filter_{.lists = every_list}, wake_(on.io) {}

subscriber::subscriber(async::worker& on, std::string id, protocol::subscription_filter filter)
    : id_(std::move(id)), filter_(std::move(filter)), wake_(on.io) {
  std::ranges::sort(filter_.uris);
}

void subscriber::tell(const protocol::list_changes& changed) {
  const protocol::list_changes told = both(changed, filter_.lists);
  if (told.tools) push(protocol::write_list_changed("tools", id_));
  if (told.prompts) push(protocol::write_list_changed("prompts", id_));
  if (told.resources) push(protocol::write_list_changed("resources", id_));
}

void subscriber::tell_updated(std::string_view uri) {
  if (std::ranges::binary_search(filter_.uris, uri)) push(protocol::write_resource_updated(uri, id_));
}

void subscriber::push(std::string message) {
  if (ended_) return;
  bytes_ += message.size();
  waiting_.push_back(std::move(message));
  if (bytes_ > most_waiting) {
    waiting_.clear();
    end();
  } else {
    wake_.cancel();
  }
}

void subscriber::end() {
  ended_ = true;
  wake_.cancel();
}

asio::awaitable<void> subscriber::deliver(port::event_sink& client, async::interrupt& until) {
  const async::interrupt::guard guard(until, [](void* self) { static_cast<subscriber*>(self)->end(); }, this);
  while (!until.raised()) {
    if (waiting_.empty() && ended_) break;
    if (waiting_.empty()) {
      error_code ignored;
      wake_.expires_at(time_point::max());
      co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    const std::vector<std::string> taken = std::exchange(waiting_, {});
    bytes_ = 0;
    for (const std::string& message : taken) {
      parts pieces;
      pieces.push_back(message);
      client.add(std::move(pieces));
    }
    co_await client.flush();
  }
}

}  // namespace switchgear::listen
