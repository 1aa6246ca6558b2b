#include "peers/redis/store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr duration look_around = 1s;      // even when nothing happens
constexpr duration survey_limit = 250ms;  // for what a connected node knows; another one knows it as well
constexpr unsigned most_repairs = 3;      // moved there, where the library is missing, and once for bad luck
constexpr std::size_t longest_reason = 200;

time_point now_here() {
  return std::chrono::steady_clock::now();
}

// [host, port], both as text
bool read_address(const response& said, port::redis_settings::host& into) {
  if (said.kind != response::kind::list || said.items.size() != 2) return false;
  into.name = said.items[0].text;
  const std::string& port = said.items[1].text;
  const char* const end = port.data() + port.size();
  const auto read = std::from_chars(port.data(), end, into.port);
  return read.ec == std::errc() && read.ptr == end && into.port != 0 && !into.name.empty();
}

}  // namespace

struct store::node {
  node(asio::io_context& io, host at) : where(std::move(at)), place(redis::place_of(where)), line(io) {}

  bool usable() const { return !opening && line.usable(); }

  host where;
  std::string place;
  link line;
  redis::pace pace;
  std::string trouble = "not connected yet";
  bool opening = false;
};

/// What one node is asked in one go.
struct store::errand {
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  void add(command words, std::size_t whose) {
    commands.push_back(std::move(words));
    of.push_back(whose);
  }
  void furnish() {
    commands.insert(commands.begin(), {"FUNCTION", "LOAD", std::string(library_source)});
    of.insert(of.begin(), nobody);
    furnishes = true;
  }

  std::shared_ptr<node> to;
  std::vector<command> commands;
  std::vector<std::size_t> of;  // whose answer it is, in round::said
  bool furnishes = false;       // the first command loads the library
  std::shared_ptr<link::batch> sent;
};

/// One ask() under way.
struct store::round {
  std::vector<routed> commands;
  std::vector<response> said;
  std::vector<std::shared_ptr<node>> whom;  // was asked last; null: nobody
  std::vector<std::shared_ptr<node>> furnished;
  time_point until;
};

store::store(asio::io_context& io, port::redis_settings settings, std::uint64_t seed,
             std::function<void(std::string_view)> changed)
    : io_(io),
      settings_(std::move(settings)),
      chance_(seed),
      informant_(io),
      news_(io, settings_, chance_,
            {std::move(changed),
             [this] {
               map_is_old_ = true;
               wake();
             },
             [this] { wake(); }}),
      timer_(io) {
  if (is_cluster()) homes_.resize(slot_count);
}

store::~store() = default;

void store::start() {
  if (settings_.shape == port::redis_settings::layout::single) keep_only({settings_.hosts.front()});
  asio::co_spawn(io_, run(), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

void store::stop() {
  asio::post(io_, [this] {
    stopping_ = true;
    informant_.close();
    wake();
  });
}

void store::wake() {
  woken_ = true;
  timer_.cancel();
}

void store::follow(std::string_view scope) {
  if (news_.follow(address(settings_.prefix, scope).channel)) wake();
}

asio::awaitable<void> store::pause(time_point until) {
  if (!woken_) {
    error_code ignored;
    timer_.expires_at(until);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  woken_ = false;
}

asio::awaitable<void> store::run() {
  while (!stopping_) {
    if (survey_due(now_here())) co_await survey();
    if (stopping_) break;
    reach_all(now_here());
    const auto home = [this](const std::string& channel) -> const host* {
      const auto at = node_of(slot_of(channel));
      return at ? &at->where : nullptr;
    };
    news_.align(home, now_here());
    co_await pause(next_task(now_here()));
  }
  keep_only({});
  news_.close();
}

time_point store::next_task(time_point now) const {
  time_point next = std::min(now + look_around, news_.next_try());
  for (const auto& [place, each] : nodes_) {
    if (!each->opening && !each->line.usable()) next = std::min(next, each->pace.next());
  }
  if (map_is_old_ && settings_.shape != port::redis_settings::layout::single) {
    next = std::min(next, survey_pace_.next());
  }
  return next;
}

bool store::usable() const {
  return std::ranges::any_of(nodes_, [](const auto& each) { return each.second->usable(); });
}

const std::string& store::trouble(unsigned slot) const {
  const auto at = node_of(slot);
  return at ? at->trouble : trouble_;
}

std::string_view store::place_of(unsigned slot) const {
  const auto at = node_of(slot);
  return at ? std::string_view(at->place) : std::string_view();
}

std::shared_ptr<store::node> store::node_of(unsigned slot) const {
  if (is_cluster()) return homes_[slot];
  return nodes_.empty() ? nullptr : nodes_.begin()->second;
}

std::shared_ptr<store::node> store::node_at(const host& where) const {
  const auto found = nodes_.find(redis::place_of(where));
  return found == nodes_.end() ? nullptr : found->second;
}

void store::keep_only(std::vector<host> places) {
  std::erase_if(nodes_, [&](const auto& each) {
    if (std::ranges::find(places, each.second->where) != places.end()) return false;
    each.second->line.close();
    return true;
  });
  for (host& each : places) {
    auto& found = nodes_[redis::place_of(each)];
    if (!found) found = std::make_shared<node>(io_, std::move(each));
  }
}

// ---- where the nodes are

// Whoever is dead does not say that another has its slots now.
bool store::survey_due(time_point now) const {
  if (settings_.shape == port::redis_settings::layout::single) return false;
  const bool missing = std::ranges::any_of(nodes_, [](const auto& each) { return !each.second->usable(); });
  return (map_is_old_ && survey_pace_.due(now)) || (missing && now - surveyed_ >= look_around);
}

asio::awaitable<void> store::survey() {
  surveyed_ = now_here();
  survey_pace_.tried(surveyed_, chance_);
  map_is_old_ = false;
  const bool found = is_cluster() ? co_await ask_cluster() : co_await ask_sentinels();
  if (!found) map_is_old_ = true;
}

asio::awaitable<bool> store::ask_sentinels() {
  // Sentinels have credentials of their own, if any, and no databases.
  port::redis_settings plain = settings_;
  plain.user.clear();
  plain.password.clear();
  plain.password_file.clear();
  plain.database = 0;
  for (std::size_t i = 0; i < settings_.hosts.size() && !stopping_; ++i) {
    const host sentinel = settings_.hosts[first_informant_ % settings_.hosts.size()];
    std::string why = co_await informant_.open(sentinel, plain);
    if (why.empty()) {
      const auto said =
          co_await informant_.ask({{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.master}}, survey_limit);
      informant_.close();
      host primary;
      if (read_address(said[0], primary)) {
        keep_only({primary});
        co_return true;
      }
      why = redis::place_of(sentinel) + ": this sentinel does not know " + settings_.master;
    }
    trouble_ = std::move(why);
    ++first_informant_;  // the one that answers stays the first
  }
  co_return false;
}

asio::awaitable<bool> store::ask_cluster() {
  // Whoever is connected knows, and at once; the hosts of the settings may be dead by now.
  std::vector<std::shared_ptr<node>> connected;
  for (const auto& [place, each] : nodes_) {
    if (each->usable()) connected.push_back(each);
  }
  const std::vector<command> question{{"CLUSTER", "SLOTS"}};
  for (const auto& each : connected) {
    const auto said = co_await each->line.ask(question, survey_limit);
    if (take_map(said[0], each->where)) co_return true;
  }
  for (std::size_t i = 0; i < settings_.hosts.size() && !stopping_; ++i) {
    const host seed = settings_.hosts[first_informant_ % settings_.hosts.size()];
    std::string why = co_await informant_.open(seed, settings_);
    if (why.empty()) {
      const auto said = co_await informant_.ask(question, survey_limit);
      informant_.close();
      if (take_map(said[0], seed)) co_return true;
      why = redis::place_of(seed) + ": " + (said[0].text.empty() ? "has no map of the cluster" : said[0].text);
    }
    trouble_ = why.substr(0, longest_reason);
    ++first_informant_;
  }
  co_return false;
}

bool store::take_map(const response& said, const host& from) {
  const auto ranges = read_slots(said, from);
  if (!ranges) return false;
  std::vector<host> places;
  for (const slot_range& each : *ranges) {
    if (std::ranges::find(places, each.primary) == places.end()) places.push_back(each.primary);
  }
  keep_only(std::move(places));
  std::ranges::fill(homes_, nullptr);
  for (const slot_range& each : *ranges) {
    std::fill(homes_.begin() + each.first, homes_.begin() + each.last + 1, node_at(each.primary));
  }
  survey_pace_.achieved();
  return true;
}

// ---- connections

void store::reach_all(time_point now) {
  for (const auto& [place, each] : nodes_) {
    if (each->opening || each->line.usable() || !each->pace.due(now)) continue;
    each->opening = true;
    each->pace.tried(now, chance_);
    asio::co_spawn(io_, reach(each), [](std::exception_ptr failed) {
      if (failed) std::rethrow_exception(failed);
    });
  }
}

asio::awaitable<void> store::reach(std::shared_ptr<node> to) {
  to->line.on_end([this, ended = std::weak_ptr(to)] {
    if (const auto it = ended.lock()) it->pace.ended(now_here(), chance_);
    map_is_old_ = true;
    wake();
  });
  std::string why = co_await to->line.open(to->where, settings_);
  if (why.empty() && settings_.shape == port::redis_settings::layout::sentinel) why = co_await check_role(to->line);
  to->opening = false;
  if (!why.empty()) {
    to->trouble = std::move(why);
    trouble_ = to->trouble;
    map_is_old_ = true;
  }
  wake();
}

// A sentinel may speak of one who was the primary until a moment ago.
asio::awaitable<std::string> store::check_role(link& of) {
  const auto said = co_await of.ask({{"ROLE"}}, survey_limit);
  const response& role = said[0];
  if (role.kind == response::kind::list && !role.items.empty() && role.items[0].text == "master") {
    survey_pace_.achieved();
    co_return std::string();
  }
  of.close();
  co_return "the sentinels name a primary that is none";
}

// ---- commands

asio::awaitable<std::vector<response>> store::ask(std::vector<routed> commands) {
  round asked{std::move(commands), {}, {}, {}, now_here() + settings_.timeout};
  asked.said.resize(asked.commands.size());
  asked.whom.resize(asked.commands.size());
  std::vector<errand> errands;
  for (std::size_t i = 0; i < asked.commands.size(); ++i) {
    const auto to = node_of(asked.commands[i].slot);
    if (to && to->usable()) errand_to(to, errands).add(asked.commands[i].words, i);
  }
  for (unsigned repaired = 0; !errands.empty(); ++repaired) {
    co_await carry_out(asked, std::move(errands));
    // A repair that has no time left would cost a healthy connection.
    const bool time_left = asked.until - now_here() > settings_.timeout / 4;
    errands = repairs(asked);
    if (!time_left || repaired == most_repairs) break;
  }
  judge(asked);
  co_return std::move(asked.said);
}

// All nodes work at the same time. One that is frozen costs the others nothing but the wait until the limit.
asio::awaitable<void> store::carry_out(round& asked, std::vector<errand> errands) {
  for (errand& each : errands) {
    if (each.furnishes) asked.furnished.push_back(each.to);
    each.sent = each.to->line.send(each.commands);
    for (const std::size_t whose : each.of) {
      if (whose != errand::nobody) asked.whom[whose] = each.to;
    }
  }
  for (errand& each : errands) {
    auto said = co_await each.to->line.answers(each.sent, asked.until);
    const bool refused = each.furnishes && said[0].kind == response::kind::error &&
                         said[0].text.find("already exists") == std::string::npos;
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (each.of[i] == errand::nobody) continue;
      // "Already exists": another replica was as quick, and its copy is the same. Else, of use to people is why the
      // library could not be loaded, not that it is still missing.
      const bool missing = refused && remedy_of(said[i]) == remedy::furnish;
      asked.said[each.of[i]] = missing ? said[0] : std::move(said[i]);
    }
  }
}

store::errand& store::errand_to(const std::shared_ptr<node>& whom, std::vector<errand>& among) {
  const auto found = std::ranges::find(among, whom, &errand::to);
  if (found != among.end()) return *found;
  among.push_back({whom, {}, {}, false, nullptr});
  return among.back();
}

// What a node refused was not carried out, and is asked again where the reason can be removed.
std::vector<store::errand> store::repairs(round& asked) {
  std::vector<errand> errands;
  for (std::size_t i = 0; i < asked.commands.size(); ++i) {
    const auto& whom = asked.whom[i];
    const command& words = asked.commands[i].words;
    switch (remedy_of(asked.said[i])) {
      case remedy::none:
        break;
      case remedy::furnish:
        // Once: if that is no help, somebody else's library has our name.
        if (std::ranges::find(asked.furnished, whom) != asked.furnished.end()) break;
        if (!errand_to(whom, errands).furnishes) errand_to(whom, errands).furnish();
        errand_to(whom, errands).add(words, i);
        break;
      case remedy::follow:
      case remedy::ask_other:
        if (const auto to = redirected(asked.said[i], *whom)) {
          if (remedy_of(asked.said[i]) == remedy::ask_other) errand_to(to, errands).add({"ASKING"}, errand::nobody);
          errand_to(to, errands).add(words, i);
        }
        break;
      case remedy::redraw:
        map_is_old_ = true;
        wake();
        break;
      case remedy::reconnect:
        whom->line.close();
        break;
    }
  }
  return errands;
}

// The node that has it, when it is connected. MOVED corrects the map at once, so that the next command need not be told
// again; the rest of the map comes with the next survey.
std::shared_ptr<store::node> store::redirected(const response& said, const node& by) {
  auto read = read_redirection(said.text);
  if (!read || !is_cluster()) return nullptr;
  if (read->to.name.empty()) read->to.name = by.where.name;
  const auto to = node_at(read->to);
  if (remedy_of(said) == remedy::follow) {
    if (to) homes_[read->slot] = to;
    map_is_old_ = true;
    wake();
  }
  return to && to->usable() ? to : nullptr;
}

void store::judge(const round& asked) {
  for (std::size_t i = 0; i < asked.said.size(); ++i) {
    const response& said = asked.said[i];
    const auto& whom = asked.whom[i];
    if (!whom) continue;
    if (said.kind == response::kind::lost) {
      const std::string& why = whom->line.ended_why();
      whom->trouble = whom->place + ": " + (why.empty() ? "no answer within the timeout" : why);
      trouble_ = whom->trouble;
      continue;
    }
    whom->pace.achieved();
    if (said.kind == response::kind::error) {
      whom->trouble = said.text.substr(0, longest_reason);
      trouble_ = whom->trouble;
    }
  }
}

}  // namespace switchgear::peers::redis
