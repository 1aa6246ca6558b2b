// What replicas know of each other's clients, on real servers.
#include "unit/peers/fleet_scene.hpp"

#include <atomic>
#include <csignal>
#include <thread>

namespace switchgear::peers::redis {
namespace {

using namespace std::string_literals;
using list = std::vector<std::string>;

struct on_one_server : testing::Test {
  test::redis_server server{test::on_tcp};
  async::worker data{1};  // outlives who answers to it
  fleet_scene scene{server.port()};
};
using fleet_messages = on_one_server;
using fleet_key = on_one_server;
using fleet_sessions = on_one_server;
using fleet_in_trouble = on_one_server;

TEST_F(fleet_messages, are_heard_by_the_others_and_not_by_who_told_them) {
  replica &one = scene.join(), &other = scene.join(), &third = scene.join();
  const std::string bytes = "\0 any\r\n$bytes\xff"s;
  one.tested.tell("first");
  one.tested.tell(bytes);
  other.tested.tell("answer");
  ASSERT_TRUE(scene.until([&] { return third.told.size() == 3 && other.told.size() == 2 && one.told.size() == 1; }));
  EXPECT_EQ(one.told, list{"answer"});
  EXPECT_EQ(other.told, (list{"first", bytes}));
  EXPECT_TRUE(scene.until([&] { return one.tested.figures().mails.sent == 2; }));
  EXPECT_EQ(third.tested.figures().mails.heard, 3u);
}

TEST_F(fleet_messages, may_be_long_but_not_longer) {
  replica &one = scene.join(), &other = scene.join();
  const std::string longest(mail::longest, 'x');
  one.tested.tell(longest + "x");
  one.tested.tell(longest);
  one.tested.tell(longest);
  one.tested.tell("end");
  ASSERT_TRUE(scene.until([&] { return other.told.size() == 3; }));
  EXPECT_TRUE(other.told == (list{longest, longest, "end"}));
  EXPECT_EQ(one.tested.figures().mails.dropped, 1u);
}

TEST_F(fleet_messages, are_told_apart_from_what_somebody_else_publishes) {
  replica &one = scene.join(), &other = scene.join();
  scene.ask({"PUBLISH", "cb1:{fleet}:m", "rubbish"});
  scene.ask({"PUBLISH", "cb1:{fleet}:m", std::string(mail::longest + 100, 'x')});
  one.tested.tell("after it");
  ASSERT_TRUE(scene.until([&] { return other.told == list{"after it"}; }));
  EXPECT_EQ(other.tested.figures().mails.strange, 2u);
  // More than a connection reads in one piece: a new one takes its place.
  scene.ask({"PUBLISH", "cb1:{fleet}:m", std::string(response_reader::most_bytes + 100'000, 'x')});
  ASSERT_TRUE(scene.until([&] { return scene.subscribers() == 0; }));
  ASSERT_TRUE(scene.until([&] { return scene.subscribers() == 2; }));
  one.tested.tell("again");
  ASSERT_TRUE(scene.until([&] { return other.told.size() == 2; }));
  EXPECT_EQ(other.told[1], "again");
}

TEST_F(fleet_key, is_the_same_for_replicas_that_start_at_once) {
  replica &one = scene.start(), &other = scene.start(), &third = scene.start();
  ASSERT_TRUE(scene.until([&] { return !one.keys.empty() && !other.keys.empty() && !third.keys.empty(); }));
  EXPECT_EQ(one.keys.size(), 1u);
  EXPECT_EQ(one.keys, other.keys);
  EXPECT_EQ(one.keys, third.keys);
  EXPECT_EQ(scene.join().keys, one.keys);
  EXPECT_EQ(scene.ask({"GET", "cb1:{fleet}:key"}).text, one.keys[0]);
}

TEST_F(fleet_key, is_another_one_for_another_prefix) {
  replica& one = scene.join();
  scene.settings.prefix = "cb2";
  EXPECT_NE(scene.join().keys, one.keys);
}

TEST_F(fleet_key, is_put_back_when_redis_has_lost_it) {
  replica& one = scene.join();
  scene.ask({"FLUSHALL"});
  ASSERT_TRUE(scene.until([&] { return scene.ask({"GET", "cb1:{fleet}:key"}).text == one.own; }));
  EXPECT_EQ(scene.join().keys, list{one.own});
  EXPECT_EQ(one.keys.size(), 1u);
}

TEST_F(fleet_key, is_not_made_of_something_else) {
  scene.ask({"RPUSH", "cb1:{fleet}:key", "not", "a", "key"});
  replica& one = scene.start();
  one.tested.keep("s", 1min);
  ASSERT_TRUE(scene.sees(one, "s", presence::alive));
  EXPECT_TRUE(one.keys.empty());
  scene.ask({"DEL", "cb1:{fleet}:key"});
  EXPECT_TRUE(scene.until([&] { return one.keys == list{one.own}; }));
}

TEST_F(fleet_sessions, are_known_to_every_replica) {
  replica &one = scene.join(), &other = scene.join();
  one.tested.keep("s", 1min);
  EXPECT_TRUE(scene.sees(other, "s", presence::alive));
  EXPECT_EQ(scene.look(other, "another"), presence::unnoted);
}

TEST_F(fleet_sessions, end_for_every_replica) {
  replica &one = scene.join(), &other = scene.join();
  one.tested.keep("s", 1min);
  ASSERT_TRUE(scene.sees(other, "s", presence::alive));
  one.tested.forget("s");
  EXPECT_TRUE(scene.sees(other, "s", presence::gone));
  EXPECT_TRUE(scene.until([&] { return other.forgotten == list{"s"}; }));
  EXPECT_TRUE(one.forgotten.empty());
}

TEST_F(fleet_sessions, are_not_brought_back_by_who_did_not_hear_of_their_end) {
  replica &one = scene.join(), &other = scene.join();
  one.tested.forget("s");
  ASSERT_TRUE(scene.until([&] { return one.tested.figures().sessions.written == 1; }));
  other.tested.keep("s", 1min);
  ASSERT_TRUE(scene.until([&] { return other.tested.figures().sessions.written == 1; }));
  EXPECT_EQ(scene.look(one, "s"), presence::gone);
}

TEST_F(fleet_sessions, are_gone_when_they_were_silent_for_too_long) {
  replica& one = scene.join();
  one.tested.keep("s", 200ms);
  ASSERT_TRUE(scene.sees(one, "s", presence::alive));
  one.tested.keep("s", 300ms);
  EXPECT_TRUE(scene.sees(one, "s", presence::unnoted));
}

TEST_F(fleet_sessions, leave_no_id_in_redis) {
  replica& one = scene.join();
  one.tested.keep("the id of a session", 1min);
  ASSERT_TRUE(scene.sees(one, "the id of a session", presence::alive));
  const response keys = scene.ask({"KEYS", "*"});
  ASSERT_EQ(keys.items.size(), 2u);
  for (const response& each : keys.items) {
    EXPECT_TRUE(each.text == "cb1:{fleet}:key" || (each.text.starts_with("cb1:s:") && each.text.size() == 38))
        << each.text;
  }
}

TEST_F(fleet_sessions, are_written_in_hundreds_at_once) {
  replica& one = scene.join();
  for (int i = 0; i < 3000; ++i) one.tested.keep(std::to_string(i), 1min);
  EXPECT_TRUE(scene.sees(one, "2999", presence::alive));
  EXPECT_TRUE(scene.until([&] { return one.tested.figures().sessions.written == 3000; }));
}

TEST_F(fleet_sessions, are_looked_up_from_any_thread) {
  replica& one = scene.join();
  one.tested.keep("s", 1min);
  ASSERT_TRUE(scene.sees(one, "s", presence::alive));
  std::vector<presence> found;
  std::atomic<bool> done = false;
  std::jthread thread([&] {
    for (int i = 0; i < 50; ++i) {
      one.tested.keep("s", 1min);
      one.tested.tell("from a thread");
      found.push_back(test::run(data.io, one.tested.look(data, "s")));
    }
    done = true;
  });
  EXPECT_TRUE(scene.until([&] { return done.load(); }, 20s));
  thread.join();
  EXPECT_GT(std::ranges::count(found, presence::alive), 40);
}

TEST_F(fleet_in_trouble, does_not_call_a_session_gone_that_an_emptied_redis_does_not_know) {
  replica &one = scene.join(), &other = scene.join();
  one.tested.keep("s", 1min);
  ASSERT_TRUE(scene.sees(other, "s", presence::alive));
  scene.ask({"FLUSHALL"});
  EXPECT_EQ(scene.look(other, "s"), presence::not_known);
  ASSERT_TRUE(scene.until([&] { return !scene.ask({"GET", "cb1:{fleet}:key"}).text.empty(); }));
  EXPECT_EQ(scene.look(one, "s"), presence::not_known);
  EXPECT_EQ(scene.look(other, "s"), presence::not_known);
  EXPECT_EQ(scene.look(scene.join(), "s"), presence::not_known);
  one.tested.keep("s", 1min);
  EXPECT_TRUE(scene.sees(other, "s", presence::alive));
  one.tested.forget("s");
  EXPECT_TRUE(scene.sees(other, "s", presence::gone));
}

TEST_F(fleet_in_trouble, is_not_held_up_by_a_redis_that_hangs) {
  scene.settings.timeout = 50ms;
  replica& one = scene.join();
  one.tested.keep("s", 1min);
  ASSERT_TRUE(scene.sees(one, "s", presence::alive));
  kill(server.pid(), SIGSTOP);
  for (int i = 0; i < 3; ++i) {
    const time_point before = async::worker::now();
    EXPECT_EQ(scene.look(one, "s"), presence::not_known);
    EXPECT_LT(async::worker::now() - before, 120ms);
  }
  const time_point before = async::worker::now();
  for (std::size_t i = 0; i < attendance::most_waiting + 1000; ++i) one.tested.keep(std::to_string(i), 1min);
  for (int i = 0; i < 20; ++i) one.tested.tell(std::string(mail::longest, 'x'));
  EXPECT_LT(async::worker::now() - before, 2s);
  EXPECT_EQ(one.tested.figures().sessions.dropped, 1000u);
  EXPECT_GE(one.tested.figures().mails.dropped, 11u);
  kill(server.pid(), SIGCONT);
  EXPECT_TRUE(scene.sees(one, std::to_string(attendance::most_waiting + 999), presence::alive));
}

TEST_F(fleet_in_trouble, answers_within_the_limit_though_the_timeout_is_longer) {
  replica& one = scene.join();
  kill(server.pid(), SIGSTOP);
  const time_point before = async::worker::now();
  EXPECT_EQ(scene.look(one, "s"), presence::not_known);
  EXPECT_LT(async::worker::now() - before, 250ms);
  EXPECT_GE(async::worker::now() - before, 90ms);
  kill(server.pid(), SIGCONT);
}

TEST_F(fleet_in_trouble, lets_no_more_looks_wait_than_it_may) {
  replica& one = scene.join();
  kill(server.pid(), SIGSTOP);
  std::size_t ended = 0, known = 0;
  constexpr std::size_t looks = 2 * sessions::most_looks;
  for (std::size_t i = 0; i < looks; ++i) {
    boost::asio::co_spawn(scene.worker.io, one.tested.look(scene.worker, std::to_string(i)),
                          [&](std::exception_ptr failed, presence found) {
                            if (failed || found != presence::not_known) ++known;
                            ++ended;
                          });
  }
  EXPECT_TRUE(scene.until([&] { return ended == looks; }));
  EXPECT_EQ(known, 0u);
  EXPECT_GE(one.tested.figures().sessions.unanswered, looks - sessions::most_looks - 2000);
  kill(server.pid(), SIGCONT);
  EXPECT_TRUE(scene.sees(one, "s", presence::unnoted)) << "it is there again";
}

TEST(fleet_without_redis, answers_at_once_that_nothing_is_known) {
  fleet_scene scene(test::free_port());
  replica& one = scene.start();
  one.tested.keep("s", 1min);
  one.tested.tell("nobody hears it");
  EXPECT_EQ(scene.look(one, "s"), presence::not_known);
  EXPECT_TRUE(one.keys.empty());
}

TEST(fleet_without_redis, is_there_again_with_a_new_and_empty_one) {
  const std::uint16_t port = test::free_port();
  fleet_scene scene(port);
  std::optional<test::redis_server> server(std::in_place, std::vector<std::string>(), port);
  replica &one = scene.join(), &other = scene.join();
  const std::string key = one.keys.at(0);
  server.reset();
  ASSERT_TRUE(scene.sees(one, "s", presence::not_known));
  one.tested.keep("s", 1min);
  server.emplace(std::vector<std::string>(), port);
  EXPECT_TRUE(scene.sees(other, "s", presence::alive)) << "what was said meanwhile was kept";
  EXPECT_EQ(scene.look(other, "unknown"), presence::not_known);
  EXPECT_EQ(scene.join().keys, list{key});
  EXPECT_EQ(other.keys, list{key});
  one.tested.tell("hello");
  EXPECT_TRUE(scene.until([&] { return other.told == list{"hello"}; }));
}

}  // namespace
}  // namespace switchgear::peers::redis
