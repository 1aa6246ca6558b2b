#include "peers/redis/store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <exception>

namespace switchgear::peers::redis {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr duration longest_pause = 2s;

time_point now() {
  return std::chrono::steady_clock::now();
}

std::string place(const port::redis_settings::host& where) {
  return where.name + ":" + std::to_string(where.port);
}

/// "MOVED 3999 127.0.0.1:6381": the address, when the error is of that word.
std::optional<port::redis_settings::host> redirection(const response& said, std::string_view word) {
  if (said.kind != response::kind::error || !said.text.starts_with(word)) return std::nullopt;
  const auto space = said.text.rfind(' '), colon = said.text.rfind(':');
  if (space == std::string::npos || colon == std::string::npos || colon < space) return std::nullopt;
  port::redis_settings::host where{said.text.substr(space + 1, colon - space - 1), 0};
  const char* const end = said.text.data() + said.text.size();
  if (std::from_chars(said.text.data() + colon + 1, end, where.port).ptr != end) return std::nullopt;
  return where;
}

bool lacks_library(const response& said) {
  return said.kind == response::kind::error && said.text.find("Function not found") != std::string::npos;
}

// The node is there and of no use for now: it follows another, it starts, its cluster is not whole.
bool is_unfit(const response& said) {
  if (said.kind != response::kind::error) return false;
  return std::ranges::any_of(std::initializer_list<std::string_view>{"READONLY", "NOAUTH", "MASTERDOWN"},
                             [&](std::string_view word) { return said.text.starts_with(word); });
}

}  // namespace

store::store(asio::io_context& io, port::redis_settings settings, std::uint64_t seed,
             std::function<void(std::string_view)> news)
    : io_(io), settings_(std::move(settings)), random_(seed), hear_(std::move(news)), news_(io), timer_(io) {}

void store::start() {
  asio::co_spawn(io_, run(), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

void store::stop() {
  asio::post(io_, [this] {
    stopping_ = true;
    wake();
  });
}

void store::wake() {
  woken_ = true;
  timer_.cancel();
}

asio::awaitable<void> store::pause(duration length) {
  if (!std::exchange(woken_, false)) {
    error_code ignored;
    timer_.expires_after(length);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    woken_ = false;
  }
}

asio::awaitable<void> store::run() {
  duration patience = 100ms;
  while (!stopping_) {
    if (!usable() || map_is_old_) {
      std::string why = co_await connect();
      patience = why.empty() ? 100ms : std::min<duration>(patience * 2, longest_pause);
      if (!why.empty()) trouble_ = std::move(why);
    }
    if (usable() && !news_.usable()) co_await hear_news();
    // Replicas that lost the same Redis must not come back in step. Even a good connection that breaks at once is not
    // tried without end.
    const double spread = std::uniform_real_distribution<double>(0.5, 1)(random_);
    co_await pause(usable() ? duration(1s) : duration(static_cast<duration::rep>(patience.count() * spread)));
    if (!stopping_ && !usable()) co_await pause(duration(static_cast<duration::rep>(20e6 * spread)));
  }
  for (auto& [name, each] : nodes_) each->close();
  news_.close();
}

bool store::usable() const {
  if (settings_.shape != port::redis_settings::layout::cluster) return primary_ != nullptr && primary_->usable();
  return std::ranges::any_of(nodes_, [](const auto& each) { return each.second->usable(); });
}

link& store::node(const host& where) {
  auto& found = nodes_[place(where)];
  if (!found) {
    found = std::make_unique<link>(io_);
    found->on_end([this] { wake(); });
  }
  return *found;
}

// Made anew for each connection, as certificates and the list of trusted ones may have been exchanged.
void store::fresh_tls() {
  if (!settings_.tls) return;
  tls_.emplace(asio::ssl::context::tls_client);
  tls_->set_verify_mode(asio::ssl::verify_peer);
  SSL_CTX_set_min_proto_version(tls_->native_handle(), TLS1_2_VERSION);
  if (settings_.ca.empty()) {
    tls_->set_default_verify_paths();
  } else {
    tls_->load_verify_file(settings_.ca);
  }
  if (!settings_.cert.empty()) {
    tls_->use_certificate_chain_file(settings_.cert);
    tls_->use_private_key_file(settings_.key.empty() ? settings_.cert : settings_.key, asio::ssl::context::pem);
  }
}

asio::awaitable<std::string> store::connect() {
  try {
    fresh_tls();
  } catch (const std::exception& bad_file) {
    co_return std::string("TLS files: ") + bad_file.what();
  }
  map_is_old_ = false;
  switch (settings_.shape) {
    case port::redis_settings::layout::single:
      co_return co_await connect_single(settings_.hosts.front());
    case port::redis_settings::layout::sentinel:
      co_return co_await connect_sentinel();
    case port::redis_settings::layout::cluster:
      co_return co_await connect_cluster();
  }
  co_return "no such shape";
}

asio::awaitable<std::string> store::connect_single(host where) {
  primary_ = nullptr;
  link& it = node(where);
  std::string why = co_await it.open(where, settings_, tls_ ? &*tls_ : nullptr, connect_limit);
  if (!why.empty()) co_return why;
  primary_ = &it;
  news_from_ = where;
  co_return std::string();
}

asio::awaitable<std::string> store::connect_sentinel() {
  std::string why;
  // Sentinels have credentials of their own, if any, and no databases.
  port::redis_settings plain = settings_;
  plain.user.clear();
  plain.password.clear();
  plain.password_file.clear();
  plain.database = 0;
  for (const host& sentinel : settings_.hosts) {
    link asking(io_);
    why = co_await asking.open(sentinel, plain, tls_ ? &*tls_ : nullptr, connect_limit);
    if (!why.empty()) continue;
    std::vector<command> question{{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.master}};
    const auto said = co_await asking.ask(std::move(question), connect_limit);
    if (said[0].kind != response::kind::list || said[0].items.size() != 2) {
      why = place(sentinel) + ": this sentinel does not know " + settings_.master;
      continue;
    }
    host where{said[0].items[0].text, 0};
    const std::string& port = said[0].items[1].text;
    std::from_chars(port.data(), port.data() + port.size(), where.port);
    why = co_await connect_single(where);
    if (!why.empty()) continue;
    std::vector<command> role{{"ROLE"}};
    const auto is = co_await primary_->ask(std::move(role), connect_limit);
    if (is[0].kind == response::kind::list && !is[0].items.empty() && is[0].items[0].text == "master") {
      co_return std::string();
    }
    primary_->close();
    why = place(where) + ": is no longer the master";
  }
  co_return why;
}

asio::awaitable<std::string> store::connect_cluster() {
  std::vector<host> seeds = settings_.hosts;
  if (!news_from_.name.empty()) seeds.push_back(news_from_);
  std::string why;
  for (const host& seed : seeds) {
    link& it = node(seed);
    if (!it.usable()) why = co_await it.open(seed, settings_, tls_ ? &*tls_ : nullptr, connect_limit);
    if (!it.usable()) continue;
    std::vector<command> question{{"CLUSTER", "SLOTS"}};
    const auto said = co_await it.ask(std::move(question), connect_limit);
    if (!take_map(said[0], seed)) {
      why = place(seed) + ": " + (said[0].text.empty() ? "has no map of the cluster" : said[0].text);
      continue;
    }
    news_from_ = seed;
    why.clear();
    break;
  }
  for (auto& [name, each] : nodes_) {
    if (each->usable() || std::ranges::find(slots_, each.get()) == slots_.end()) continue;
    const auto colon = name.rfind(':');
    host where{name.substr(0, colon), 0};
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), where.port);
    if (std::string failed = co_await each->open(where, settings_, tls_ ? &*tls_ : nullptr, connect_limit);
        !failed.empty()) {
      why = std::move(failed);
      map_is_old_ = true;
    }
  }
  co_return why;
}

// [[first, last, [host, port, ...of the master], ...], ...]
bool store::take_map(const response& slots, const host& from) {
  if (slots.kind != response::kind::list || slots.items.empty()) return false;
  std::array<link*, 16384> fresh{};
  for (const response& range : slots.items) {
    if (range.items.size() < 3 || range.items[2].items.size() < 2) return false;
    const response& master = range.items[2];
    const std::int64_t first = range.items[0].number, last = range.items[1].number;
    if (first < 0 || last < first || last >= 16384) return false;
    const std::string& name = master.items[0].text;
    link& it = node({name.empty() ? from.name : name, static_cast<std::uint16_t>(master.items[1].number)});
    std::fill(fresh.begin() + first, fresh.begin() + last + 1, &it);
  }
  slots_ = fresh;
  return true;
}

asio::awaitable<std::string> store::hear_news() {
  std::string why = co_await news_.open(news_from_, settings_, tls_ ? &*tls_ : nullptr, connect_limit);
  if (!why.empty()) co_return why;
  news_.on_end([this] { wake(); });
  news_.listen(settings_.prefix + ":{*}:ev", [this](std::string_view message) {
    if (const auto scope = scope_of_message(message)) hear_(*scope);
  });
  co_return std::string();
}

std::string_view store::place_of(unsigned slot) const {
  const link* const at = settings_.shape == port::redis_settings::layout::cluster ? slots_[slot] : primary_;
  const auto found = std::ranges::find_if(nodes_, [&](const auto& each) { return each.second.get() == at; });
  return found == nodes_.end() ? std::string_view() : std::string_view(found->first);
}

link* store::link_to(unsigned slot) {
  return settings_.shape == port::redis_settings::layout::cluster ? slots_[slot] : primary_;
}

link* store::link_to(const host& where) {
  const auto found = nodes_.find(place(where));
  return found == nodes_.end() ? nullptr : found->second.get();
}

asio::awaitable<std::vector<response>> store::ask(std::vector<routed> commands) {
  const time_point until = now() + settings_.timeout;
  std::vector<response> said(commands.size());
  std::vector<std::pair<link*, asked>> groups;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    link* const to = link_to(commands[i].slot);
    auto group = std::ranges::find(groups, to, &std::pair<link*, asked>::first);
    if (group == groups.end()) group = groups.insert(group, {to, {}});
    group->second.push_back(i);
  }
  co_await round(commands, std::move(groups), said, until);
  co_await repair(commands, said, until);
  for (const response& each : said) {
    if (each.kind == response::kind::lost) trouble_ = "no answer within the timeout";
    if (each.kind == response::kind::error) trouble_ = each.text;
  }
  co_return said;
}

// All nodes work at the same time.
asio::awaitable<void> store::round(const std::vector<routed>& commands, std::vector<std::pair<link*, asked>> groups,
                                   std::vector<response>& into, time_point until) {
  std::vector<std::shared_ptr<link::batch>> sent;
  for (const auto& [to, which] : groups) {
    std::vector<command> words;
    for (const std::size_t i : which) words.push_back(commands[i].words);
    sent.push_back(to != nullptr ? to->send(words) : nullptr);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!sent[g]) continue;
    auto said = co_await groups[g].first->answers(sent[g], until);
    for (std::size_t i = 0; i < said.size(); ++i) into[groups[g].second[i]] = std::move(said[i]);
  }
}

// What a node refused for a reason that can be removed is asked a second time: it was not carried out.
asio::awaitable<void> store::repair(const std::vector<routed>& commands, std::vector<response>& into,
                                    time_point until) {
  std::vector<link*> unfurnished;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (const auto where = redirection(into[i], "MOVED ")) {
      map_is_old_ = true;
      wake();
      if (link* const to = link_to(*where)) co_await round(commands, {{to, {i}}}, into, until);
    } else if (const auto there = redirection(into[i], "ASK ")) {
      link* const to = link_to(*there);
      if (to == nullptr) continue;
      auto said = co_await to->answers(to->send({{"ASKING"}, commands[i].words}), until);
      into[i] = std::move(said[1]);
    }
    link* const to = link_to(commands[i].slot);
    if (to != nullptr && is_unfit(into[i])) to->close();
    if (!lacks_library(into[i]) || to == nullptr) continue;
    if (std::ranges::find(unfurnished, to) == unfurnished.end()) {
      unfurnished.push_back(to);
      // Another replica may be as quick: its copy is the same.
      auto said = co_await to->answers(to->send({{"FUNCTION", "LOAD", std::string(library_source)}}), until);
      const bool refused =
          said[0].kind == response::kind::error && said[0].text.find("already exists") == std::string::npos;
      if (refused) {
        into[i] = std::move(said[0]);
        continue;
      }
    }
    co_await round(commands, {{to, {i}}}, into, until);
  }
}

}  // namespace switchgear::peers::redis
