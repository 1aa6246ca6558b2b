// The words of an exchange with Redis, as tests write and read them.
#pragma once

#include "peers/redis/ledger.hpp"

#include <bit>
#include <sstream>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// Numbers as text to numbers as the library packs them, and back.
inline std::string packed(const std::string& numbers) {
  std::istringstream from(numbers);
  std::string all;
  for (double each; from >> each;) {
    const auto bits = std::bit_cast<std::uint64_t>(each);
    for (int shift = 56; shift >= 0; shift -= 8) all += static_cast<char>(bits >> shift & 0xff);
  }
  return all;
}

inline std::vector<double> unpacked(std::string_view bytes) {
  std::vector<double> all;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t bits = 0;
    for (const char byte : bytes.substr(0, 8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    all.push_back(std::bit_cast<double>(bits));
  }
  return all;
}

/// An answer of the library, field by field in its order.
struct answer_words {
  std::uint64_t generation = 0;
  breaker::state state = breaker::state::closed;
  std::uint64_t since = 0, retry_after = 0;  // microseconds
  std::uint64_t calls = 0, failures = 0;
  bool alone = false;
  unsigned replicas = 1;
  std::vector<std::uint64_t> leases;
  std::string news;         // "from to generation cause would_be", as numbers
  std::string contributor;  // its name; it counted 7 calls and 1 failure

  operator receipt() const {
    std::string all = std::to_string(generation) + ' ' + std::to_string(static_cast<unsigned>(state)) + " 0 0 0 " +
                      (state == breaker::state::closed ? "0 " : "1 ") + std::to_string(since) + ' ' +
                      std::to_string(retry_after) + " -1 -1 " + std::to_string(calls) + ' ' + std::to_string(failures) +
                      " 0 0 0 0 0 0 0 0 0 " + (alone ? "1 " : "0 ") + std::to_string(replicas) +
                      " 0 0 1000000 11000000 " + std::to_string(leases.size()) + (news.empty() ? " 0" : " 1");
    for (const std::uint64_t token : leases) all += ' ' + std::to_string(token);
    all += ' ' + news;
    all += contributor.empty() ? " 0" : " 1 5000 7 1 7 0 " + std::to_string(contributor.size());
    return {receipt::kind::text, packed(all) + contributor};
  }
};

inline receipt lost() {
  return {};
}
inline receipt error(std::string text) {
  return {receipt::kind::error, std::move(text)};
}

/// Some words of a question, by their place; numbers as text.
struct question_words {
  explicit question_words(const command& from)
      : probes(from.at(10)), order(from.at(11)), name(from.at(3).substr(from.at(3).find("}:s:") + 4)) {
    const std::vector<double> numbers = unpacked(from.at(9));
    const auto text = [&](std::size_t first, std::size_t count) {
      std::ostringstream all;
      all.precision(17);
      for (std::size_t i = first; i < first + count; ++i) all << (i == first ? "" : " ") << numbers.at(i);
      return all.str();
    };
    sequence = text(0, 1);
    put_settings = text(2, 1);
    generation = text(3, 1);
    known = text(4, 3);
    counts = text(7, 6);
    want = text(14, 1);
    sharded = text(16, 1);
    roster = text(17, 1);
  }

  std::string sequence, put_settings, generation, known, counts, want, probes, order, name, sharded, roster;
};

}  // namespace switchgear::peers::redis
