// One scope kept twice: by the C++ authority and by the library inside a real Redis.
#pragma once

#include "breaker/authority.hpp"
#include "peers/redis/exchange.hpp"
#include "support/redis/server.hpp"

#include <cstdint>
#include <deque>
#include <hiredict/hiredict.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::sim {

/// A blocking connection; throws when anything goes wrong.
class redis_connection {
 public:
  explicit redis_connection(const std::string& socket);

  void send(const peers::redis::command& words);
  /// The next answer's text; an error's begins with "!".
  std::string receive();
  std::string ask(const peers::redis::command& words) {
    send(words);
    return receive();
  }

 private:
  struct closer {
    void operator()(redictContext* which) const { redictFree(which); }
  };
  std::unique_ptr<redictContext, closer> context_;
};

/// Loads the library into an empty Redis.
void load_library(redis_connection& into);

/// What a step said to both, and what the C++ authority answered.
struct step {
  std::string instance;
  port::board_entry entry;
  bool put_settings = false;
  time_point at{};
  double random = 0;
};

class pair {
 public:
  pair(redis_connection& redis, std::string name, breaker::scope scope, const breaker::settings& values,
       time_point start);

  /// Runs a step through the C++ authority and sends it to Redis. The answer is the C++ one.
  breaker::reply run(const step& what);
  /// Reads what Redis answered to the steps so far. Empty, or the first difference.
  std::string difference();

  std::uint64_t generation() const { return authority_.generation(); }
  const breaker::settings& settings() const { return authority_.settings(); }

 private:
  struct expected {
    breaker::reply reply;
    std::uint64_t number;
    breaker::settings settings;
  };

  redis_connection& redis_;
  std::string name_;
  breaker::scope scope_;
  peers::redis::address at_;
  breaker::authority authority_;
  std::map<std::string, std::uint64_t> sequence_;
  std::uint64_t steps_ = 0;
  std::deque<expected> waiting_;
};

/// Both as text, for comparison; times as microseconds, rounded as the library rounds them.
std::string describe(const breaker::reply& said);

}  // namespace switchgear::sim
