#include "app/tool_servers.hpp"

#include "upstream/http_upstream.hpp"
#include "upstream/stdio_upstream.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace switchgear::app {

namespace asio = boost::asio;

namespace {

// Longer than anything that an upstream still has under way once nobody calls it: telling a server that a call is given
// up, reading the rest of a body.
constexpr duration longest_echo = std::chrono::seconds(10);
constexpr duration longest_stop = std::chrono::seconds(8);

/// Takes down an upstream while the workers' loops run: what each worker owns of it goes on that worker's thread.
template <class Upstream>
asio::awaitable<void> bury(async::worker& control, std::unique_ptr<Upstream> dead,
                           std::shared_ptr<upstream::observer> watcher) {
  asio::steady_timer silence(control.io, longest_echo);
  co_await silence.async_wait(asio::as_tuple(asio::use_awaitable));
  if constexpr (std::is_same_v<Upstream, upstream::http_upstream>) co_await dead->release();
  dead.reset();
  watcher.reset();
}

template <class Upstream>
upstream::own_sessions::link linked(async::worker& control, std::unique_ptr<Upstream> made,
                                    std::shared_ptr<upstream::observer> watcher,
                                    std::shared_ptr<const bool> loops_ended) {
  Upstream* raw = made.get();
  // A loop that has ended would keep the dead until it is destroyed itself, when the loops of their sockets are gone.
  const auto dispose = [&control, watcher, loops_ended](Upstream* last) {
    if (*loops_ended) {
      delete last;
      return;
    }
    asio::co_spawn(control.io, bury(control, std::unique_ptr<Upstream>(last), watcher), [](std::exception_ptr) {});
  };
  return {std::shared_ptr<port::upstream>(std::shared_ptr<Upstream>(made.release(), dispose)), [raw] { raw->start(); },
          [raw] { return raw->stop(); }};
}

asio::awaitable<void> stop_one(upstream::own_sessions& one) {
  co_await one.stop();
}

}  // namespace

tool_servers::tool_servers(std::vector<async::worker*> workers, const config::gateway& settings,
                           upstream::observer& watcher, port::audience& clients,
                           std::function<std::uint64_t()> fresh_seed)
    : workers_(std::move(workers)), control_(*workers_.back()), fresh_seed_(std::move(fresh_seed)) {
  const auto is_child = [](const config::upstream& one) { return one.link.is_stdio; };
  if (std::ranges::any_of(settings.upstreams, is_child)) guard_ = std::make_unique<upstream::child_guard>();
  for (unsigned i = 0; i < settings.upstreams.size(); ++i) {
    const port::upstream_settings& link = settings.upstreams[i].link;
    const auto make = [this, i, &link](port::session_role role, std::shared_ptr<upstream::observer> heard) {
      return make_link(i, link, role, std::move(heard));
    };
    all_.push_back(std::make_unique<upstream::own_sessions>(
        control_, i, make, watcher, clients,
        upstream::own_sessions::limits{link.own_sessions, settings.listen.session_idle, link.http.forward}));
  }
}

tool_servers::~tool_servers() {
  *loops_ended_ = true;
}

upstream::own_sessions::link tool_servers::make_link(unsigned index, const port::upstream_settings& settings,
                                                     port::session_role role,
                                                     std::shared_ptr<upstream::observer> watcher) {
  upstream::observer& heard = *watcher;
  if (settings.is_stdio) {
    auto made = std::make_unique<upstream::stdio_upstream>(
        control_, index, settings, heard, static_cast<std::uint32_t>(fresh_seed_()), role, guard_.get());
    return linked(control_, std::move(made), std::move(watcher), loops_ended_);
  }
  auto made = std::make_unique<upstream::http_upstream>(workers_, index, settings, heard, fresh_seed_(),
                                                        upstream::http_options{.role = role});
  return linked(control_, std::move(made), std::move(watcher), loops_ended_);
}

std::vector<port::upstream*> tool_servers::all() const {
  std::vector<port::upstream*> raw;
  for (const auto& one : all_) raw.push_back(one.get());
  return raw;
}

void tool_servers::start() {
  for (const auto& one : all_) one->start();
}

// Side by side: each may take seconds to end a stubborn child.
asio::awaitable<void> tool_servers::stop() {
  auto left = std::make_shared<std::size_t>(all_.size());
  auto ended = std::make_shared<asio::steady_timer>(control_.io, longest_stop);
  for (const auto& one : all_) {
    asio::co_spawn(control_.io, stop_one(*one), [left, ended](std::exception_ptr) {
      if (--*left == 0) ended->cancel();
    });
  }
  if (*left != 0) co_await ended->async_wait(asio::as_tuple(asio::use_awaitable));
}

void tool_servers::client_gone(std::string_view session) {
  for (const auto& one : all_) one->client_gone(session);
}

void tool_servers::watch(const std::vector<std::string>& uris, const std::function<place(std::string_view)>& find) {
  std::map<port::upstream*, std::set<std::string>> wanted;
  for (const std::string& uri : uris) {
    const place where = find(uri);
    if (where.upstream != nullptr) wanted[where.upstream].emplace(where.uri);
  }
  for (const auto& one : all_) one->watch(std::move(wanted[one.get()]));
}

}  // namespace switchgear::app
