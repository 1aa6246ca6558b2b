#include "listen/parked_answers.hpp"

#include "async/wait.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

// Who waits for an answer. Touched on its worker only.
struct parked_answers::visitor : std::enable_shared_from_this<visitor> {
  explicit visitor(async::worker& worker) : on(worker), wake(worker.io, time_point::max()) {}

  void tell() {
    asio::post(on.io, [self = shared_from_this()] {
      self->told = true;
      self->wake.cancel();
    });
  }

  async::worker& on;
  asio::steady_timer wake;
  bool told = false;
};

std::string parked_answers::begin(std::string_view session) {
  const std::lock_guard lock(mutex_);
  if (open_.size() >= most_open) return {};
  std::string id = prefix_ + std::to_string(++begun_);
  open_.emplace(id, entry{.session = std::string(session)});
  return id;
}

bool parked_answers::is_wanted(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  return found != open_.end() && found->second.wanted_by != nullptr;
}

bool parked_answers::has(std::string_view session, std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  return found != open_.end() && found->second.session == session && found->second.wanted_by == nullptr;
}

// Whoever waits for it finds it gone.
void parked_answers::erase(entries::iterator at) {
  if (at->second.events) bytes_ -= at->second.events->size();
  if (at->second.wanted_by) at->second.wanted_by->tell();
  open_.erase(at);
}

void parked_answers::drop(std::string_view id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(id); found != open_.end()) erase(found);
}

void parked_answers::settle(std::string_view id, std::string events, time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  if (bytes_ + events.size() > most_bytes) return erase(found);
  bytes_ += events.size();
  found->second.events = std::move(events);
  found->second.due = now + kept;
  if (found->second.wanted_by) found->second.wanted_by->tell();
}

asio::awaitable<std::optional<std::string>> parked_answers::take(async::worker& on, std::string session, std::string id,
                                                                 async::interrupt& until) {
  const auto self = std::make_shared<visitor>(on);
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end() || found->second.session != session || found->second.wanted_by) co_return std::nullopt;
    found->second.wanted_by = self;
    self->told = found->second.events.has_value();
  }
  if (!self->told) co_await async::wait(self->wake, until);
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end() || found->second.wanted_by != self) co_return std::nullopt;
  found->second.wanted_by = nullptr;  // an answer that came too late for this visit may be asked for again
  if (!found->second.events) co_return std::nullopt;
  std::string events = *found->second.events;
  erase(found);
  co_return events;
}

void parked_answers::forget(std::string_view session) {
  const std::lock_guard lock(mutex_);
  for (auto at = open_.begin(); at != open_.end();) {
    const auto next = std::next(at);
    if (at->second.session == session) erase(at);
    at = next;
  }
}

void parked_answers::sweep(time_point now) {
  const std::lock_guard lock(mutex_);
  for (auto at = open_.begin(); at != open_.end();) {
    const auto next = std::next(at);
    if (at->second.events && at->second.due < now) erase(at);
    at = next;
  }
}

}  // namespace switchgear::listen
