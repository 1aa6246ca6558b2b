// Tools to be left alone, as replicas tell each other through real servers.
#include "unit/peers/fleet_scene.hpp"

#include <atomic>
#include <csignal>
#include <thread>

namespace switchgear::peers::redis {
namespace {

struct fleet_pauses : testing::Test {
  test::redis_server server{test::on_tcp};
  fleet_scene scene{server.port()};

  bool heard(const replica& by, const std::string& name, duration least, duration most) {
    return scene.until([&] {
      return std::ranges::any_of(by.paused, [&](const auto& each) {
        return each.first == name && each.second > least && each.second <= most;
      });
    });
  }
};

TEST_F(fleet_pauses, are_heard_by_the_others_at_once) {
  replica &one = scene.join(), &other = scene.join(), &third = scene.join();
  const time_point before = async::worker::now();
  one.tested.pauses().tell("a__t", 10s);
  EXPECT_TRUE(heard(other, "a__t", 9s, 10s));
  EXPECT_TRUE(heard(third, "a__t", 9s, 10s));
  EXPECT_LT(async::worker::now() - before, 900ms) << "not only when they look by themselves";
}

TEST_F(fleet_pauses, are_learned_of_by_a_replica_that_comes_later) {
  replica& one = scene.join();
  one.tested.pauses().tell("a__t", 10s);
  one.tested.pauses().tell("b__t", 10ms);
  ASSERT_TRUE(scene.until([&] { return one.tested.figures().pauses.written >= 1; }));
  ASSERT_FALSE(scene.until([] { return false; }, 30ms));
  replica& late = scene.join();
  EXPECT_TRUE(heard(late, "a__t", 5s, 10s));
  for (const auto& each : late.paused) EXPECT_EQ(each.first, "a__t") << each.second / 1us << " us left";
}

TEST_F(fleet_pauses, are_heard_once) {
  replica &one = scene.join(), &other = scene.join();
  one.tested.pauses().tell("a__t", 1min);
  ASSERT_TRUE(heard(other, "a__t", 50s, 1min));
  one.tested.pauses().tell("b__t", 1min);
  ASSERT_TRUE(heard(other, "b__t", 50s, 1min));
  EXPECT_EQ(other.paused.size(), 2u);
}

TEST_F(fleet_pauses, are_heard_of_though_the_news_of_them_is_lost) {
  replica &one = scene.join(), &other = scene.join();
  scene.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  one.tested.pauses().tell("a__t", 10s);
  EXPECT_TRUE(heard(other, "a__t", 7s, 10s));
}

TEST_F(fleet_pauses, leave_one_key_that_goes_by_itself) {
  replica& one = scene.join();
  for (int i = 0; i < 500; ++i) one.tested.pauses().tell("t" + std::to_string(i), 1min);
  ASSERT_TRUE(scene.until([&] { return one.tested.figures().pauses.written == 500; }));
  const response keys = scene.ask({"KEYS", "*pause*"});
  ASSERT_EQ(keys.items.size(), 1u);
  EXPECT_EQ(keys.items[0].text, "cb1:{fleet}:pauses");
  const std::int64_t lives = scene.ask({"PTTL", "cb1:{fleet}:pauses"}).number;
  EXPECT_GT(lives, 290'000);
  EXPECT_LE(lives, 300'000);
}

TEST_F(fleet_pauses, are_told_by_few_words_when_there_are_many_at_once) {
  replica &one = scene.join(), &other = scene.join();
  std::jthread teller([&] {
    for (int i = 0; i < 5000; ++i) one.tested.pauses().tell("a__t", 10s + i * 1ms);
  });
  EXPECT_TRUE(heard(other, "a__t", 14s, 15s));
  teller.join();
  EXPECT_LT(scene.ask({"XLEN", "cb1:{fleet}:pauses"}).number, 100);
}

TEST_F(fleet_pauses, are_those_of_one_prefix) {
  replica& one = scene.join();
  scene.settings.prefix = "cb2";
  replica& stranger = scene.join();
  one.tested.pauses().tell("a__t", 10s);
  stranger.tested.pauses().tell("b__t", 10s);
  ASSERT_TRUE(heard(stranger, "b__t", 5s, 10s));
  EXPECT_EQ(stranger.paused.size(), 1u);
}

TEST_F(fleet_pauses, are_written_when_redis_is_back) {
  replica &one = scene.join(), &other = scene.join();
  kill(server.pid(), SIGSTOP);
  one.tested.pauses().tell("a__t", 20s);
  EXPECT_FALSE(scene.until([&] { return !other.paused.empty(); }, 1s));
  kill(server.pid(), SIGCONT);
  EXPECT_TRUE(heard(other, "a__t", 10s, 20s));
}

TEST_F(fleet_pauses, leave_alone_what_is_somebody_elses) {
  scene.ask({"SET", "cb1:{fleet}:pauses", "not ours"});
  replica &one = scene.join(), &other = scene.join();
  one.tested.pauses().tell("a__t", 20s);
  EXPECT_FALSE(scene.until([&] { return !other.paused.empty(); }, 500ms));
  EXPECT_EQ(scene.ask({"GET", "cb1:{fleet}:pauses"}).text, "not ours");
  scene.ask({"DEL", "cb1:{fleet}:pauses"});
  EXPECT_TRUE(heard(other, "a__t", 10s, 20s));
}

TEST(fleet_pauses_without_redis, wait_for_nothing) {
  fleet_scene scene(test::free_port());
  replica& one = scene.start();
  const time_point before = async::worker::now();
  for (int i = 0; i < 10'000; ++i) one.tested.pauses().tell(std::to_string(i), 1min);
  one.tested.pauses().tell(std::string(port::pauses::longest_name + 1, 'x'), 1min);
  EXPECT_LT(async::worker::now() - before, 1s);
  EXPECT_EQ(one.tested.figures().pauses.dropped, 10'000u - pause_log::most_waiting);
}

}  // namespace
}  // namespace switchgear::peers::redis
