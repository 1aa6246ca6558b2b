#include "breaker/rules.hpp"
#include "breaker/settings.hpp"
#include "peers/redis/cluster_map.hpp"
#include "peers/redis/exchange.hpp"
#include "peers/redis/mail.hpp"
#include "peers/redis/pause_log.hpp"
#include "peers/redis/response.hpp"
#include "port/pauses.hpp"
#include "targets.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace switchgear::fuzz {

namespace {

using peers::redis::response;
using peers::redis::response_reader;

struct story {
  std::vector<response> told;
  bool gave_up = false;
};

story read(std::string_view stream, std::size_t size) {
  response_reader reader;
  story heard;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    const std::string_view part = stream.substr(at, size);
    const std::vector<char> piece(part.begin(), part.end());
    reader.feed({piece.data(), piece.size()});
    while (auto each = reader.next()) heard.told.push_back(*std::move(each));
  }
  heard.gave_up = reader.gave_up();
  return heard;
}

bool same(const response& one, const response& other) {
  return one.kind == other.kind && one.text == other.text && one.number == other.number &&
         std::ranges::equal(one.items, other.items, same);
}

unsigned depth(const response& of) {
  unsigned most = 0;
  for (const response& each : of.items) most = std::max(most, depth(each) + 1);
  return most;
}

/// The tables behind the limits among an answer's figures, which in a gateway its gates keep.
struct rules {
  breaker::settings settings;
  breaker::share_test errors = breaker::error_test(settings);
  breaker::share_test slow = breaker::slow_test(settings);
};

void use(const response& heard) {
  static const rules known;
  must(heard.kind != response::kind::lost, "what was read was said");
  must(depth(heard) <= response_reader::most_depth + 1, "lists are not deeper than they may be");
  if (const auto map = peers::redis::read_slots(heard, {"node", 1})) {
    for (const auto& each : *map) {
      must(each.first <= each.last && each.last < peers::redis::slot_count, "slots are within");
      must(each.primary.port != 0 && !each.primary.name.empty(), "a node has an address");
    }
  }
  peers::redis::remedy_of(heard);
  peers::redis::scope_of_message(heard.text);
  if (const auto mail = peers::redis::read_mail(heard.text)) {
    must(mail->from.size() == peers::redis::mail::name_size, "a mail is from somebody");
    must(mail->text.size() <= peers::redis::mail::longest, "and no longer than it may be");
    must(written(*mail) == heard.text, "what was read can be written");
  }
  if (const auto to = peers::redis::read_redirection(heard.text)) {
    must(to->slot < peers::redis::slot_count && to->to.port != 0, "a redirection leads somewhere");
  }
  if (const auto answer = peers::redis::read(heard.text, known.settings)) {
    must(answer->reply.leases.size() <= heard.text.size(), "each lease was written down");
  }
}

/// Two answers in a row, as those to a look into the log of pauses.
void use(const response& time, const response& entries) {
  peers::redis::pause_log log("cb1");
  for (const auto& each : log.hear({time, entries})) {
    must(each.left > duration::zero() && each.left <= peers::redis::pause_log::longest, "a pause is bounded");
    must(each.name.size() <= port::pauses::longest_name, "and so is its name");
  }
}

}  // namespace

void redis(std::string_view input) {
  const std::size_t size = piece_size(input);
  const story whole = read(input, input.size() + 1), cut = read(input, size);
  must(whole.gave_up == cut.gave_up, "giving up does not depend on the cut");
  must(std::ranges::equal(whole.told, cut.told, same), "nor do answers");
  for (const response& each : whole.told) use(each);
  for (std::size_t i = 1; i < whole.told.size(); ++i) use(whole.told[i - 1], whole.told[i]);
}

}  // namespace switchgear::fuzz
