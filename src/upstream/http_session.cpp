// The control worker's side of http_upstream: one session, opened, listed, renewed and ended.
#include "base/version.hpp"
#include "protocol/text.hpp"
#include "upstream/handshake.hpp"
#include "upstream/http_upstream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration shortest_pause = std::chrono::milliseconds(500);  // also between two attempts to open a session
constexpr duration longest_pause = std::chrono::seconds(5);
constexpr duration steady_time = std::chrono::seconds(10);  // a session that lasted so long was a good one

duration pause_after(unsigned failures, std::minstd_rand& random) {
  const duration grown = shortest_pause * (1u << std::min(failures, 4u));
  const double jitter = std::uniform_real_distribution<>(0.8, 1.2)(random);
  return std::chrono::duration_cast<duration>(std::min(grown, longest_pause) * jitter);
}

}  // namespace

void http_upstream::start() {
  managing_ = true;
  asio::co_spawn(control_.io, manage(), [this](std::exception_ptr) { managing_ = false; });
}

asio::awaitable<void> http_upstream::stop() {
  stopping_ = true;
  woken_ = true;
  wake_.cancel();
  if (!session_ || !session_->has_id) co_return;
  async::interrupt limit(control_.timers);
  limit.arm(async::worker::now() + std::chrono::seconds(1));
  http_reply ignored;
  http_request request{session_->delete_head, {}, {}};
  http_exchange exchange(control_, endpoint_, seats_.back()->pool, limit, nullptr);
  co_await exchange.run(request, ignored);
}

asio::awaitable<void> http_upstream::manage() {
  while (!stopping_) {
    if (session_ && lost_epoch_ >= session_->epoch) {
      // A server that forgets what it has just opened would be asked without end.
      if (async::worker::now() - last_attempt_ < steady_time) ++failures_;
      session_ = nullptr;
      publish(phase::renewing, nullptr, {});
    }
    if (!session_) {
      co_await space_attempts();
      if (stopping_) break;
      last_attempt_ = async::worker::now();
      if (!co_await open_session()) {
        ++failures_;
        co_await pause(pause_after(failures_, random_), false);
        continue;
      }
    }
    if (!co_await list_tools()) {
      ++failures_;
      co_await pause(pause_after(failures_, random_), false);
      continue;
    }
    set_state(port::upstream_state::ready, {});
    co_await pause(settings_.refresh, true);
    if (async::worker::now() - last_attempt_ >= steady_time) failures_ = 0;
  }
}

// Attempts to open a session begin at least half a second apart, further when they keep coming to nothing; calls that
// find their session lost do not hurry them.
asio::awaitable<void> http_upstream::space_attempts() {
  const duration apart = failures_ == 0 ? shortest_pause : pause_after(failures_, random_);
  const time_point due = last_attempt_ == time_point{} ? time_point{} : last_attempt_ + apart;
  while (!stopping_ && async::worker::now() < due) co_await pause(due - async::worker::now(), false);
}

asio::awaitable<void> http_upstream::pause(duration length, bool may_be_suspected) {
  pausing_ = true;
  pause_suspectable_ = may_be_suspected;
  error_code ignored;
  wake_.expires_after(length);
  if (!woken_) co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  woken_ = false;
  pausing_ = false;
}

asio::awaitable<void> http_upstream::ask(const std::string& head, std::string text, std::string id, http_reply& out) {
  async::interrupt limit(control_.timers);
  limit.arm(async::worker::now() + settings_.handshake_timeout);
  http_request request{head, {text}, id};
  http_exchange exchange(control_, endpoint_, seats_.back()->pool, limit, nullptr);
  co_await exchange.run(request, out);
}

asio::awaitable<bool> http_upstream::open_session() {
  const std::uint64_t id = next_id(control_);
  http_reply hello;
  co_await ask(head_for("POST", {}, {}), initialize_request(id), std::to_string(id), hello);
  std::string why = hello.reply.detail;
  server_hello said;
  bool opened = false;
  if (hello.reply.has_message && hello.reply.message.error) {
    why = "initialize was refused: " +
          std::string(protocol::head(hello.reply.message.error.in(hello.reply.body.view()), 300));
  } else if (hello.reply.fault == port::fault::none) {
    opened = read_hello(hello.reply.message.result.in(hello.reply.body.view()), said, why);
  }
  std::shared_ptr<const session> fresh;
  if (opened) {
    fresh = new_session(hello.session_id, said.protocol_version);
    http_reply accepted;
    co_await ask(fresh->post_head, std::string(initialized_notification), {}, accepted);
    opened = accepted.reply.fault == port::fault::none;
    if (!opened) why = "notifications/initialized was refused: " + accepted.reply.detail;
  }
  if (!opened) {
    publish(phase::down, nullptr, why);
    set_state(port::upstream_state::degraded, std::move(why));
    co_return false;
  }
  {
    const std::lock_guard lock(status_mutex_);
    status_.protocol_version = said.protocol_version;
    status_.server_name = said.server_name;
  }
  session_ = std::move(fresh);
  publish(phase::ready, session_, {});
  co_return true;
}

asio::awaitable<bool> http_upstream::list_tools() {
  listing listed;
  std::string cursor;
  std::size_t bytes = 0;
  std::string why;
  do {
    const std::uint64_t id = next_id(control_);
    http_reply page;
    co_await ask(session_->post_head, tools_list_request(id, cursor), std::to_string(id), page);
    if (means_session_lost(*session_, page.reply)) lost_epoch_ = session_->epoch;
    if (page.reply.has_message && page.reply.message.error) {
      if (means_no_tools(page.reply.message.error_code)) break;
      why = "tools/list was refused: " +
            std::string(protocol::head(page.reply.message.error.in(page.reply.body.view()), 300));
    } else if (page.reply.fault != port::fault::none) {
      why = "tools/list failed: " + page.reply.detail;
    } else {
      const protocol::message& seen = page.reply.message;
      const std::string_view next = seen.next_cursor.in(page.reply.body.view());
      cursor = next.size() > 2 && next.front() == '"' ? next : std::string_view();  // null and "" end the list too
      bytes += page.reply.body.size();
      listed.tools.emplace_back(seen.result.in(page.reply.body.view()));
      if (bytes > most_list_bytes || listed.tools.size() > most_pages) why = "tools/list never ends";
    }
    if (!why.empty()) {
      set_state(port::upstream_state::degraded, std::move(why));
      co_return false;
    }
  } while (!cursor.empty());
  watcher_.listed(index_, std::move(listed));
  co_return true;
}

void http_upstream::publish(http_upstream::phase now, std::shared_ptr<const session> next, std::string reason) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    asio::post(workers_[i]->io, [this, i, now, next, reason] {
      seat& here = *seats_[i];
      here.phase = now;
      here.current = next;
      here.reason = reason;
      here.changed.cancel();
    });
  }
}

void http_upstream::set_state(port::upstream_state state, std::string reason) {
  port::upstream_status copy;
  {
    const std::lock_guard lock(status_mutex_);
    if (status_.state == state && status_.reason == reason) return;
    status_.state = state;
    status_.reason = std::move(reason);
    copy = status_;
  }
  watcher_.state_changed(index_, copy);
}

std::shared_ptr<const http_upstream::session> http_upstream::new_session(std::string_view id,
                                                                         std::string_view version) {
  auto fresh = std::make_shared<session>();
  fresh->epoch = ++epoch_;
  fresh->has_id = !id.empty();
  fresh->post_head = head_for("POST", id, version);
  fresh->delete_head = head_for("DELETE", id, version);
  return fresh;
}

std::string http_upstream::head_for(std::string_view method, std::string_view id, std::string_view version) const {
  std::string head(method);
  const auto field = [&](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  head.append(" ").append(endpoint_.address.target).append(" HTTP/1.1\r\n");
  field("Host", endpoint_.address.authority);
  field("User-Agent", "switchgear/" + std::string(switchgear::version));
  field("Accept", "application/json, text/event-stream");
  field("Accept-Encoding", "identity");
  field("Content-Type", "application/json");
  if (!id.empty()) field("Mcp-Session-Id", id);
  if (!version.empty()) field("MCP-Protocol-Version", version);
  for (const auto& [name, value] : settings_.http.headers) field(name, value);
  return head += "Content-Length: ";
}

}  // namespace switchgear::upstream
