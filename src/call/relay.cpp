#include "call/relay.hpp"

#include "async/chain.hpp"
#include "protocol/errors.hpp"
#include "protocol/severity.hpp"

#include <utility>

namespace switchgear::call {

namespace {

// A person's thinking is no tool's slowness.
class standstill {
 public:
  explicit standstill(async::interrupt& whole) : whole_(whole) { whole_.pause(async::worker::now()); }
  ~standstill() { whole_.resume(async::worker::now()); }
  standstill(const standstill&) = delete;
  standstill& operator=(const standstill&) = delete;

 private:
  async::interrupt& whole_;
};

}  // namespace

// Clients of the modern era ask for log messages with each request; those of the legacy era get them unless they said
// otherwise.
bool relay::wants(std::string_view text, const protocol::message& log) const {
  if (known_.who.log_level.empty()) return known_.who.era == protocol::era::legacy;
  const auto least = protocol::severity_of(known_.who.log_level);
  const auto level = protocol::severity_of(log.level.in(text));
  return !least || !level || *level >= *least;
}

void relay::take(std::string_view text, const protocol::message& seen) {
  if (known_.sink == nullptr) return;
  parts message;
  if (seen.method == "notifications/progress") {
    if (known_.token.empty() || !seen.progress_token) return;
    protocol::splice(text, seen, {.progress_token = known_.token}, message);
  } else {
    if (seen.method == "notifications/message" && !wants(text, seen)) return;
    message.push_back(text);
  }
  known_.sink->add(std::move(message));
}

boost::asio::awaitable<void> relay::flush() {
  if (known_.sink != nullptr) co_await known_.sink->flush();
}

boost::asio::awaitable<std::string> relay::ask(std::string_view text, const protocol::message& seen,
                                               async::interrupt& until) {
  const std::string_view id = seen.id.in(text);
  if (!protocol::may_ask(known_.who.abilities, seen, text)) {
    co_return protocol::write_error(id, protocol::code::method_not_found,
                                    "the client has not declared this capability");
  }
  if (known_.sink == nullptr) {
    co_return protocol::write_error(id, protocol::code::internal_error,
                                    "the client takes no events, so it cannot be asked");
  }
  asked_ = true;
  const standstill waiting(known_.whole);
  async::interrupt limit(known_.on.timers);
  const async::chain chained(until, limit);
  limit.arm(async::worker::now() + known_.patience);
  co_return co_await known_.sink->ask(text, seen, limit);
}

}  // namespace switchgear::call
