// A cluster: which node is asked, and what is heard of it.
#include "async/worker.hpp"
#include "unit/peers/store_scene.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers::redis {
namespace {

constexpr unsigned low = 1, high = 16000;  // slots of the first and the second of two nodes

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
  const time_point before = async::worker::now();
  auto said = s.ask({{low, {"a"}}, {high, {"b"}}, {low, {"c"}}});
  EXPECT_LT(async::worker::now() - before, s.settings.timeout + 200ms);
  EXPECT_EQ(said[0].kind, kind::lost);
  EXPECT_EQ(said[1].text, "OK");
  EXPECT_EQ(said[2].kind, kind::lost);
  EXPECT_EQ(s.tested->trouble(low), s.node[0]->place() + ": no answer within the timeout");
  EXPECT_NE(s.tested->trouble(high), s.tested->trouble(low));
  // It is being reached again, and silent again; nobody waits for that.
  for (int i = 0; i < 5; ++i) {
    const time_point again = async::worker::now();
    said = s.ask({{low, {"a"}}, {high, {"b"}}});
    EXPECT_LT(async::worker::now() - again, s.settings.timeout);
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
    tested->follow(channel);
    home = slot_of(channel) < slot_count / 2 ? 0 : 1;
  }
  const std::string channel = address("cb1", "up__echo").channel;
  unsigned home = 0;
};

TEST(cluster_news, are_heard_from_the_node_that_has_the_channel) {
  calling s;
  ASSERT_TRUE(s.until([&] { return s.node[s.home]->times("SSUBSCRIBE") == 1; }));
  EXPECT_TRUE(s.until([&] { return s.called == std::vector<std::string>{"4 open up__echo"}; }));
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
  EXPECT_TRUE(s.until([&] { return s.called.size() >= 2; }));
}

TEST(cluster_news, do_not_ask_a_node_without_end_that_leads_elsewhere) {
  calling s;
  const unsigned asked = s.home;
  s.home = 1 - asked;  // says MOVED; but the map stays as it is
  const time_point end = async::worker::now() + 1500ms;
  ASSERT_TRUE(s.until([&] { return async::worker::now() > end; }));
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

}  // namespace
}  // namespace switchgear::peers::redis
