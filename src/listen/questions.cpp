#include "listen/questions.hpp"

#include "async/wait.hpp"
#include "protocol/errors.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace switchgear::listen {

namespace asio = boost::asio;
namespace code = protocol::code;

// Touched on the asker's worker only; kept alive by whoever is about to wake it.
struct questions::waiting {
  explicit waiting(async::worker& worker) : on(worker), wake(worker.io) { wake.expires_at(time_point::max()); }

  void end(std::string text) {
    response = std::move(text);
    ended = true;
    wake.cancel();
  }

  async::worker& on;
  asio::steady_timer wake;
  std::string response;  // empty: the stream was closed
  bool ended = false;
};

namespace {

std::string cancelled(std::string_view our_id) {
  return std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)")
      .append(our_id)
      .append("}}");
}

// The client's response under the id that the server gave its request.
std::string under_id(std::string_view response, std::string_view id) {
  protocol::scratch space;
  const auto seen = protocol::peek(response, space);
  if (!seen) return protocol::write_error(id, code::internal_error, "the client's response cannot be read");
  parts pieces;
  protocol::splice(response, *seen, {.id = id}, pieces);
  return joined(pieces);
}

}  // namespace

std::optional<std::uint64_t> questions::number_in(std::string_view id) const {
  if (!id.starts_with(prefix_) || !id.ends_with('"')) return std::nullopt;
  const char* const begin = id.data() + prefix_.size();
  const char* const last = id.data() + id.size() - 1;
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(begin, last, number);
  return fault == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

bool questions::note(std::uint64_t number, open_question one) {
  const std::lock_guard lock(mutex_);
  const auto same = std::ranges::count_if(open_, [&](const auto& entry) { return entry.second.route == one.route; });
  if (static_cast<std::size_t>(same) >= most_open) return false;
  open_.emplace(number, std::move(one));
  return true;
}

std::shared_ptr<questions::waiting> questions::take(std::uint64_t number, std::string_view session) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(number);
  if (found == open_.end() || found->second.session != session) return nullptr;
  std::shared_ptr<waiting> asker = std::move(found->second.asker);
  open_.erase(found);
  return asker;
}

asio::awaitable<std::string> questions::ask(async::worker& on, route by, std::string_view text,
                                            const protocol::message& seen, async::interrupt& until) {
  const std::string_view id = seen.id.in(text);
  if (!protocol::may_ask(by.abilities, seen, text)) {
    co_return protocol::write_error(id, code::method_not_found, "the client has not said that it can be asked this");
  }
  const std::uint64_t number = ++asked_;
  const auto asker = std::make_shared<waiting>(on);
  const std::string session(by.session);
  if (!note(number, {session, by.number, asker})) {
    co_return protocol::write_error(id, code::internal_error, "too many requests to this client are open");
  }
  const std::string our_id = prefix_ + std::to_string(number) + "\"";
  parts question;
  protocol::splice(text, seen, {.id = our_id}, question);
  by.stream.add(std::move(question));
  co_await by.stream.flush();
  if (!asker->ended) co_await async::wait(asker->wake, until);
  if (!asker->ended) {
    take(number, session);
    const std::string withdrawn = cancelled(our_id);
    parts pieces;
    pieces.push_back(withdrawn);
    by.stream.add(std::move(pieces));
    co_return protocol::write_error(id, code::internal_error, "the request was withdrawn before the client answered");
  }
  if (asker->response.empty()) co_return protocol::write_error(id, code::internal_error, "the client has gone");
  co_return under_id(asker->response, id);
}

void questions::close_route(std::uint64_t number) {
  std::vector<std::shared_ptr<waiting>> askers;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = open_.begin(); at != open_.end();) {
      if (at->second.route != number) {
        ++at;
        continue;
      }
      askers.push_back(std::move(at->second.asker));
      at = open_.erase(at);
    }
  }
  for (const auto& asker : askers) asio::post(asker->on.io, [asker] { asker->end({}); });
}

void questions::answer(std::string_view session, std::string_view text, const protocol::message& seen) {
  const auto number = number_in(seen.id.in(text));
  if (!number) return;
  if (auto asker = take(*number, session)) {
    asio::post(asker->on.io, [asker, response = std::string(text)]() mutable { asker->end(std::move(response)); });
  }
}

bool questions::is_foreign(std::string_view text, const protocol::message& seen) const {
  const std::string_view id = seen.id.in(text);
  return id.starts_with('"') && !id.starts_with(prefix_);
}

}  // namespace switchgear::listen
