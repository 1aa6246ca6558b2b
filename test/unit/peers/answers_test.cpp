// Answers that replicas keep for each other, through real servers.
#include "unit/peers/answers_scene.hpp"

#include <csignal>

namespace switchgear::peers::redis {
namespace {

struct shared_answers : testing::Test {
  test::redis_server server{test::on_tcp};
  answers_scene scene{server.port()};
};

TEST_F(shared_answers, of_one_replica_are_found_by_another_with_their_age) {
  answers &one = scene.start(), &other = scene.start();
  const time_point before = async::worker::now();
  one.store(question_of(1), R"({"content":[]})", 10min);
  ASSERT_TRUE(scene.finds(other, 1, R"({"content":[]})"));
  ASSERT_FALSE(scene.until([] { return false; }, 30ms));

  const auto got = scene.find(other, 1);

  ASSERT_TRUE(got);
  EXPECT_GE(got->age, 29ms);
  EXPECT_LE(got->age, async::worker::now() - before + 2ms);
  EXPECT_EQ(scene.text(other, 2), "nothing");
}

TEST_F(shared_answers, keep_their_bytes) {
  answers &one = scene.start(), &other = scene.start();
  const std::string odd = std::string("\0\r\n%s{}\xff", 9) + "12 34";
  one.store(question_of(1), odd, 10min);
  EXPECT_TRUE(scene.finds(other, 1, odd));
}

TEST_F(shared_answers, are_not_given_when_they_are_too_old) {
  answers& one = scene.start();
  one.store(question_of(1), "a", 10min);
  ASSERT_TRUE(scene.finds(one, 1, "a"));
  ASSERT_FALSE(scene.until([] { return false; }, 60ms));

  EXPECT_EQ(scene.text(one, 1, 50ms), "nothing");
  EXPECT_EQ(scene.text(one, 1, 1min), "a");
}

TEST_F(shared_answers, give_way_to_newer_ones) {
  answers &one = scene.start(), &other = scene.start();
  one.store(question_of(1), "first", 10min);
  ASSERT_TRUE(scene.finds(other, 1, "first"));
  other.store(question_of(1), "second", 10min);
  EXPECT_TRUE(scene.finds(one, 1, "second"));
}

TEST_F(shared_answers, of_one_question_are_written_once_when_they_come_in_a_burst) {
  answers& one = scene.start();
  for (int i = 0; i < 5000; ++i) one.store(question_of(1), std::to_string(i), 10min);
  EXPECT_TRUE(scene.finds(one, 1, "4999"));
  EXPECT_LT(one.figures().told, 100U);
}

TEST_F(shared_answers, that_are_large_stay_at_home) {
  answers& one = scene.start();
  one.store(question_of(1), std::string(port::answers::largest + 1, 'x'), 10min);
  one.store(question_of(2), std::string(port::answers::largest, 'y'), 10min);
  one.store(question_of(3), "", 10min);
  one.store(question_of(4), "dead", 0s);
  one.store(question_of(5), "z", 10min);

  EXPECT_TRUE(scene.finds(one, 5, "z"));
  EXPECT_TRUE(scene.until([&] { return scene.text(one, 2).size() == port::answers::largest; }));
  EXPECT_EQ(one.figures().told, 2U);
  EXPECT_EQ(one.figures().dropped, 0U);
}

TEST_F(shared_answers, are_those_of_one_prefix) {
  answers& one = scene.start();
  scene.settings.prefix = "cb2";
  answers& stranger = scene.start();
  one.store(question_of(1), "a", 10min);
  ASSERT_TRUE(scene.finds(one, 1, "a"));
  EXPECT_EQ(scene.text(stranger, 1), "nothing");
}

TEST_F(shared_answers, are_looked_for_by_many_at_once) {
  answers &one = scene.start(), &other = scene.start();
  for (unsigned i = 0; i < 50; ++i) one.store(question_of(i), std::to_string(i), 10min);
  ASSERT_TRUE(scene.told(one, 50));
  scene.settings.timeout = 5s;
  unsigned right = 0, done = 0;
  std::vector<std::unique_ptr<async::interrupt>> whole;
  for (unsigned i = 0; i < 400; ++i) {
    whole.push_back(std::make_unique<async::interrupt>(scene.worker.timers));
    boost::asio::co_spawn(scene.worker.io, other.find(scene.worker, question_of(i % 50), 10min, *whole.back()),
                          [&, i](std::exception_ptr, std::optional<port::answers::found> got) {
                            ++done;
                            right += got && *got->result == std::to_string(i % 50) ? 1 : 0;
                          });
  }
  EXPECT_TRUE(scene.until([&] { return done == 400; }));
  EXPECT_EQ(right + other.figures().unanswered, 400U);
  EXPECT_GT(right, 0U);
}

TEST_F(shared_answers, are_not_asked_for_by_more_than_so_many) {
  scene.settings.timeout = 5s;
  answers& one = scene.start();
  one.store(question_of(1), "a", 10min);
  ASSERT_TRUE(scene.finds(one, 1, "a"));
  kill(server.pid(), SIGSTOP);
  EXPECT_FALSE(scene.find(one, 1)) << "and Redis is waited for from now on";
  const std::uint64_t before = one.figures().unanswered;
  std::size_t done = 0;
  async::interrupt given_up(scene.worker.timers);
  given_up.raise(async::interrupt::reason::cancelled);
  for (unsigned i = 0; i < answers::most_questions; ++i) {
    boost::asio::co_spawn(scene.worker.io, one.find(scene.worker, question_of(i), 10min, given_up),
                          [&](std::exception_ptr, const std::optional<port::answers::found>&) { ++done; });
  }
  ASSERT_TRUE(scene.until([&] { return done == answers::most_questions; }));
  EXPECT_EQ(one.figures().unanswered, before);

  EXPECT_FALSE(scene.find(one, 1));
  EXPECT_EQ(one.figures().unanswered, before + 1) << "it is not even asked";

  kill(server.pid(), SIGCONT);
  EXPECT_TRUE(scene.finds(one, 1, "a"));
}

TEST_F(shared_answers, cost_no_more_than_the_time_that_is_left) {
  answers& one = scene.start();
  ASSERT_TRUE(scene.until([&] { return scene.ask({"PING"}).text == "PONG"; }));
  one.store(question_of(1), "a", 10min);
  ASSERT_TRUE(scene.finds(one, 1, "a"));
  kill(server.pid(), SIGSTOP);

  const time_point before = async::worker::now();
  EXPECT_FALSE(scene.find(one, 1));
  EXPECT_GE(async::worker::now() - before, answers::longest_look);
  EXPECT_LT(async::worker::now() - before, 400ms);
  EXPECT_TRUE(scene.until([&] {  // now and then the machine is busy with something else
    const time_point asked = async::worker::now();
    EXPECT_FALSE(scene.find(one, 2, 10min, 2ms));
    return async::worker::now() - asked < answers::longest_look;
  }));

  kill(server.pid(), SIGCONT);
  EXPECT_TRUE(scene.finds(one, 1, "a"));
}

TEST_F(shared_answers, are_not_waited_for_by_a_call_that_was_given_up) {
  answers& one = scene.start();
  kill(server.pid(), SIGSTOP);
  async::interrupt whole(scene.worker.timers);
  whole.raise(async::interrupt::reason::cancelled);
  bool done = false;
  boost::asio::co_spawn(scene.worker.io, one.find(scene.worker, question_of(1), 10min, whole),
                        [&](std::exception_ptr, const std::optional<port::answers::found>&) { done = true; });
  scene.worker.io.restart();
  scene.worker.io.run_for(5ms);
  EXPECT_TRUE(done);
  kill(server.pid(), SIGCONT);
}

TEST_F(shared_answers, are_told_when_redis_is_back) {
  answers& one = scene.start();
  one.store(question_of(1), "a", 10min);
  ASSERT_TRUE(scene.finds(one, 1, "a"));
  kill(server.pid(), SIGSTOP);
  EXPECT_FALSE(scene.find(one, 1));
  ASSERT_FALSE(scene.until([] { return false; }, 700ms)) << "the connection is given up";
  one.store(question_of(2), "b", 10min);
  kill(server.pid(), SIGCONT);
  EXPECT_TRUE(scene.finds(one, 2, "b"));
}

TEST_F(shared_answers, are_lost_with_the_redis_and_kept_again) {
  answers& one = scene.start();
  one.store(question_of(1), "a", 10min);
  ASSERT_TRUE(scene.finds(one, 1, "a"));
  scene.ask({"FLUSHALL"});
  scene.ask({"FUNCTION", "FLUSH"});
  EXPECT_TRUE(scene.finds(one, 1, "nothing"));
  one.store(question_of(1), "b", 10min);
  EXPECT_TRUE(scene.finds(one, 1, "b"));
}

TEST_F(shared_answers, need_no_more_rights_than_breakers) {
  scene.ask({"ACL", "SETUSER", "gateway", "on", ">secret", "resetchannels", "~cb1:*", "+@read", "+@write",
             "+@connection", "+fcall", "+function|load", "+time"});
  scene.settings.user = "gateway";
  scene.settings.password = "secret";
  answers& one = scene.start();
  one.store(question_of(1), "a", 10min);
  EXPECT_TRUE(scene.finds(one, 1, "a"));
}

TEST(shared_answers_without_redis, wait_for_nothing) {
  answers_scene scene(test::free_port());
  answers& one = scene.start();
  const time_point before = async::worker::now();
  const std::string large(100'000, 'x');
  for (unsigned i = 0; i < 1000; ++i) one.store(question_of(i), large, 1min);
  EXPECT_LT(async::worker::now() - before, 1s);
  EXPECT_GT(one.figures().dropped, 900U);
  ASSERT_FALSE(scene.until([] { return false; }, 20ms));
  const time_point asked = async::worker::now();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(scene.find(one, 1));
  EXPECT_LT(async::worker::now() - asked, 500ms) << "25 ms each at the most, and less in truth";
}

}  // namespace
}  // namespace switchgear::peers::redis
