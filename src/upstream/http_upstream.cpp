#include "upstream/http_upstream.hpp"

#include "async/wait.hpp"
#include "protocol/rewrite.hpp"
#include "upstream/http_ear.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr unsigned most_cancels = 16;  // per worker: a hung server must not collect our cancellations without end
constexpr duration note_timeout = std::chrono::seconds(2);
// How often a server is asked again whether it wants a session with a credential that it has refused.
constexpr duration denial_lasts = std::chrono::seconds(1);

http_endpoint endpoint_of(const port::upstream_settings& settings) {
  http_endpoint endpoint{read_url(settings.http.url).value(), nullptr, settings.connect_timeout, settings.max_answer};
  if (endpoint.address.tls) endpoint.tls = std::make_unique<tls_context>(settings.http.ca_file);
  return endpoint;
}

bool nothing_reached_it(port::fault fault) {
  using port::fault;
  return fault == fault::resolve_failed || fault == fault::connect_failed || fault == fault::connect_timed_out ||
         fault == fault::tls_failed;
}

}  // namespace

http_upstream::http_upstream(std::vector<async::worker*> workers, unsigned index, port::upstream_settings settings,
                             observer& watcher, std::uint64_t seed, http_options options)
    : workers_(std::move(workers)),
      control_(*workers_.back()),
      index_(index),
      settings_(std::move(settings)),
      options_(options),
      endpoint_(endpoint_of(settings_)),
      fields_(without(settings_.http.headers, settings_.http.forward)),
      heads_(endpoint_.address, fields_),
      credential_(is_of_principal() ? *options_.role.credential
                                    : lines_of(settings_.http.headers, settings_.http.forward)),
      watcher_(watcher),
      random_(static_cast<std::minstd_rand::result_type>(seed)),
      asked_with_(credential_.now()),
      wake_(control_.io) {
  for (async::worker* one : workers_)
    seats_.push_back(std::make_unique<seat>(*one, settings_.max_connections, settings_.keep_alive));
}

http_upstream::~http_upstream() = default;

asio::awaitable<void> http_upstream::release() {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    co_await asio::co_spawn(workers_[i]->io, clear_seat(i), asio::use_awaitable);
  }
}

asio::awaitable<void> http_upstream::clear_seat(std::size_t worker) {
  seats_[worker].reset();
  co_return;
}

port::upstream_status http_upstream::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

std::uint64_t http_upstream::next_id(async::worker& on) {
  // Interleaved by worker: unique in the session without a shared counter.
  return seats_[on.index]->next_id++ * workers_.size() + on.index + 1;
}

asio::awaitable<http_upstream::session_ptr> http_upstream::usable_session(seat& here, std::string_view credential,
                                                                          async::interrupt& interrupt,
                                                                          port::reply& reply) {
  for (;;) {
    while (here.phase == phase::starting || here.phase == phase::renewing) {
      if (interrupt.raised()) {
        const bool late = interrupt.why() == async::interrupt::reason::deadline;
        reply.fault = late ? port::fault::deadline_before_send : port::fault::cancelled;
        reply.detail = "the session with the upstream was still being opened";
        co_return nullptr;
      }
      co_await async::wait(here.changed, interrupt);
    }
    if (here.phase == phase::ready) co_return here.current;
    if (!is_worth_asking(here.down, credential)) break;
    credential_.use(credential);
    ask_again(here);
  }
  reply.fault = here.down.denied != 0 ? port::fault::bad_status : port::fault::not_ready;
  reply.status = here.down.denied;
  reply.detail = here.down.why;
  co_return nullptr;
}

// What a server has refused to one credential it may grant to the next, at once (RC-013).
bool http_upstream::is_worth_asking(const outage& denied, std::string_view credential) const {
  if (!is_of_principal() || denied.denied == 0) return false;
  return denied.credential != credential || async::worker::now() - denied.since >= denial_lasts;
}

void http_upstream::ask_again(seat& here) {
  here.phase = phase::renewing;
  asio::post(control_.io, [this] {
    if (!waits_for_call_) return;  // an attempt is under way, and will be told of
    was_called_ = true;
    wake();
  });
}

asio::awaitable<port::reply> http_upstream::call(async::worker& on, port::outgoing_request request,
                                                 async::interrupt& interrupt, port::client_side* client) {
  seat& here = *seats_[on.index];
  if (is_of_principal()) credential_.use(request.credential);
  for (bool again = false;; again = true) {
    http_reply out;
    const session_ptr used = co_await usable_session(here, request.credential, interrupt, out.reply);
    if (!used) co_return std::move(out.reply);
    const bool modern = used->era == protocol::era::modern;
    if (!modern && !settings_.http.forward.empty() && !is_of_principal()) {
      out.reply.fault = port::fault::not_ready;
      out.reply.detail = "the server has just gone back to sessions, and this one is the operator's alone";
      co_return std::move(out.reply);
    }
    if (used->hello.abilities.logging && !modern) {
      co_await tell_level(on, *used, request.client, request.credential, interrupt);
    }

    const std::uint64_t id = next_id(on);
    char digits[20];
    const char* end = std::to_chars(digits, digits + sizeof digits, id).ptr;
    const std::string_view id_text(digits, static_cast<std::size_t>(end - digits));

    protocol::rewritten body;
    protocol::rewrite_request(request.text, *request.seen, request.client.era,
                              {.id = id_text,
                               .target = request.target,
                               .progress_token = id_text,
                               .to = used->era,
                               .abilities = request.client.abilities,
                               .log_level = request.client.log_level,
                               .request_state = request.request_state,
                               .input_responses = request.input_responses},
                              body);
    std::string fields;
    if (modern) {
      const std::string_view about = mirrored_target(*request.seen, request.target);
      fields = mirrored_fields(request.seen->method, about, request.mirrored);
    }
    const http_request sent{used->post_head, fields,         std::move(body.pieces),
                            id_text,         used->get_head, request.credential};
    voice session(*this, on, used, request.credential);
    co_await exchange(on, *used, sent, interrupt, client, &session, out);
    out.reply.era = used->era;

    if (const loss how = loss_of(*used, out); how != loss::none) {
      lose_session(here, used);
      // A tool's own words may look like it, after the deed.
      const bool harmless = how == loss::unread || request.repeatable;
      if (!again && harmless && !interrupt.raised()) continue;
      // What the server said under the call's id is about the session, not an answer.
      out.reply.fault = port::fault::session_lost;
      out.reply.has_message = false;
    }
    if (out.reply.fault != port::fault::none) after_call(on, used, out.reply, id, request.credential);
    co_return std::move(out.reply);
  }
}

// Whatever the server makes of it: a call does not fail for want of log messages.
asio::awaitable<void> http_upstream::tell_level(async::worker& on, const session& used, const port::client& client,
                                                std::string_view credential, async::interrupt& interrupt) {
  const bool shared = !options_.role.abilities.any();
  const std::string_view level = used.level.next(client.log_level, shared);
  if (level.empty()) co_return;
  const std::uint64_t id = next_id(on);
  const std::string text = level_request(id, level), id_text = std::to_string(id);
  http_reply ignored;
  const http_request told{used.post_head, {}, {text}, id_text, {}, credential};
  co_await exchange(on, used, told, interrupt, nullptr, nullptr, ignored);
}

asio::awaitable<void> http_upstream::exchange(async::worker& on, const session& used, const http_request& request,
                                              async::interrupt& interrupt, port::client_side* client,
                                              exchange_session* voice, http_reply& out) {
  connection_pool& pool = seats_[on.index]->pool;
  if (used.link) {
    sse_exchange one(on, endpoint_, pool, interrupt, client, voice);
    co_await one.run(*used.link, request, out);
  } else {
    http_exchange one(on, endpoint_, pool, interrupt, client, voice);
    co_await one.run(request, out);
  }
}

loss http_upstream::loss_of(const session& used, const http_reply& got) {
  return used.era == protocol::era::modern ? era_loss(got) : session_loss(got, used.has_id);
}

void http_upstream::lose_session(seat& here, const session_ptr& lost) {
  if (here.current == lost) {
    here.current = nullptr;
    here.phase = phase::renewing;
  }
  asio::post(control_.io, [this, epoch = lost->epoch] {
    lost_epoch_ = std::max(lost_epoch_, epoch);
    wake();
  });
}

void http_upstream::after_call(async::worker& on, const session_ptr& used, const port::reply& reply, std::uint64_t id,
                               std::string_view credential) {
  using port::fault;
  if (nothing_reached_it(reply.fault)) suspect();
  const bool gave_up = reply.fault == fault::deadline || reply.fault == fault::deadline_after_head ||
                       (reply.fault == fault::cancelled && reply.sent);
  // A modern server sees that the connection is closed.
  if (!gave_up || used->era == protocol::era::modern) return;
  const char* reason = reply.fault == fault::cancelled ? "cancelled by the client" : "deadline passed";
  note(on, used, cancelled_notification(id, reason), most_cancels, std::string(credential));
}

void http_upstream::note(async::worker& on, session_ptr used, std::string text, unsigned most_notes,
                         std::string credential) {
  seat& here = *seats_[on.index];
  if (here.notes >= most_notes) return;
  ++here.notes;
  asio::co_spawn(on.io, send_note(on, std::move(used), std::move(text), std::move(credential)),
                 [&here](std::exception_ptr) { --here.notes; });
}

asio::awaitable<void> http_upstream::send_note(async::worker& on, session_ptr used, std::string text,
                                               std::string credential) {
  async::interrupt limit(on.timers);
  limit.arm(async::worker::now() + note_timeout);
  http_reply ignored;
  const http_request request{used->post_head, {}, {text}, {}, {}, credential};
  co_await exchange(on, *used, request, limit, nullptr, nullptr, ignored);
}

void http_upstream::lists_changed(std::uint64_t epoch) {
  // However often a server says it before the control worker has heard, it is told once.
  if (change_told_.exchange(true, std::memory_order_relaxed)) return;
  asio::post(control_.io, [this, epoch] {
    change_told_.store(false, std::memory_order_relaxed);
    if (!session_ || session_->epoch != epoch) return;  // a new session lists anyway
    listing_wanted_ = true;
    wake();
  });
}

void http_upstream::suspect() {
  if (suspected_.exchange(true, std::memory_order_relaxed)) return;
  asio::post(control_.io, [this] {
    suspected_.store(false, std::memory_order_relaxed);
    if (!pausing_ || !pause_suspectable_) return;
    listing_wanted_ = true;
    wake_.cancel();
  });
}

}  // namespace switchgear::upstream
