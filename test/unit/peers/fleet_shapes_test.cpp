// A fleet on what is not one healthy Redis: sentinels, a cluster, a user with few rights, peers that are none.
#include "unit/peers/fleet_scene.hpp"

#include <csignal>
#include <thread>

namespace switchgear::peers::redis {
namespace {

using layout = port::redis_settings::layout;
using list = std::vector<std::string>;

TEST(fleet_with_sentinels, moves_to_another_primary_with_its_key) {
  std::optional<test::redis_server> first(std::in_place, test::on_tcp);
  test::redis_server second(test::on_tcp);
  std::uint16_t primary = first->port();
  fleet_scene scene(primary);
  scene.fake.emplace(scene.worker.io).answer = [&](const command& asked) {
    if (asked[0] != "SENTINEL") return std::string("+PONG\r\n");
    const std::string port = std::to_string(primary);
    return "*2\r\n$9\r\n127.0.0.1\r\n$" + std::to_string(port.size()) + "\r\n" + port + "\r\n";
  };
  scene.settings.shape = layout::sentinel;
  scene.settings.master = "board";
  scene.settings.hosts = {scene.fake->where()};
  replica &one = scene.join(), &other = scene.join();
  ASSERT_EQ(one.keys, other.keys);

  primary = second.port();
  scene.at.port = primary;
  scene.console.close();
  first.reset();
  EXPECT_TRUE(scene.until([&] { return scene.ask({"GET", "cb1:{fleet}:key"}).text == one.keys[0]; }));
  EXPECT_TRUE(scene.until([&] { return scene.subscribers() == 2; }));
  one.tested.keep("s", 1min);
  one.tested.tell("from the new one");
  EXPECT_TRUE(scene.sees(other, "s", presence::alive));
  EXPECT_TRUE(scene.until([&] { return other.told == list{"from the new one"}; }));
  EXPECT_EQ(other.keys.size(), 1u);
}

/// Two nodes with half of the slots each.
struct fleet_on_a_cluster : testing::Test {
  void SetUp() override {
    scene.settings.shape = layout::cluster;
    link other(scene.worker.io);
    ASSERT_EQ(test::run(scene.worker.io, other.open({"127.0.0.1", second.port()}, scene.settings)), "");
    scene.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "8191"});
    test::run(scene.worker.io, other.ask({{"CLUSTER", "ADDSLOTSRANGE", "8192", "16383"}}, 2s));
    scene.ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(second.port()), second_bus});
    const auto whole = [](const response& said) { return said.text.find("cluster_state:ok") != std::string::npos; };
    ASSERT_TRUE(scene.until(
        [&] {
          return whole(scene.ask({"CLUSTER", "INFO"})) &&
                 whole(test::run(scene.worker.io, other.ask({{"CLUSTER", "INFO"}}, 2s)).at(0));
        },
        20s));
    other.close();
  }
  /// One whose key is in one of these slots.
  static std::string session_in(unsigned least, unsigned most) {
    for (int i = 0;; ++i) {
      const std::string id = std::to_string(i);
      if (const unsigned slot = slot_of(session_key("cb1", id)); slot >= least && slot <= most) return id;
    }
  }

  const std::string first_bus = std::to_string(test::free_port()), second_bus = std::to_string(test::free_port());
  test::redis_server first{{"--cluster-enabled", "yes", "--cluster-port", first_bus}, test::free_port()};
  test::redis_server second{{"--cluster-enabled", "yes", "--cluster-port", second_bus}, test::free_port()};
  fleet_scene scene{first.port()};
};

TEST_F(fleet_on_a_cluster, shares_all_that_its_nodes_have) {
  replica &one = scene.start(), &other = scene.start();
  ASSERT_TRUE(scene.until([&] { return !one.keys.empty() && !other.keys.empty(); }));
  EXPECT_EQ(one.keys, other.keys);
  // Which of the nodes has the channel, and whether somebody listens there, is not to be seen: it is said until heard.
  EXPECT_TRUE(scene.until([&] {
    one.tested.tell("hello");
    return !other.told.empty();
  }));
  EXPECT_TRUE(one.told.empty());

  const std::string low = session_in(0, 8191), high = session_in(8192, 16383);
  one.tested.keep(low, 1min);
  one.tested.keep(high, 1min);
  EXPECT_TRUE(scene.sees(other, low, presence::alive));
  EXPECT_TRUE(scene.sees(other, high, presence::alive));

  const bool first_has_key = slot_of("{fleet}") <= 8191;
  const std::string there = first_has_key ? low : high, away = first_has_key ? high : low;
  kill(first_has_key ? second.pid() : first.pid(), SIGSTOP);
  EXPECT_TRUE(scene.sees(other, away, presence::not_known));
  EXPECT_TRUE(scene.sees(other, there, presence::alive));
  one.tested.forget(away);
  one.tested.forget(there);
  EXPECT_TRUE(scene.sees(other, there, presence::gone));
  kill(first_has_key ? second.pid() : first.pid(), SIGCONT);
  EXPECT_TRUE(scene.sees(other, away, presence::gone)) << "it was said again";
}

TEST(fleet_with_few_rights, needs_those_that_are_documented) {
  test::redis_server server(test::on_tcp);
  fleet_scene scene(server.port());
  scene.ask({"ACL", "SETUSER", "gateway", "on", ">secret", "resetchannels", "~cb1:*", "&cb1:{*}:ev", "&cb1:{fleet}:m",
             "+@read", "+@write", "+@connection", "+@pubsub", "+fcall", "+function|load", "+time"});
  scene.settings.user = "gateway";
  scene.settings.password = "secret";
  replica &one = scene.start(), &other = scene.start();
  ASSERT_TRUE(scene.until([&] {
    one.tested.tell("hello");
    return !other.told.empty();
  }));
  one.tested.keep("s", 1min);
  EXPECT_TRUE(scene.sees(other, "s", presence::alive));
  one.tested.forget("s");
  EXPECT_TRUE(scene.sees(other, "s", presence::gone));
  EXPECT_EQ(one.keys, other.keys);

  // A pattern is allowed by its own letters only, so that the board's news need a word of their own.
  link news(scene.worker.io);
  ASSERT_EQ(test::run(scene.worker.io, news.open(scene.at, scene.settings)), "");
  EXPECT_EQ(test::run(scene.worker.io, news.ask({{"PSUBSCRIBE", "cb1:{*}:ev"}}, 2s)).at(0).kind, response::kind::list);
  news.close();
}

class fleet_among_strangers : public testing::TestWithParam<std::string> {};

TEST_P(fleet_among_strangers, knows_nothing_and_goes_on) {
  fleet_scene scene(0);
  test::fake_node& node = scene.fake.emplace(scene.worker.io);
  node.answer = [](const command& asked) { return asked[0] == "PING" ? std::string("+PONG\r\n") : GetParam(); };
  scene.settings.hosts = {node.where()};
  scene.settings.timeout = 50ms;
  replica& one = scene.start();
  ASSERT_TRUE(scene.until([&] { return node.times("GET") > 0; }));
  one.tested.keep("s", 1min);
  one.tested.tell("hello");
  one.tested.forget("other");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scene.look(one, "s"), presence::not_known);
  const time_point end = async::worker::now() + 100ms;
  ASSERT_TRUE(scene.until([&] { return async::worker::now() > end; }));
  EXPECT_LT(node.heard().size(), 100u) << "nobody is asked without end";
  EXPECT_TRUE(one.keys.empty());
  EXPECT_TRUE(one.told.empty());
}
INSTANTIATE_TEST_SUITE_P(answer, fleet_among_strangers,
                         testing::Values("+what\r\n", ":-1\r\n", "$0\r\n\r\n", "*-1\r\n", "-ERR unknown command\r\n",
                                         "*1\r\n*1\r\n:1\r\n", "-MOVED 1 127.0.0.1:1\r\n", "-READONLY no\r\n",
                                         "HTTP/1.1 400 Bad Request\r\n\r\n", "", "hang up",
                                         "$40\r\n0123456789012345678901234567890123456789\r\n"));

}  // namespace
}  // namespace switchgear::peers::redis
