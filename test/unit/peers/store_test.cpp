// A Redis of one node, or one that sentinels watch.
#include "async/worker.hpp"
#include "support/redis/server.hpp"
#include "unit/peers/store_scene.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace switchgear::peers::redis {
namespace {

TEST(single_store, connects_in_the_background) {
  scene s(layout::single);
  s.start();
  EXPECT_FALSE(s.tested->usable());
  EXPECT_EQ(s.ask({{0, {"GET", "x"}}})[0].kind, kind::lost);
  ASSERT_TRUE(s.connected({0}));
  EXPECT_EQ(s.tested->place_of(9), s.node[0]->place());
}

TEST(single_store, says_why_there_is_no_connection) {
  scene s(layout::single);
  s.node[0]->answer = [](const command&) { return std::string("-NOPERM not you\r\n"); };
  s.start();
  ASSERT_TRUE(s.until([&] { return s.tested->trouble() == s.node[0]->place() + ": NOPERM not you"; }));
  EXPECT_EQ(s.tested->trouble(5), s.tested->trouble());
  EXPECT_FALSE(s.tested->usable());
}

TEST(single_store, comes_back_after_a_hang_up) {
  scene s(layout::single);
  s.start();
  ASSERT_TRUE(s.connected({0}));
  s.node[0]->hang_up_on_all();
  ASSERT_TRUE(s.until([&] { return !s.tested->usable(); }));
  EXPECT_TRUE(s.connected({0}));
}

TEST(single_store, leaves_a_node_that_only_hangs_up_alone_for_longer_and_longer) {
  scene s(layout::single);
  s.node[0]->answer = [](const command&) { return std::string(fake_node::hang_up); };
  s.start();
  const time_point end = async::worker::now() + 1500ms;
  ASSERT_TRUE(s.until([&] { return async::worker::now() > end; }));
  EXPECT_GE(s.node[0]->connections(), 4u);  // two at a time: commands and news
  EXPECT_LE(s.node[0]->connections(), 14u);
}

TEST(single_store, loads_a_missing_library_once_and_asks_again) {
  scene s(layout::single);
  s.start();
  ASSERT_TRUE(s.connected({0}));
  bool loaded = false;
  s.node[0]->answer = [&](const command& asked) {
    if (asked[0] == "FUNCTION") loaded = true;
    return asked[0] == "FCALL" && !loaded ? "-ERR Function not found\r\n" : "+OK\r\n";
  };
  const auto said = s.ask({{0, {"FCALL", "a"}}, {0, {"FCALL", "b"}}, {0, {"FCALL", "c"}}});
  for (const response& each : said) EXPECT_EQ(each.text, "OK");
  EXPECT_EQ(s.node[0]->times("FUNCTION"), 1u);
  EXPECT_EQ(s.node[0]->times("FCALL"), 6u);
}

TEST(single_store, tells_why_the_library_cannot_be_loaded) {
  scene s(layout::single);
  s.start();
  ASSERT_TRUE(s.connected({0}));
  s.node[0]->answer = [](const command& asked) {
    return asked[0] == "FUNCTION" ? "-NOPERM no functions for you\r\n" : "-ERR Function not found\r\n";
  };
  EXPECT_EQ(s.ask({{0, {"FCALL", "a"}}})[0].text, "NOPERM no functions for you");
  EXPECT_EQ(s.tested->trouble(), "NOPERM no functions for you");
}

TEST(single_store, does_not_load_again_and_again_over_somebody_else_s_library) {
  scene s(layout::single);
  s.start();
  ASSERT_TRUE(s.connected({0}));
  s.node[0]->answer = [](const command& asked) {
    return asked[0] == "FUNCTION" ? "-ERR Library 'switchgear_v1' already exists\r\n" : "-ERR Function not found\r\n";
  };
  EXPECT_EQ(s.ask({{0, {"FCALL", "a"}}})[0].text, "ERR Function not found");
  EXPECT_EQ(s.node[0]->times("FUNCTION"), 1u);
}

class parting_error : public testing::TestWithParam<std::string> {};

TEST_P(parting_error, costs_one_new_connection_however_many_commands_it_met) {
  scene s(layout::single);
  s.start();
  ASSERT_TRUE(s.connected({0}));
  s.node[0]->answer = [](const command&) { return '-' + GetParam() + "\r\n"; };
  const unsigned connections = s.node[0]->connections();
  for (const response& each : s.ask({{0, {"a"}}, {0, {"b"}}, {0, {"c"}}})) EXPECT_EQ(each.text, GetParam());
  EXPECT_FALSE(s.tested->usable());
  EXPECT_EQ(s.tested->trouble(), GetParam());
  s.node[0]->answer = [](const command&) { return std::string("+OK\r\n"); };
  ASSERT_TRUE(s.connected({0}));
  EXPECT_LE(s.node[0]->connections(), connections + 2);  // for commands; and for news, if they met the error, too
}
INSTANTIATE_TEST_SUITE_P(store, parting_error,
                         testing::Values("READONLY You can't write against a read only replica.",
                                         "MASTERDOWN Link with MASTER is down", "NOAUTH Authentication required."));

class passing_error : public testing::TestWithParam<std::string> {};

TEST_P(passing_error, is_the_answer_and_costs_no_connection) {
  scene s(layout::single);
  s.start();
  ASSERT_TRUE(s.connected({0}));
  s.node[0]->answer = [](const command&) { return '-' + GetParam() + "\r\n"; };
  const auto heard = s.node[0]->heard().size();
  EXPECT_EQ(s.ask({{0, {"a"}}})[0].text, GetParam());
  EXPECT_EQ(s.node[0]->heard().size(), heard + 1);
  EXPECT_TRUE(s.tested->usable());
  EXPECT_EQ(s.tested->trouble(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(store, passing_error,
                         testing::Values("LOADING Redis is loading the dataset in memory",
                                         "BUSY Redis is busy running a script.", "OOM command not allowed",
                                         "MISCONF Errors writing to the AOF file", "TRYAGAIN Multiple keys request",
                                         "NOREPLICAS Not enough good replicas to write."));

TEST(single_store, hears_what_is_called_out) {
  scene s(layout::single);
  s.node[0]->answer = [](const command& asked) {
    if (asked[0] != "PSUBSCRIBE") return std::string("+PONG\r\n");
    return "*3\r\n" + bulk("psubscribe") + bulk(asked[1]) + integer(1) + "*4\r\n" + bulk("pmessage") + bulk(asked[1]) +
           bulk("cb1:{up}:ev") + bulk("4 open up__echo");
  };
  s.start();
  ASSERT_TRUE(s.until([&] { return s.called.size() == 1; }));
  EXPECT_EQ(s.called[0], "4 open up__echo");
  EXPECT_EQ(s.node[0]->times("PSUBSCRIBE"), 1u);
}

/// Node 0 is the sentinel; the others are Redis.
struct watched : scene {
  explicit watched(unsigned nodes) : scene(layout::sentinel, nodes) {
    settings.master = "board";
    node[0]->answer = [this](const command& asked) {
      if (asked[0] != "SENTINEL") return std::string("+PONG\r\n");
      return "*2\r\n" + bulk("127.0.0.1") + bulk(std::to_string(node[primary]->where().port));
    };
    for (unsigned i = 1; i < nodes; ++i) {
      node[i]->answer = [this, i](const command& asked) {
        if (asked[0] != "ROLE") return std::string(i == primary ? "+OK\r\n" : "-READONLY no\r\n");
        return i == primary ? "*1\r\n" + bulk("master") : "*1\r\n" + bulk("slave");
      };
    }
    start();
  }
  unsigned primary = 1;
};

TEST(watched_store, finds_the_primary_and_finds_it_again_when_it_has_moved) {
  watched s(3);
  ASSERT_TRUE(s.connected({0}));
  EXPECT_EQ(s.tested->place_of(0), s.node[1]->place());
  s.primary = 2;
  EXPECT_EQ(s.ask({{0, {"a"}}})[0].text, "READONLY no");
  ASSERT_TRUE(s.connected({0}));
  EXPECT_EQ(s.tested->place_of(0), s.node[2]->place());
}

TEST(watched_store, does_not_take_a_replica_for_the_primary) {
  watched s(2);
  s.node[1]->answer = [](const command& asked) { return asked[0] == "ROLE" ? "*1\r\n" + bulk("slave") : "+OK\r\n"; };
  ASSERT_TRUE(s.until([&] { return s.node[1]->times("ROLE") >= 2; }));
  EXPECT_FALSE(s.answered(0));
}

TEST(watched_store, asks_the_next_sentinel_when_one_knows_nothing) {
  scene s(layout::sentinel, 3);
  s.settings.master = "board";
  s.settings.hosts = {s.node[0]->where(), s.node[1]->where()};
  s.node[0]->answer = [](const command& asked) { return asked[0] == "SENTINEL" ? "*-1\r\n" : "+PONG\r\n"; };
  s.node[1]->answer = [&](const command& asked) {
    return asked[0] == "SENTINEL" ? "*2\r\n" + bulk("127.0.0.1") + bulk(std::to_string(s.node[2]->where().port))
                                  : "+PONG\r\n";
  };
  s.node[2]->answer = [](const command& asked) { return asked[0] == "ROLE" ? "*1\r\n" + bulk("master") : "+OK\r\n"; };
  s.start();
  EXPECT_TRUE(s.connected({0}));
}

TEST(real_store, furnishes_an_empty_server) {
  test::redis_server server(test::on_tcp);
  scene s(layout::single);
  s.settings.hosts = {{"127.0.0.1", server.port()}};
  s.settings.timeout = 500ms;
  s.start();
  ASSERT_TRUE(s.until([&] { return s.tested->usable(); }));
  const auto said = s.ask({{0, {"FCALL", std::string(library_name) + "_none", "0"}}, {0, {"FUNCTION", "LIST"}}});
  EXPECT_EQ(said[0].text, "ERR Function not found");
  EXPECT_EQ(s.ask({{0, {"FUNCTION", "LIST"}}})[0].items.size(), 1u);
}

TEST(real_store, is_there_again_when_a_frozen_server_thaws) {
  test::redis_server server(test::on_tcp);
  scene s(layout::single);
  s.settings.hosts = {{"127.0.0.1", server.port()}};
  s.settings.timeout = 50ms;
  s.start();
  ASSERT_TRUE(s.until([&] { return s.tested->usable(); }));
  kill(server.pid(), SIGSTOP);
  for (int i = 0; i < 5; ++i) {
    const time_point before = async::worker::now();
    EXPECT_EQ(s.ask({{0, {"PING"}}})[0].kind, kind::lost);
    EXPECT_LT(async::worker::now() - before, 250ms);
  }
  kill(server.pid(), SIGCONT);
  ASSERT_TRUE(s.until([&] { return s.tested->usable(); }));
  EXPECT_EQ(s.ask({{0, {"PING"}}})[0].text, "PONG");
}

}  // namespace
}  // namespace switchgear::peers::redis
