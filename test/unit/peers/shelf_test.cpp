// The shelves on which answers stand in Redis: their words, their bounds, and what may be found in their place.
#include "peers/redis/shelf.hpp"

#include "unit/peers/answers_scene.hpp"

#include <map>

namespace switchgear::peers::redis {
namespace {

using kind = enum response::kind;

constexpr std::size_t each_costs = 256;

TEST(a_shelf, has_keys_with_one_hash_tag_and_digests_for_names) {
  const shelves tested("cb1", 16 * MiB);

  const routed put = tested.put(question_of(0x1203), "text", 1500us, 2s);
  const routed find = tested.find(question_of(0x1203), 1min);

  const std::string digest = "03120000000000000000000000000000";
  EXPECT_EQ(put.words, (command{"FCALL", "switchgear_v1_put_answer", "3", "cb1:{a3}:v", "cb1:{a3}:i", "cb1:{a3}:b",
                                digest, "text", "2", "2000", std::to_string(MiB)}));
  EXPECT_EQ(find.words, (command{"FCALL", "switchgear_v1_find_answer", "1", "cb1:{a3}:v", digest, "60000"}));
  EXPECT_EQ(put.slot, slot_of("{a3}"));
  EXPECT_EQ(find.slot, slot_of("{a3}"));
}

TEST(a_shelf, takes_nothing_for_an_answer_that_is_none) {
  const response age{kind::number, {}, 5, {}}, text{kind::text, "t", 0, {}};
  const auto list = [](std::vector<response> items) { return response{kind::list, {}, 0, std::move(items)}; };
  ASSERT_TRUE(shelves::read(list({age, text})));
  EXPECT_EQ(shelves::read(list({age, text}))->age, 5ms);
  const response below{kind::number, {}, -1, {}}, beyond{kind::number, {}, 1LL << 62, {}}, empty{kind::text, {}, 0, {}};
  for (const response& wrong : {response{}, response{kind::nil, {}, 0, {}}, text, list({}), list({age}),
                                list({text, age}), list({age, text, text}), list({below, text}), list({beyond, text}),
                                list({age, empty}), response{kind::error, "WRONGTYPE", 0, {}}}) {
    EXPECT_FALSE(shelves::read(wrong));
  }
}

/// One shelf, with a clock of the test's own.
struct on_a_shelf : testing::Test {
  void SetUp() override { ASSERT_EQ(scene.ask({"FUNCTION", "LOAD", std::string(library_source)}).kind, kind::text); }

  response call(command words) {
    words.push_back(std::to_string(now));
    return scene.ask(std::move(words));
  }
  std::int64_t put(const std::string& name, const std::string& text, std::int64_t age = 0, std::int64_t life = 60'000) {
    const response said = call({"FCALL", "switchgear_v1_put_answer", "3", v, i, b, name, text, std::to_string(age),
                                std::to_string(life), std::to_string(most)});
    EXPECT_EQ(said.kind, kind::number) << said.text;
    return said.number;
  }
  std::string find(const std::string& name, std::int64_t max_age = 1'000'000) {
    const response said = call({"FCALL", "switchgear_v1_find_answer", "1", v, name, std::to_string(max_age)});
    if (said.kind != kind::list) return said.kind == kind::nil ? "nothing" : said.text;
    return std::to_string(said.items.at(0).number) + ' ' + said.items.at(1).text;
  }

  std::size_t real_bytes() {
    std::size_t sum = 0;
    for (const response& each : scene.ask({"HVALS", v}).items) sum += each.text.size() + each_costs;
    return sum;
  }
  std::size_t counted() {
    const response said = scene.ask({"GET", b});
    return said.kind == kind::text ? std::stoull(said.text) : 0;
  }
  void expect_sound() {
    EXPECT_EQ(counted(), real_bytes());
    EXPECT_LE(counted(), most);
    EXPECT_EQ(scene.ask({"HLEN", v}).number, scene.ask({"ZCARD", i}).number);
  }

  test::redis_server server{test::on_tcp};
  answers_scene scene{server.port()};
  const std::string v = "{a}:v", i = "{a}:i", b = "{a}:b";
  std::size_t most = 100'000;
  // Keys must not expire at once, and what the server believes of the time is its own affair.
  std::int64_t now = 4'000'000'000'000;
};

TEST_F(on_a_shelf, an_answer_ages_by_the_servers_clock) {
  EXPECT_EQ(put("q", "answer", 40), 1);
  now += 2;
  EXPECT_EQ(find("q"), "42 answer");
  EXPECT_EQ(find("q", 42), "42 answer");
  EXPECT_EQ(find("q", 41), "nothing");
  EXPECT_EQ(find("other"), "nothing");
}

TEST_F(on_a_shelf, an_answer_that_was_overtaken_changes_nothing) {
  put("q", "newer", 10);
  EXPECT_EQ(put("q", "older", 11), 0);
  EXPECT_EQ(find("q"), "10 newer");
  EXPECT_EQ(put("q", "newest", 9), 1);
  EXPECT_EQ(find("q"), "9 newest");
  expect_sound();
}

TEST_F(on_a_shelf, a_clock_that_was_put_back_makes_nothing_younger) {
  put("q", "from then");
  now -= 5000;
  EXPECT_EQ(find("q"), "nothing");
  EXPECT_EQ(put("q", "from now"), 1);
  EXPECT_EQ(find("q"), "0 from now");
  expect_sound();
}

TEST_F(on_a_shelf, what_expires_first_makes_room) {
  most = 4000;
  put("a", std::string(1000, 'a'), 0, 30'000);
  put("b", std::string(1000, 'b'), 0, 10'000);
  put("c", std::string(1000, 'c'), 0, 20'000);
  put("d", std::string(1000, 'd'), 0, 5'000);
  EXPECT_EQ(find("b"), "nothing");
  EXPECT_NE(find("a"), "nothing");
  EXPECT_NE(find("c"), "nothing");
  EXPECT_NE(find("d"), "nothing");
  expect_sound();
}

TEST_F(on_a_shelf, what_has_expired_goes_with_the_next_answer) {
  put("a", "a", 0, 1000);
  put("b", "b", 0, 5000);
  now += 1000;
  put("c", "c");
  EXPECT_EQ(scene.ask({"HLEN", v}).number, 2);
  expect_sound();
}

TEST_F(on_a_shelf, an_answer_that_is_larger_than_it_is_not_put_there_and_the_outdated_one_goes) {
  most = 1000;
  put("q", "small");
  put("other", "small");
  EXPECT_EQ(put("q", std::string(1000, 'x')), 0);
  EXPECT_EQ(find("q"), "nothing");
  EXPECT_EQ(find("other"), "0 small");
  expect_sound();
}

TEST_F(on_a_shelf, ten_thousand_answers_stay_within_the_bound_and_are_counted_right) {
  std::uint64_t random = 7;
  const auto next = [&random](std::uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  };
  for (int step = 0; step < 10'000; ++step) {
    now += static_cast<std::int64_t>(next(20));
    put("q" + std::to_string(next(700)), std::string(next(2000), 'x'), static_cast<std::int64_t>(next(50)),
        static_cast<std::int64_t>(next(8000)));
    if (step % 500 == 0) expect_sound();
    ASSERT_LE(counted(), most);
  }
  expect_sound();
  EXPECT_GT(scene.ask({"HLEN", v}).number, 20);
}

TEST_F(on_a_shelf, one_call_does_a_bounded_amount_of_work) {
  most = 1'000'000;
  for (int n = 0; n < 2000; ++n) put("q" + std::to_string(n), "x");
  const std::int64_t before = scene.ask({"HLEN", v}).number;
  EXPECT_EQ(put("large", std::string(900'000, 'x')), 0);
  EXPECT_EQ(scene.ask({"HLEN", v}).number, before - 256);
  expect_sound();
  for (int n = 0; n < 8; ++n) put("large", std::string(900'000, 'x'));
  EXPECT_NE(find("large"), "nothing");
  expect_sound();
}

TEST_F(on_a_shelf, every_key_lives_as_long_as_the_last_answer) {
  now = std::stoll(scene.ask({"TIME"}).items.at(0).text) * 1000;
  put("a", "a", 0, 60'000);
  put("b", "b", 0, 30'000);
  for (const std::string& key : {v, i, b}) EXPECT_EQ(scene.ask({"PEXPIRETIME", key}).number, now + 60'000) << key;
  put("a", "a", 0, 10'000);
  for (const std::string& key : {v, i, b}) EXPECT_EQ(scene.ask({"PEXPIRETIME", key}).number, now + 30'000) << key;
}

TEST_F(on_a_shelf, a_part_that_is_lost_or_wrong_clears_it) {
  const std::vector<command> harm = {{"DEL", v},
                                     {"DEL", i},
                                     {"DEL", b},
                                     {"SET", b, "abc"},
                                     {"SET", b, "0"},
                                     {"SET", b, "-5"},
                                     {"SET", b, "nan"},
                                     {"SET", b, "1e300"},
                                     {"HSET", v, "stranger", "x"},
                                     {"ZADD", i, "1", "stranger"}};
  for (const command& each : harm) {
    put("a", "a");
    scene.ask(each);
    EXPECT_EQ(put("b", "b"), 1) << each[0] << ' ' << each[1];
    EXPECT_EQ(find("b"), "0 b");
    EXPECT_EQ(scene.ask({"HLEN", v}).number, 1) << each[0] << ' ' << each[1];
    expect_sound();
  }
}

TEST_F(on_a_shelf, rubbish_in_the_place_of_an_answer_is_none) {
  for (const char* rubbish : {"", "x", "12", " 12 a", "-5 a", "1e5 a", "nan a"}) {
    scene.ask({"HSET", v, "q", rubbish});
    EXPECT_EQ(find("q"), "nothing") << rubbish;
  }
}

TEST_F(on_a_shelf, keys_of_another_sort_are_left_alone) {
  for (const std::string& key : {v, i}) {
    scene.ask({"FLUSHALL"});
    scene.ask({"SET", key, "not ours"});
    const response said = call({"FCALL", "switchgear_v1_put_answer", "3", v, i, b, "q", "a", "0", "1000", "10000"});
    EXPECT_EQ(said.kind, kind::error);
    EXPECT_EQ(scene.ask({"GET", key}).text, "not ours");
    EXPECT_EQ(scene.ask({"DBSIZE"}).number, 1);
  }
  scene.ask({"FLUSHALL"});
  scene.ask({"SET", v, "not ours"});
  EXPECT_NE(find("q").find("WRONGTYPE"), std::string::npos);
  scene.ask({"FLUSHALL"});
  scene.ask({"RPUSH", b, "not ours"});
  EXPECT_EQ(call({"FCALL", "switchgear_v1_put_answer", "3", v, i, b, "q", "a", "0", "1000", "10000"}).kind,
            kind::error);
  EXPECT_EQ(scene.ask({"DBSIZE"}).number, 1);
}

TEST_F(on_a_shelf, a_replica_with_a_key_of_another_sort_in_its_way_goes_on) {
  answers& one = scene.start();
  for (unsigned shelf = 0; shelf < shelves::count; ++shelf) {
    scene.ask({"SET", "cb1:{a" + std::to_string(shelf) + "}:v", "not ours"});
  }
  for (unsigned n = 0; n < 32; ++n) one.store(question_of(n), "a", 1min);
  EXPECT_TRUE(scene.until([&] { return one.figures().dropped == 32; }));
  EXPECT_EQ(scene.text(one, 3), "nothing");
  EXPECT_EQ(scene.ask({"GET", "cb1:{a3}:v"}).text, "not ours");
}

TEST_F(on_a_shelf, all_answers_of_a_replica_stay_within_the_bound_and_expire) {
  answers& one = scene.start(2 * MiB);
  for (unsigned n = 0; n < 600; ++n) one.store(question_of(n), std::string(10'000, 'x'), 1min);
  ASSERT_TRUE(scene.until([&] { return one.figures().told == 600; }, 20s));
  std::size_t sum = 0;
  const response keys = scene.ask({"KEYS", "cb1:*"});
  EXPECT_EQ(keys.items.size(), 3 * shelves::count);
  for (const response& key : keys.items) {
    EXPECT_GT(scene.ask({"PTTL", key.text}).number, 0) << key.text;
    EXPECT_LE(scene.ask({"PTTL", key.text}).number, 60'000) << key.text;
    if (key.text.ends_with(":b")) sum += std::stoull(scene.ask({"GET", key.text}).text);
  }
  EXPECT_LE(sum, 2 * MiB);
  EXPECT_GT(sum, MiB);
}

}  // namespace
}  // namespace switchgear::peers::redis
