// The words of an exchange with Redis, as tests write and read them.
#pragma once

#include "peers/redis/ledger.hpp"

#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// An answer of the library, field by field in its order.
struct answer_words {
  std::uint64_t generation = 0;
  breaker::state state = breaker::state::closed;
  std::uint64_t since = 0, retry_after = 0;  // microseconds
  std::uint64_t calls = 0, failures = 0;
  bool alone = false;
  unsigned replicas = 1;
  std::vector<std::uint64_t> leases;
  std::string news;  // "from to generation cause would_be", as numbers
  std::string roster;

  operator receipt() const {
    std::string all = std::to_string(generation) + ' ' + std::to_string(static_cast<unsigned>(state)) + " 0 0 0 " +
                      (state == breaker::state::closed ? "0 " : "1 ") + std::to_string(since) + ' ' +
                      std::to_string(retry_after) + " -1 " + std::to_string(calls) + ' ' + std::to_string(failures) +
                      " 0 0 0 0 0 0 0 0 0 " + (alone ? "1 " : "0 ") + std::to_string(replicas) +
                      " 0 0 1000000 11000000 " + std::to_string(leases.size());
    for (const std::uint64_t token : leases) all += ' ' + std::to_string(token);
    return {receipt::kind::text, all + (news.empty() ? "" : ' ' + news) + roster};
  }
};

inline receipt lost() {
  return {};
}
inline receipt error(std::string text) {
  return {receipt::kind::error, std::move(text)};
}

/// Some words of a question, by their place.
struct question_words {
  explicit question_words(const command& from)
      : sequence(from.at(8)),
        put_settings(from.at(11)),
        generation(from.at(12)),
        known(from.at(13)),
        counts(from.at(14)),
        want(from.at(16)),
        probes(from.at(17)),
        order(from.at(18)),
        name(from.at(20)),
        publish(from.at(21)),
        roster(from.at(24)) {}

  std::string sequence, put_settings, generation, known, counts, want, probes, order, name, publish, roster;
};

}  // namespace switchgear::peers::redis
