// One connection, to a real redis-server and to peers that are none.
#include "peers/redis/link.hpp"

#include "support/redis/event_loop.hpp"
#include "support/redis/fake_node.hpp"
#include "support/redis/server.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using kind = enum response::kind;
using test::run;
using test::run_until;

time_point now() {
  return std::chrono::steady_clock::now();
}

struct line {
  line() {
    tested.on_end([this] { ++ended; });
  }
  ~line() {
    tested.close();
    node.stop();
    io.restart();
    io.run_for(1s);
    EXPECT_TRUE(io.stopped());  // nothing was left running
  }

  std::string open() { return run(io, tested.open(node.where(), settings)); }
  std::vector<response> ask(std::vector<command> words, duration limit = 2s) {
    return run(io, tested.ask(std::move(words), limit));
  }

  boost::asio::io_context io;
  test::fake_node node{io};
  port::redis_settings settings;
  link tested{io};
  unsigned ended = 0;
};

TEST(link, says_who_it_is_before_anything_else) {
  line scene;
  scene.settings.user = "gateway";
  scene.settings.password = "secret";
  scene.settings.database = 3;
  ASSERT_EQ(scene.open(), "");
  EXPECT_TRUE(scene.tested.usable());
  EXPECT_EQ(scene.node.heard(), (std::vector<command>{{"AUTH", "gateway", "secret"}, {"SELECT", "3"}, {"PING"}}));
}

TEST(link, reads_the_password_again_at_each_connection) {
  line scene;
  const auto file = std::filesystem::temp_directory_path() / ("switchgear-password-" + std::to_string(getpid()));
  scene.settings.password_file = file;
  std::ofstream(file) << "one\n";
  ASSERT_EQ(scene.open(), "");
  std::ofstream(file) << "two\n";
  ASSERT_EQ(scene.open(), "");
  std::filesystem::remove(file);
  EXPECT_EQ(scene.node.heard()[0], (command{"AUTH", "one"}));
  EXPECT_EQ(scene.node.heard()[2], (command{"AUTH", "two"}));
  EXPECT_EQ(scene.open(), scene.node.place() + ": cannot read " + file.string());
}

TEST(link, names_the_file_that_tls_cannot_use) {
  line scene;
  scene.settings.tls = true;
  scene.settings.ca = "/no/such/ca.pem";
  EXPECT_NE(scene.open().find("/no/such/ca.pem"), std::string::npos);
  scene.settings.ca.clear();
  scene.settings.cert = "/no/such/cert.pem";
  EXPECT_NE(scene.open().find("/no/such/cert.pem"), std::string::npos);
}

TEST(link, tells_why_a_node_will_not_have_it) {
  line scene;
  scene.node.answer = [](const command&) { return std::string("-WRONGPASS invalid username-password pair\r\n"); };
  EXPECT_EQ(scene.open(), scene.node.place() + ": WRONGPASS invalid username-password pair");
  EXPECT_FALSE(scene.tested.usable());
}

TEST(link, tells_no_more_than_a_line_of_what_a_peer_says) {
  line scene;
  scene.node.answer = [](const command&) { return '-' + std::string(100'000, 'x') + "\r\n"; };
  EXPECT_LE(scene.open().size(), 300u);
}

TEST(link, opening_ends_when_it_is_closed) {
  line scene;
  scene.node.answer = [](const command&) { return std::string(); };
  std::optional<std::string> why;
  boost::asio::co_spawn(scene.io, scene.tested.open(scene.node.where(), scene.settings),
                        [&](std::exception_ptr, std::string said) { why = std::move(said); });
  ASSERT_TRUE(run_until(scene.io, [&] { return scene.node.times("PING") == 1; }));
  EXPECT_FALSE(scene.tested.usable());
  scene.tested.close();
  EXPECT_TRUE(run_until(scene.io, [&] { return why.has_value(); }, 500ms));
  EXPECT_NE(*why, "");
}

TEST(link, keeps_answers_and_commands_together) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  scene.node.answer = [](const command& asked) { return "$1\r\n" + asked[0] + "\r\n"; };
  const auto first = scene.tested.send({{"a"}, {"b"}});
  const auto second = scene.tested.send({{"c"}});
  const auto said = run(scene.io, scene.tested.answers(second, now() + 2s));
  EXPECT_EQ(said[0].text, "c");
  EXPECT_EQ(run(scene.io, scene.tested.answers(first, now() + 2s))[1].text, "b");
}

TEST(link, sends_small_commands_without_waiting_for_the_ones_before) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  const time_point before = now();
  for (int i = 0; i < 10; ++i) {
    const auto first = scene.tested.send({{"a"}});
    scene.ask({{"b"}});
    run(scene.io, scene.tested.answers(first, now() + 2s));
  }
  EXPECT_LT(now() - before, 300ms);  // an acknowledgement may take 40 ms each time
}

TEST(link, loses_what_is_not_answered_in_time_and_ends) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  scene.node.answer = [](const command& asked) { return asked[0] == "quick" ? ":1\r\n" : ""; };
  const time_point before = now();
  const auto said = scene.ask({{"quick"}, {"slow"}}, 30ms);
  EXPECT_LT(now() - before, 500ms);
  EXPECT_EQ(said[0].kind, kind::number);
  EXPECT_EQ(said[1].kind, kind::lost);
  EXPECT_FALSE(scene.tested.usable());
  EXPECT_TRUE(run_until(scene.io, [&] { return scene.ended == 1; }));
  EXPECT_EQ(scene.ask({{"any"}})[0].kind, kind::lost);
}

TEST(link, knows_at_once_when_a_node_hangs_up_in_an_answer) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  scene.node.answer = [&](const command&) {
    scene.node.say("$100\r\nhalf");
    return std::string(test::fake_node::hang_up);
  };
  const time_point before = now();
  EXPECT_EQ(scene.ask({{"any"}}, 4s)[0].kind, kind::lost);
  EXPECT_LT(now() - before, 1s);
  EXPECT_NE(scene.tested.ended_why(), "");
  EXPECT_TRUE(run_until(scene.io, [&] { return scene.ended == 1; }));
}

class hostile_peer : public testing::TestWithParam<std::string> {};

TEST_P(hostile_peer, ends_the_connection_and_nothing_else) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  scene.node.answer = [](const command&) { return GetParam(); };
  EXPECT_EQ(scene.ask({{"any"}})[0].kind, kind::lost);
  EXPECT_FALSE(scene.tested.usable());
  scene.node.answer = [](const command&) { return std::string("+OK\r\n"); };
  EXPECT_EQ(scene.open(), "");
}

std::string nested(unsigned depth) {
  std::string bytes;
  for (unsigned i = 0; i < depth; ++i) bytes += "*1\r\n";
  return bytes;
}
INSTANTIATE_TEST_SUITE_P(link, hostile_peer,
                         testing::Values("HTTP/1.1 400 Bad Request\r\n\r\n", "\x15\x03\x01", "*2147483647\r\n",
                                         "*-5\r\n", "%2\r\n", nested(10'000),
                                         "$999999999999\r\n" + std::string(3 << 20, 'x')));

TEST(link, ends_with_an_answer_that_nobody_asked_for) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  scene.node.say("+OK\r\n");
  EXPECT_TRUE(run_until(scene.io, [&] { return !scene.tested.usable(); }));
  EXPECT_TRUE(run_until(scene.io, [&] { return scene.ended == 1; }));
}

TEST(link, that_hears_takes_all_that_comes) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  std::vector<std::string> heard;
  scene.tested.hear([&](const response& said) { heard.push_back(said.text); });
  scene.tested.tell({"SUBSCRIBE", "x"});
  ASSERT_TRUE(run_until(scene.io, [&] { return heard.size() == 1; }));
  scene.node.say("+a\r\n+b\r\n");
  EXPECT_TRUE(run_until(scene.io, [&] { return heard.size() == 3; }));
  EXPECT_TRUE(scene.tested.usable());
}

TEST(link, may_be_closed_by_whoever_hears) {
  line scene;
  ASSERT_EQ(scene.open(), "");
  unsigned heard = 0;
  scene.tested.hear([&](const response&) {
    ++heard;
    scene.tested.close();
  });
  scene.node.say("+a\r\n+b\r\n+c\r\n");
  EXPECT_TRUE(run_until(scene.io, [&] { return scene.ended == 1; }));
  EXPECT_EQ(heard, 1u);
}

TEST(link, to_nobody_fails_with_the_place) {
  line scene;
  const auto where = scene.node.where();
  scene.node.stop();
  const std::string why = run(scene.io, scene.tested.open(where, scene.settings));
  EXPECT_TRUE(why.starts_with("127.0.0.1:" + std::to_string(where.port) + ": ")) << why;
}

TEST(link, outlives_a_frozen_server) {
  test::redis_server server(test::on_tcp);
  line scene;
  ASSERT_EQ(run(scene.io, scene.tested.open({"127.0.0.1", server.port()}, scene.settings)), "");
  EXPECT_EQ(scene.ask({{"SET", "key", "value"}, {"GET", "key"}})[1].text, "value");
  kill(server.pid(), SIGSTOP);
  for (int i = 0; i < 3; ++i) {
    const time_point before = now();
    EXPECT_EQ(scene.ask({{"GET", "key"}}, 50ms)[0].kind, kind::lost);
    EXPECT_LT(now() - before, 300ms);
  }
  kill(server.pid(), SIGCONT);
  ASSERT_EQ(run(scene.io, scene.tested.open({"127.0.0.1", server.port()}, scene.settings)), "");
  EXPECT_EQ(scene.ask({{"GET", "key"}})[0].text, "value");
}

}  // namespace
}  // namespace switchgear::peers::redis
