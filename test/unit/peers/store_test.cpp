// A Redis as a whole, with nodes of the test's own that do what no healthy one would.
#include "peers/redis/store.hpp"

#include "support/redis/event_loop.hpp"
#include "support/redis/fake_node.hpp"
#include "support/redis/server.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using kind = enum response::kind;
using layout = port::redis_settings::layout;
using test::fake_node;
using test::run;
using test::run_until;

time_point now() {
  return std::chrono::steady_clock::now();
}

std::string bulk(const std::string& text) {
  return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
std::string integer(std::uint64_t value) {
  return ':' + std::to_string(value) + "\r\n";
}

/// A store, and the nodes that it may find. All answer +OK unless told otherwise.
struct scene {
  explicit scene(layout shape, unsigned nodes = 1) {
    for (unsigned i = 0; i < nodes; ++i) node.push_back(std::make_unique<fake_node>(io));
    settings.shape = shape;
    settings.hosts = {node[0]->where()};
    settings.timeout = 100ms;
  }
  ~scene() {
    if (tested) tested->stop();
    for (auto& each : node) each->stop();
    io.restart();
    io.run_for(1s);
    EXPECT_TRUE(io.stopped());  // nothing was left running
  }

  void start() {
    tested.emplace(io, settings, 7, [this](std::string_view scope) { changed.emplace_back(scope); });
    tested->start();
  }
  [[nodiscard]] bool until(const std::function<bool()>& holds, duration limit = 5s) {
    return run_until(io, holds, limit);
  }
  [[nodiscard]] bool connected(std::initializer_list<unsigned> slots) {
    return until([&] { return std::ranges::all_of(slots, [&](unsigned slot) { return answered(slot); }); });
  }
  bool answered(unsigned slot) { return ask({{slot, {"HELLO?"}}})[0].kind == kind::text; }
  std::vector<response> ask(std::vector<routed> commands) { return run(io, tested->ask(std::move(commands))); }

  /// What CLUSTER SLOTS says when the slots from 0 on are with these nodes, in equal parts.
  std::string map_of(const std::vector<unsigned>& owners) const {
    std::string bytes = '*' + std::to_string(owners.size()) + "\r\n";
    const auto share = slot_count / owners.size();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      bytes += "*3\r\n" + integer(i * share) + integer((i + 1) * share - 1);
      bytes += "*2\r\n" + bulk("127.0.0.1") + integer(node[owners[i]]->where().port);
    }
    return bytes;
  }
  /// All nodes give this map from now on, and `other` answers the other commands of each.
  void as_cluster(std::vector<unsigned> owners) {
    map = map_of(owners);
    for (auto& each : node) {
      each->answer = [this, self = each.get()](const command& asked) {
        if (asked[0] == "CLUSTER") return map;
        const auto own = other.find(self);
        return own == other.end() ? std::string("+OK\r\n") : own->second(asked);
      };
    }
  }
  void answer(unsigned which, std::function<std::string(const command&)> said) {
    other[node[which].get()] = std::move(said);
  }

  boost::asio::io_context io;
  std::vector<std::unique_ptr<fake_node>> node;
  port::redis_settings settings;
  std::optional<store> tested;
  std::vector<std::string> changed;
  std::string map;
  std::map<fake_node*, std::function<std::string(const command&)>> other;
};

constexpr unsigned low = 1, high = 16000;  // slots of the first and the second of two nodes

// ---- one node

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
  const time_point end = now() + 1500ms;
  ASSERT_TRUE(s.until([&] { return now() > end; }));
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

TEST(single_store, hears_what_changed) {
  scene s(layout::single);
  s.node[0]->answer = [](const command& asked) {
    if (asked[0] != "PSUBSCRIBE") return std::string("+PONG\r\n");
    return "*3\r\n" + bulk("psubscribe") + bulk(asked[1]) + integer(1) + "*4\r\n" + bulk("pmessage") + bulk(asked[1]) +
           bulk("cb1:{up}:ev") + bulk("4 open up__echo");
  };
  s.start();
  ASSERT_TRUE(s.until([&] { return s.changed.size() == 1; }));
  EXPECT_EQ(s.changed[0], "up__echo");
  EXPECT_EQ(s.node[0]->times("PSUBSCRIBE"), 1u);
}

// ---- sentinel

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

// ---- cluster

TEST(cluster_store, asks_each_node_for_its_own_slots) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  EXPECT_EQ(s.tested->place_of(low), s.node[0]->place());
  EXPECT_EQ(s.tested->place_of(high), s.node[1]->place());
  s.ask({{high, {"for the second"}}});
  EXPECT_EQ(s.node[0]->times("for the second"), 0u);
  EXPECT_EQ(s.node[1]->times("for the second"), 1u);
}

TEST(cluster_store, follows_a_move_with_one_look_at_the_map) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.answer(0, [&](const command&) { return "-MOVED 1 " + s.node[1]->place() + "\r\n"; });
  s.map = s.map_of({1, 1});
  const auto looks = s.node[0]->times("CLUSTER") + s.node[1]->times("CLUSTER");
  std::vector<routed> commands;
  for (int i = 0; i < 10; ++i) commands.push_back({low, {"a", std::to_string(i)}});
  for (const response& each : s.ask(commands)) EXPECT_EQ(each.text, "OK");
  EXPECT_EQ(s.node[0]->times("a"), 10u);
  for (const response& each : s.ask(commands)) EXPECT_EQ(each.text, "OK");
  EXPECT_EQ(s.node[0]->times("a"), 10u) << "the slot's new home was known";
  ASSERT_TRUE(s.until([&] { return s.node[0]->times("CLUSTER") + s.node[1]->times("CLUSTER") == looks + 1; }));
  EXPECT_EQ(s.tested->place_of(low), s.node[1]->place());
}

TEST(cluster_store, believes_the_new_owner_of_a_slot_before_those_who_have_not_heard_yet) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  // Without a word from anybody, the one with the lesser name is asked first.
  const unsigned stale = s.node[0]->place() < s.node[1]->place() ? 0 : 1, owner = 1 - stale;
  const unsigned slot = stale == 0 ? low : high;
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.answer(stale,
           [&](const command&) { return "-MOVED " + std::to_string(slot) + ' ' + s.node[owner]->place() + "\r\n"; });
  s.node[owner]->answer = [&](const command& asked) { return asked[0] == "CLUSTER" ? s.map_of({owner}) : "+OK\r\n"; };

  EXPECT_EQ(s.ask({{slot, {"a"}}})[0].text, "OK");
  ASSERT_TRUE(s.until([&] { return s.node[owner]->times("CLUSTER") > 0; })) << "the stale map was believed";
  EXPECT_EQ(s.ask({{slot, {"a"}}})[0].text, "OK");
  EXPECT_EQ(s.node[stale]->times("a"), 1u);
}

TEST(cluster_store, asks_the_other_node_while_a_slot_moves) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.answer(0, [&](const command&) { return "-ASK 1 " + s.node[1]->place() + "\r\n"; });
  s.answer(1, [](const command& asked) { return asked[0] == "a" ? "+done\r\n" : "+OK\r\n"; });
  EXPECT_EQ(s.ask({{low, {"a"}}})[0].text, "done");
  const auto& heard = s.node[1]->heard();
  const auto asking = std::ranges::find(heard, command{"ASKING"});
  ASSERT_NE(asking, heard.end());
  EXPECT_EQ(*(asking + 1), command{"a"});
  EXPECT_EQ(s.tested->place_of(low), s.node[0]->place());
}

TEST(cluster_store, does_not_go_round_in_circles) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.answer(0, [&](const command&) { return "-MOVED 1 " + s.node[1]->place() + "\r\n"; });
  s.answer(1, [&](const command&) { return "-MOVED 1 " + s.node[0]->place() + "\r\n"; });
  EXPECT_EQ(s.ask({{low, {"a"}}})[0].kind, kind::error);
  EXPECT_LE(s.node[0]->times("a") + s.node[1]->times("a"), 5u);
}

TEST(cluster_store, gets_the_others_answers_when_one_node_is_silent) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.answer(0, [](const command&) { return std::string(); });
  const time_point before = now();
  auto said = s.ask({{low, {"a"}}, {high, {"b"}}, {low, {"c"}}});
  EXPECT_LT(now() - before, s.settings.timeout + 200ms);
  EXPECT_EQ(said[0].kind, kind::lost);
  EXPECT_EQ(said[1].text, "OK");
  EXPECT_EQ(said[2].kind, kind::lost);
  EXPECT_EQ(s.tested->trouble(low), s.node[0]->place() + ": no answer within the timeout");
  EXPECT_NE(s.tested->trouble(high), s.tested->trouble(low));
  // It is being reached again, and silent again; nobody waits for that.
  for (int i = 0; i < 5; ++i) {
    const time_point again = now();
    said = s.ask({{low, {"a"}}, {high, {"b"}}});
    EXPECT_LT(now() - again, s.settings.timeout);
    EXPECT_EQ(said[1].text, "OK");
  }
}

TEST(cluster_store, uses_a_new_map_though_one_of_its_nodes_is_dead) {
  scene s(layout::cluster, 3);
  s.as_cluster({0, 2});  // node 2 accepts, and says nothing for as long as a connection may take
  s.answer(2, [](const command&) { return std::string(); });
  s.start();
  ASSERT_TRUE(s.connected({low}));
  EXPECT_EQ(s.ask({{high, {"a"}}})[0].kind, kind::lost);
  s.map = s.map_of({0, 1});
  EXPECT_TRUE(s.until([&] { return s.answered(high); }, 1900ms)) << "the map was not looked at meanwhile";
  EXPECT_EQ(s.tested->place_of(high), s.node[1]->place());
}

TEST(cluster_store, finds_another_node_when_those_of_the_settings_are_gone) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.map = s.map_of({1, 1});
  s.node[0]->stop();
  EXPECT_TRUE(s.connected({low}));
}

TEST(cluster_store, looks_at_the_map_when_the_cluster_is_down) {
  scene s(layout::cluster, 2);
  s.as_cluster({0, 1});
  s.start();
  ASSERT_TRUE(s.connected({low, high}));
  s.answer(0, [](const command&) { return std::string("-CLUSTERDOWN The cluster is down\r\n"); });
  s.map = s.map_of({1, 1});
  s.ask({{low, {"a"}}, {low, {"b"}}});
  EXPECT_TRUE(s.until([&] { return s.tested->place_of(low) == s.node[1]->place(); }));
  EXPECT_EQ(s.node[0]->times("CLUSTER") + s.node[1]->times("CLUSTER"), 2u);
}

/// Nodes that know of subscriptions.
struct calling : scene {
  calling() : scene(layout::cluster, 2) {
    as_cluster({0, 1});
    for (unsigned i = 0; i < 2; ++i) {
      answer(i, [this, i](const command& asked) {
        if (asked[0] != "SSUBSCRIBE") return std::string("+OK\r\n");
        if (i != home) return "-MOVED " + std::to_string(slot_of(asked[1])) + ' ' + node[home]->place() + "\r\n";
        return "*3\r\n" + bulk("ssubscribe") + bulk(asked[1]) + integer(1) + "*3\r\n" + bulk("smessage") +
               bulk(asked[1]) + bulk("4 open up__echo");
      });
    }
    start();
    tested->follow("up__echo");
    home = slot_of(channel) < slot_count / 2 ? 0 : 1;
  }
  const std::string channel = address("cb1", "up__echo").channel;
  unsigned home = 0;
};

TEST(cluster_news, are_heard_from_the_node_that_has_the_channel) {
  calling s;
  ASSERT_TRUE(s.until([&] { return s.node[s.home]->times("SSUBSCRIBE") == 1; }));
  EXPECT_TRUE(s.until([&] { return s.changed == std::vector<std::string>{"up__echo"}; }));
  EXPECT_EQ(s.node[1 - s.home]->times("SSUBSCRIBE"), 0u);
}

TEST(cluster_news, follow_their_channel_to_another_node) {
  calling s;
  const unsigned before = s.home, after = 1 - s.home;
  ASSERT_TRUE(s.until([&] { return s.node[before]->times("SSUBSCRIBE") == 1; }));
  s.home = after;
  s.map = s.map_of({after, after});
  const std::string gone = "*3\r\n" + bulk("sunsubscribe") + bulk(s.channel) + integer(0);
  s.answer(before, [&](const command& asked) { return asked.size() == 1 && asked[0] == "PING" ? gone : "+OK\r\n"; });
  ASSERT_TRUE(s.until([&] { return s.node[after]->times("SSUBSCRIBE") >= 1; }));
  EXPECT_TRUE(s.until([&] { return s.changed.size() >= 2; }));
}

TEST(cluster_news, do_not_ask_a_node_without_end_that_leads_elsewhere) {
  calling s;
  const unsigned asked = s.home;
  s.home = 1 - asked;  // says MOVED; but the map stays as it is
  const time_point end = now() + 1500ms;
  ASSERT_TRUE(s.until([&] { return now() > end; }));
  EXPECT_GE(s.node[asked]->times("SSUBSCRIBE"), 1u);
  EXPECT_LE(s.node[asked]->times("SSUBSCRIBE"), 3u);
}

TEST(cluster_news, are_asked_for_again_when_the_map_was_old) {
  calling s;
  s.home = 1 - s.home;  // before anybody has subscribed
  ASSERT_TRUE(s.until([&] { return s.node[1 - s.home]->times("SSUBSCRIBE") >= 1; }));
  s.map = s.map_of({s.home, s.home});
  EXPECT_TRUE(s.until([&] { return s.node[s.home]->times("SSUBSCRIBE") >= 1; }));
}

// ---- a real one

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
    const time_point before = now();
    EXPECT_EQ(s.ask({{0, {"PING"}}})[0].kind, kind::lost);
    EXPECT_LT(now() - before, 250ms);
  }
  kill(server.pid(), SIGCONT);
  ASSERT_TRUE(s.until([&] { return s.tested->usable(); }));
  EXPECT_EQ(s.ask({{0, {"PING"}}})[0].text, "PONG");
}

}  // namespace
}  // namespace switchgear::peers::redis
