#include "listen/clientele.hpp"

#include "protocol/errors.hpp"

#include <boost/asio/post.hpp>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {

// How old a session may be that nobody in the fleet can vouch for.
constexpr std::chrono::seconds longest_trust = std::chrono::hours(24);

template <class Unit>
std::int64_t wall_clock() {
  return std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count();
}
std::int64_t seconds_now() {
  return wall_clock<std::chrono::seconds>();
}

std::string replica_name() {
  std::array<unsigned char, 6> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("no random bytes for the replica's name");
  }
  std::string name = "sg";
  for (unsigned char byte : bytes) name += "0123456789abcdefghijklmnopqrstuv"[byte & 31];
  return name;
}

std::shared_ptr<const port::offer> empty_offer() {
  auto made = std::make_shared<port::offer>();
  constexpr unsigned tools = static_cast<unsigned>(port::listed::tools);
  made->legacy[tools] = R"({"tools":[]})";
  made->modern[tools] = R"({"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"})";
  made->legacy_capabilities = made->modern_capabilities = R"({"tools":{"listChanged":true}})";
  return made;
}

protocol::list_changes difference(const port::offer& old, const port::offer& fresh) {
  const auto differs = [&](port::listed what) {
    const auto i = static_cast<unsigned>(what);
    return old.has[i] != fresh.has[i] || old.legacy[i] != fresh.legacy[i] || old.modern[i] != fresh.modern[i];
  };
  return {.tools = differs(port::listed::tools),
          .prompts = differs(port::listed::prompts),
          .resources = differs(port::listed::resources) || differs(port::listed::templates)};
}

// A stream's mark says on which worker it is: so many bits are left for counting streams.
constexpr unsigned counting_bits = 48;

std::uint64_t make_mark(unsigned worker, std::uint64_t number) {
  return ((std::uint64_t{worker} + 1) << counting_bits) | number;
}
std::size_t worker_of(std::uint64_t mark) {
  return static_cast<std::size_t>((mark >> counting_bits) - 1);
}

// The stream of a session, for a question that is asked on another worker.
class distant_stream final : public port::event_sink {
 public:
  distant_stream(clientele& all, std::string_view session) : all_(all), session_(session) {}

  void add(parts message) override { all_.send(session_, joined(message)); }
  asio::awaitable<void> flush() override { co_return; }
  asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen, async::interrupt&) override {
    co_return protocol::write_error(seen.id.in(text), protocol::code::method_not_found, "the client cannot be asked");
  }

 private:
  clientele& all_;
  std::string_view session_;
};

}  // namespace

clientele::clientele(const std::vector<async::worker*>& workers, const port::listen_settings& settings,
                     const std::vector<port::call_handler*>& handlers, port::recorder& recorder, clientele_links links)
    : links_(std::move(links)),
      idle_(settings.session_idle),
      replica_(replica_name()),
      keys_(settings.session_key),
      watches_([this] { announce_watches(); }),
      sessions_(settings.session_idle, settings.max_sessions, [this](session& one) { session_ended(one); }),
      questions_(replica_),
      parked_(replica_),
      offer_(empty_offer()) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    shards_.push_back(std::unique_ptr<shard>(new shard{*workers[i], settings, *this, recorder, *handlers[i]}));
    shards_.back()->offer = offer_;
  }
  if (links_.fleet == nullptr) return;
  links_.fleet->on_key([this](std::string_view key) { keys_.use(key); });
  links_.fleet->on_forgotten([this](std::string_view session) { sessions_.end(session); });
  links_.fleet->on_told([this](std::string_view text) { hear(text); });
}

clientele::~clientele() = default;

template <class Function>
void clientele::on_each(Function function) {
  for (auto& one : shards_) asio::post(one->on.io, [&here = *one, function] { function(here); });
}

void clientele::use(std::shared_ptr<const port::offer> fresh) {
  // Under the lock until it is posted: of two offers the later one must win on every worker.
  const std::lock_guard lock(offer_mutex_);
  const protocol::list_changes changed = difference(*offer_, *fresh);
  offer_ = fresh;
  on_each([fresh, changed](shard& here) {
    here.offer = fresh;
    for (subscriber& stream : here.streams) stream.tell(changed);
  });
}

void clientele::resource_updated(std::string_view uri) {
  on_each([uri = std::string(uri)](shard& here) {
    for (subscriber& stream : here.streams) stream.tell_updated(uri);
  });
  for (const std::string& session : watches_.sessions_of(uri)) {
    send(session, protocol::write_resource_updated(uri, {}));
  }
}

void clientele::send(std::string_view session, std::string message) {
  const auto found = sessions_.find(session, async::worker::now());
  if (found && found->stream() != 0) {
    deliver(session, std::move(message));
  } else {
    tell(letter_kind::deliver, session, message);
  }
}

bool clientele::deliver(std::string_view session, std::string message) {
  const auto found = sessions_.find(session, async::worker::now());
  const std::uint64_t mark = found ? found->stream().load() : 0;
  if (mark == 0) return false;
  shard& there = *shards_[worker_of(mark)];
  asio::post(there.on.io, [&there, mark, message = std::move(message)]() mutable {
    for (subscriber& stream : there.streams) {
      if (stream.mark == mark) return stream.push(std::move(message));
    }
  });
  return true;
}

asio::awaitable<std::string> clientele::ask(async::worker& on, std::string session, std::string_view text,
                                            const protocol::message& seen, async::interrupt& until) {
  const auto found = sessions_.find(session, async::worker::now());
  const std::uint64_t mark = found ? found->stream().load() : 0;
  if (mark == 0) {
    co_return protocol::write_error(seen.id.in(text), protocol::code::internal_error, "the client has no stream open");
  }
  distant_stream stream(*this, found->id());
  co_return co_await questions_.ask(
      on, {.stream = stream, .number = mark, .session = found->id(), .abilities = found->abilities()}, text, seen,
      until);
}

std::shared_ptr<session> clientele::open(std::string_view revision, const protocol::client_abilities& abilities,
                                         std::string_view principal, time_point now) {
  const session_facts facts{
      .revision = revision, .abilities = abilities, .issued = seconds_now(), .principal = digest_of(principal)};
  auto id = keys_.seal(facts);
  if (!id) return nullptr;
  auto fresh = sessions_.add(*std::move(id), facts, now);
  if (fresh) keep(*fresh, now);
  return fresh;
}

std::shared_ptr<session> clientele::find(std::string_view id, std::string_view principal, time_point now) {
  auto found = sessions_.find(id, now);
  if (!found || found->principal() != digest_of(principal)) return nullptr;
  keep(*found, now);
  return found;
}

asio::awaitable<adoption> clientele::adopt(async::worker& on, std::string id, std::string principal, time_point now) {
  if (!keys_.shared() || sessions_.ended(id)) co_return adoption{};
  const auto facts = keys_.open(id);
  if (!facts || facts->principal != digest_of(principal)) co_return adoption{};
  port::presence known = port::presence::not_known;
  if (links_.fleet != nullptr) known = co_await links_.fleet->look(on, id);
  const std::chrono::seconds age(seconds_now() - facts->issued);
  if (!is_trusted(known, age, idle_)) co_return adoption{};
  auto added = sessions_.add(id, *facts, now);
  if (!added) co_return adoption{.session = nullptr, .full = true};
  keep(*added, now);
  co_return adoption{.session = std::move(added), .full = false};
}

bool is_trusted(port::presence known, std::chrono::seconds age, duration idle) {
  switch (known) {
    case port::presence::alive:
      return true;
    case port::presence::gone:
      break;
    case port::presence::unnoted:  // It cannot have been idle for longer than it is old.
      return age < idle;
    case port::presence::not_known:
      return age < longest_trust;
  }
  return false;
}

// The fleet is told seldom: each time is a command to Redis.
void clientele::keep(session& one, time_point now) {
  if (one.use(now, idle_ / 4) && links_.fleet != nullptr) links_.fleet->keep(one.id(), idle_);
}

void clientele::sweep(time_point now) {
  for (const auto& streaming : sessions_.sweep(now)) keep(*streaming, now);
  parked_.sweep(now);
}

void clientele::end(const session& one) {
  if (links_.fleet != nullptr) links_.fleet->forget(one.id());
  sessions_.end(one.id());
}

void clientele::session_ended(session& one) {
  watches_.forget(one.id());
  parked_.forget(one.id());
  end_stream(one.stream());
  if (links_.on_session_end) {
    asio::post(links_.control.io, [this, id = one.id()] { links_.on_session_end(id); });
  }
}

void clientele::cancel(std::string_view client, std::string_view id) {
  if (client.empty()) return;
  cancel_here(client, id);
  tell(letter_kind::cancel, client, id);
}

void clientele::cancel_here(std::string_view client, std::string_view id) {
  on_each([client = std::string(client), id = std::string(id)](shard& here) {
    // raise() only wakes a coroutine through the loop, so the list stays as it is during this walk.
    for (call_in_flight& call : here.calls) {
      if (call.client == client && call.id == id) call.interrupt->raise(async::interrupt::reason::cancelled);
    }
  });
}

void clientele::answer(const session& from, std::string_view text, const protocol::message& seen) {
  if (questions_.is_foreign(text, seen)) {
    tell(letter_kind::response, from.id(), text);
  } else {
    questions_.answer(from.id(), text, seen);
  }
}

bool clientele::set_level(session& of, std::string_view raw_level) {
  if (!of.set_log_level(raw_level)) return false;
  tell(letter_kind::level, of.id(), raw_level);
  return true;
}

void clientele::attach(shard& here, subscriber& stream, session& of) {
  stream.mark = make_mark(here.on.index, ++here.streams_opened);
  here.streams.push_back(stream);
  const std::int64_t now = wall_clock<std::chrono::microseconds>();
  of.stream_since() = now;
  end_stream(of.stream().exchange(stream.mark));
  tell(letter_kind::moved, of.id(), std::to_string(now));
}

void clientele::detach(const subscriber& stream, session& of) {
  std::uint64_t mark = stream.mark;
  of.stream().compare_exchange_strong(mark, 0);
  questions_.close_route(stream.mark);
}

void clientele::end_stream(std::uint64_t mark) {
  if (mark == 0) return;
  shard& there = *shards_[worker_of(mark)];
  asio::post(there.on.io, [&there, mark] {
    for (subscriber& stream : there.streams) {
      if (stream.mark == mark) stream.end();
    }
  });
}

void clientele::tell(letter_kind kind, std::string_view session, std::string_view body) {
  if (links_.fleet != nullptr) links_.fleet->tell(write_letter({kind, session, body}));
}

void clientele::hear(std::string_view text) {
  const auto told = read_letter(text);
  if (!told) return;
  switch (told->kind) {
    case letter_kind::cancel:
      return cancel_here(told->session, told->body);
    case letter_kind::deliver:
      deliver(told->session, std::string(told->body));
      return;
    case letter_kind::response: {
      protocol::scratch space;
      const auto seen = protocol::peek(told->body, space);
      if (seen && seen->kind == protocol::kind::response) questions_.answer(told->session, told->body, *seen);
      return;
    }
    case letter_kind::moved:
      hear_moved(told->session, told->body);
      return;
    case letter_kind::level:
      if (const auto one = sessions_.find(told->session, async::worker::now())) one->set_log_level(told->body);
      return;
  }
}

// The client may have come back here since: then it is the other replica that has to let go.
void clientele::hear_moved(std::string_view session, std::string_view when) {
  std::int64_t then = 0;
  std::from_chars(when.data(), when.data() + when.size(), then);
  const auto found = sessions_.find(session, async::worker::now());
  if (found && found->stream_since() < then) end_stream(found->stream());
}

void clientele::announce_watches() {
  if (!links_.on_watch || announcing_.exchange(true)) return;
  asio::post(links_.control.io, [this] {
    announcing_ = false;
    links_.on_watch(watches_.resources());
  });
}

void clientele::begin_drain() {
  on_each([](shard& here) {
    here.draining = true;
    for (idle_connection& connection : here.idle) connection.end();
    for (subscriber& stream : here.streams) stream.end();
  });
}

void clientele::interrupt_calls() {
  on_each([](shard& here) {
    for (call_in_flight& call : here.calls) call.interrupt->raise(async::interrupt::reason::shutdown);
  });
}

}  // namespace switchgear::listen
