#include "sim/board/pair.hpp"

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace switchgear::sim {

redis_connection::redis_connection(const std::string& socket) : context_(redictConnectUnix(socket.c_str())) {
  if (!context_ || context_->err != 0) throw std::runtime_error("cannot connect to " + socket);
}

void redis_connection::send(const peers::redis::command& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  redictAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), lengths.data());
}

std::string redis_connection::receive() {
  void* raw = nullptr;
  if (redictGetReply(context_.get(), &raw) != REDICT_OK) throw std::runtime_error(context_->errstr);
  const std::unique_ptr<redictReply, void (*)(void*)> reply(static_cast<redictReply*>(raw), &freeReplyObject);
  std::string text = reply->str != nullptr ? std::string(reply->str, reply->len) : std::to_string(reply->integer);
  if (reply->type == REDICT_REPLY_ERROR) text.insert(0, "!");
  return text;
}

void load_library(redis_connection& into) {
  const std::string said = into.ask({"FUNCTION", "LOAD", std::string(peers::redis::library_source)});
  if (said.starts_with('!')) throw std::runtime_error(said);
}

pair::pair(redis_connection& redis, std::string name, breaker::scope scope, const breaker::settings& values,
           time_point start)
    : redis_(redis), name_(std::move(name)), scope_(scope), at_("cb1", name_), authority_(scope, values, start) {}

breaker::reply pair::run(const step& what) {
  port::board_entry entry = what.entry;
  entry.name = name_;
  entry.scope = scope_;
  peers::redis::question asked{entry, at_, what.instance};
  asked.sequence = ++sequence_[what.instance];
  asked.put_settings = what.put_settings;
  asked.known.generation = entry.said.generation;
  asked.random = what.random;
  peers::redis::command words = peers::redis::words(asked);
  words.push_back(
      std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(what.at.time_since_epoch()).count()));
  redis_.send(words);

  if (what.put_settings) authority_.configure(*entry.settings, what.at);
  if (entry.ordered) authority_.obey(entry.ordered->order, entry.ordered->hold, what.at);
  breaker::reply reply = authority_.exchange(entry.said, what.at, what.random);
  waiting_.push_back({reply, ++steps_, authority_.settings()});
  return reply;
}

std::string pair::difference() {
  std::string found;
  for (; !waiting_.empty(); waiting_.pop_front()) {
    const expected& mine = waiting_.front();
    const std::string text = redis_.receive();
    if (!found.empty()) continue;
    const auto theirs = peers::redis::read(text, mine.settings);
    const std::string said = theirs ? describe(theirs->reply) : text;
    if (said == describe(mine.reply)) continue;
    found = "step " + std::to_string(mine.number) + "\n  C++:   " + describe(mine.reply) + "\n  Redis: " + said;
  }
  return found;
}

std::string describe(const breaker::reply& said) {
  const auto micros = [](duration length) {
    return length == duration::max() ? std::string("never")
                                     : std::to_string(std::chrono::ceil<std::chrono::microseconds>(length).count());
  };
  const breaker::view& view = said.view;
  const breaker::figures& seen = said.figures;
  char evidence[40];
  std::snprintf(evidence, sizeof evidence, "%.17g", seen.outage_evidence);
  std::string all = "generation " + std::to_string(view.generation) + ' ' + std::string(name(view.state)) + ' ' +
                    std::string(name(view.mode)) + (view.forced ? " forced" : "") + " ramp " +
                    std::to_string(view.ramp) + (view.watch ? " watch" : "") + " since " + micros(view.since) +
                    " retry " + micros(view.retry_after) + " lease " + micros(view.next_lease) + " hold " +
                    micros(view.hold);
  for (const std::uint64_t count : {seen.counts.calls, seen.counts.failures, seen.counts.timed, seen.counts.slow,
                                    seen.counts.connects, seen.failures_to_trip, seen.slow_to_trip})
    all += ' ' + std::to_string(count);
  all += " evidence " + std::string(evidence) + " probes " + std::to_string(seen.probes_in_flight) + '/' +
         std::to_string(seen.probes_done) + '/' + std::to_string(seen.probes_failed) + " stale " +
         std::to_string(seen.stale) + ' ' + std::string(name(seen.last_cause));
  for (const breaker::lease& each : said.leases)
    all += " +" + std::to_string(each.token) + ':' + micros(each.use_within) + ':' + micros(each.result_within);
  for (const breaker::transition& each : said.transitions)
    all += " [" + std::string(name(each.from)) + '>' + std::string(name(each.to)) + ' ' +
           std::to_string(each.generation) + ' ' + std::string(name(each.cause)) + (each.would_be ? " would]" : "]");
  return all;
}

}  // namespace switchgear::sim
