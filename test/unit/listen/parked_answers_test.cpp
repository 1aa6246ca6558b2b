#include "listen/parked_answers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace switchgear::listen {
namespace {

using namespace std::chrono_literals;

const time_point start{1h};

class parked : public testing::Test {
 protected:
  // Runs the loop until nothing more can happen without an event from outside.
  void settle_down() {
    on.io.restart();
    on.io.poll();
  }

  void take(std::string id, std::string session = "session") {
    boost::asio::co_spawn(on.io, answers.take(on, std::move(session), std::move(id), until),
                          [&](std::exception_ptr thrown, std::optional<std::string> text) {
                            EXPECT_FALSE(thrown);
                            taken = std::move(text);
                            done = true;
                          });
    settle_down();
  }

  async::worker on{0};
  async::interrupt until{on.timers};
  parked_answers answers{"sg1"};
  std::optional<std::string> taken;
  bool done = false;
};

TEST_F(parked, answers_are_given_once_and_to_their_own_session) {
  const std::string id = answers.begin("session");
  answers.settle(id, "events", start);
  take(id, "another");
  EXPECT_TRUE(done);
  EXPECT_FALSE(taken);
  take(id);
  EXPECT_EQ(taken, "events");
  take(id);
  EXPECT_FALSE(taken);
}

TEST_F(parked, answers_are_waited_for) {
  const std::string id = answers.begin("session");
  EXPECT_TRUE(answers.has("session", id));
  take(id);
  EXPECT_FALSE(done);
  EXPECT_TRUE(answers.is_wanted(id));
  EXPECT_FALSE(answers.has("session", id));  // by one only
  answers.settle(id, "events", start);
  settle_down();
  EXPECT_EQ(taken, "events");
}

TEST_F(parked, answers_that_went_out_another_way_end_the_wait) {
  const std::string id = answers.begin("session");
  take(id);
  answers.drop(id);
  settle_down();
  EXPECT_TRUE(done);
  EXPECT_FALSE(taken);
}

TEST_F(parked, answers_can_be_asked_for_again_by_a_client_that_left_too_early) {
  const std::string id = answers.begin("session");
  take(id);
  until.raise(async::interrupt::reason::cancelled);
  settle_down();
  EXPECT_TRUE(done);
  EXPECT_FALSE(taken);
  EXPECT_TRUE(answers.has("session", id));
}

TEST_F(parked, answers_are_kept_for_a_while_only) {
  const std::string waiting = answers.begin("session");
  const std::string settled = answers.begin("session");
  answers.settle(settled, "events", start);
  answers.sweep(start + parked_answers::kept);
  EXPECT_TRUE(answers.has("session", settled));
  answers.sweep(start + parked_answers::kept + 1ns);
  EXPECT_FALSE(answers.has("session", settled));
  EXPECT_TRUE(answers.has("session", waiting));
}

TEST_F(parked, answers_go_with_their_session) {
  const std::string id = answers.begin("session");
  const std::string other = answers.begin("other");
  take(id);
  answers.forget("session");
  settle_down();
  EXPECT_TRUE(done);
  EXPECT_TRUE(answers.has("other", other));
}

TEST_F(parked, answers_take_only_so_much_memory) {
  const std::string half(parked_answers::most_bytes / 2, 'x');
  const std::string first = answers.begin("session"), second = answers.begin("session"),
                    third = answers.begin("session");
  answers.settle(first, half, start);
  answers.settle(second, half, start);
  answers.settle(third, "x", start);
  EXPECT_TRUE(answers.has("session", second));
  EXPECT_FALSE(answers.has("session", third));
  take(first);
  EXPECT_EQ(taken->size(), half.size());
}

}  // namespace
}  // namespace switchgear::listen
