#include "peers/redis/round.hpp"

#include "async/worker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;

/// What one node is asked in one go.
struct round::errand {
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

round::round(std::vector<routed> commands, nodes& among, duration timeout)
    : commands_(std::move(commands)),
      nodes_(among),
      timeout_(timeout),
      until_(async::worker::now() + timeout),
      said_(commands_.size()),
      whom_(commands_.size()) {}

asio::awaitable<void> round::carry_out() {
  std::vector<errand> errands;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const auto to = nodes_.of(commands_[i].slot);
    if (to && to->usable()) errand_to(to, errands).add(commands_[i].words, i);
  }
  for (unsigned repaired = 0; !errands.empty(); ++repaired) {
    co_await run(errands);
    // A repair that has no time left would cost a healthy connection.
    const bool time_left = until_ - async::worker::now() > timeout_ / 4;
    errands = repairs();
    if (!time_left || repaired == most_repairs) break;
  }
  judge();
}

asio::awaitable<void> round::run(std::vector<errand>& errands) {
  for (errand& each : errands) {
    if (each.furnishes) furnished_.push_back(each.to);
    each.sent = each.to->line.send(each.commands);
    for (const std::size_t whose : each.of) {
      if (whose != errand::nobody) whom_[whose] = each.to;
    }
  }
  for (errand& each : errands) {
    auto said = co_await each.to->line.answers(each.sent, until_);
    const bool refused = each.furnishes && said[0].kind == response::kind::error &&
                         said[0].text.find("already exists") == std::string::npos;
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (each.of[i] == errand::nobody) continue;
      // "Already exists": another replica was as quick, and its copy is the same. Else, of use to people is why the
      // library could not be loaded, not that it is still missing.
      const bool missing = refused && remedy_of(said[i]) == remedy::furnish;
      said_[each.of[i]] = missing ? said[0] : std::move(said[i]);
    }
  }
}

round::errand& round::errand_to(const std::shared_ptr<node>& whom, std::vector<errand>& among) {
  const auto found = std::ranges::find(among, whom, &errand::to);
  if (found != among.end()) return *found;
  among.push_back({whom, {}, {}, false, nullptr});
  return among.back();
}

std::vector<round::errand> round::repairs() {
  std::vector<errand> errands;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const auto& whom = whom_[i];
    const command& words = commands_[i].words;
    switch (remedy_of(said_[i])) {
      case remedy::none:
        break;
      case remedy::furnish:
        // Once: if that is no help, somebody else's library has our name.
        if (std::ranges::find(furnished_, whom) != furnished_.end()) break;
        if (!errand_to(whom, errands).furnishes) errand_to(whom, errands).furnish();
        errand_to(whom, errands).add(words, i);
        break;
      case remedy::follow:
      case remedy::ask_other:
        if (const auto to = redirected(said_[i], *whom)) {
          if (remedy_of(said_[i]) == remedy::ask_other) errand_to(to, errands).add({"ASKING"}, errand::nobody);
          errand_to(to, errands).add(words, i);
        }
        break;
      case remedy::redraw:
        map_is_old_ = true;
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
std::shared_ptr<node> round::redirected(const response& said, const node& by) {
  auto read = read_redirection(said.text);
  if (!read || !nodes_.are_cluster()) return nullptr;
  if (read->to.name.empty()) read->to.name = by.where.name;
  const auto to = nodes_.at(read->to);
  if (remedy_of(said) == remedy::follow) {
    if (to) nodes_.move(read->slot, to);
    map_is_old_ = true;
    moved_to_ = place_of(read->to);
  }
  return to && to->usable() ? to : nullptr;
}

void round::judge() {
  for (std::size_t i = 0; i < said_.size(); ++i) {
    const response& said = said_[i];
    const auto& whom = whom_[i];
    if (!whom) continue;
    if (said.kind == response::kind::lost) {
      const std::string& why = whom->line.ended_why();
      whom->trouble = whom->place + ": " + (why.empty() ? "no answer within the timeout" : why);
      trouble_ = whom->trouble;
      continue;
    }
    whom->pace.achieved();
    if (said.kind == response::kind::error) {
      whom->trouble = reason_of(said);
      trouble_ = whom->trouble;
    }
  }
}

}  // namespace switchgear::peers::redis
