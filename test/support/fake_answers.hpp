// What other replicas keep of answers, as a test puts it there.
#pragma once

#include "async/wait.hpp"
#include "port/answers.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::test {

class fake_answers final : public port::answers {
 public:
  struct kept {
    std::string result;
    duration life;
    duration age{};
  };
  std::map<port::question_digest, kept> all;
  unsigned looks = 0;
  duration delay{};  ///< of the answer to a look

  void store(const port::question_digest& asked, std::string_view result, duration life) override {
    all.insert_or_assign(asked, kept{std::string(result), life, {}});
  }

  boost::asio::awaitable<std::optional<found>> find(async::worker& on, port::question_digest asked, duration max_age,
                                                    async::interrupt& until) override {
    ++looks;
    boost::asio::steady_timer timer(on.io, delay);
    co_await async::wait(timer, until);
    const auto known = all.find(asked);
    if (until.raised() || known == all.end() || known->second.age > max_age) co_return std::nullopt;
    co_return found{std::make_shared<const std::string>(known->second.result), known->second.age};
  }
};

}  // namespace switchgear::test
