// What a cluster says of itself.
#include "peers/redis/cluster_map.hpp"

#include "peers/redis/slot.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::peers::redis {
namespace {

using host = port::redis_settings::host;

response text(std::string value) {
  return {response::kind::text, std::move(value), 0, {}};
}
response number(std::int64_t value) {
  return {response::kind::number, {}, value, {}};
}
response list(std::vector<response> items) {
  return {response::kind::list, {}, 0, std::move(items)};
}
response error(std::string value) {
  return {response::kind::error, std::move(value), 0, {}};
}
response range(std::int64_t first, std::int64_t last, response name, std::int64_t port) {
  return list({number(first), number(last), list({std::move(name), number(port), text("id")})});
}

const host asked{"10.0.0.1", 6379};

TEST(slot, is_the_one_that_redis_computes) {
  EXPECT_EQ(slot_of("123456789"), 0x31c3u);  // the check value of CRC-16/XMODEM
  EXPECT_EQ(slot_of("foo"), 12182u);
  EXPECT_EQ(slot_of(""), 0u);
}

TEST(slot, is_that_of_the_braces_when_something_stands_in_them) {
  EXPECT_EQ(slot_of("cb1:{search}:s:search__query"), slot_of("search"));
  EXPECT_EQ(slot_of("cb1:{search}:ev"), slot_of("search"));
  EXPECT_EQ(slot_of("{a}{b}"), slot_of("a"));
  EXPECT_NE(slot_of("{}a"), slot_of("a"));
  EXPECT_NE(slot_of("{a"), slot_of("a"));
}

TEST(cluster_slots, name_the_primary_of_each_range) {
  const auto all =
      read_slots(list({range(0, 8191, text("10.0.0.2"), 6380), range(8192, 16383, text("n3"), 6381)}), asked);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].last, 8191u);
  EXPECT_EQ((*all)[0].primary, (host{"10.0.0.2", 6380}));
  EXPECT_EQ((*all)[1].primary, (host{"n3", 6381}));
}

TEST(cluster_slots, of_a_node_without_a_name_are_with_the_one_that_was_asked) {
  const response nameless{response::kind::nil, {}, 0, {}};
  const auto all = read_slots(list({range(0, 1, nameless, 7000), range(2, 3, text(""), 7001)}), asked);
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].primary, (host{"10.0.0.1", 7000}));
  EXPECT_EQ((*all)[1].primary, (host{"10.0.0.1", 7001}));
}

TEST(cluster_slots, at_an_unknown_place_are_left_out) {
  const auto all = read_slots(list({range(0, 1, text("?"), 7000), range(2, 3, text("n"), 7001)}), asked);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].first, 2u);
}

TEST(cluster_slots, that_make_no_sense_are_no_map) {
  EXPECT_FALSE(read_slots(error("ERR This instance has cluster support disabled"), asked));
  EXPECT_FALSE(read_slots(list({}), asked));
  EXPECT_FALSE(read_slots(list({number(1)}), asked));
  EXPECT_FALSE(read_slots(list({list({number(0), number(1), list({})})}), asked));
  EXPECT_FALSE(read_slots(list({range(0, 16384, text("n"), 1)}), asked));
  EXPECT_FALSE(read_slots(list({range(-1, 2, text("n"), 1)}), asked));
  EXPECT_FALSE(read_slots(list({range(5, 2, text("n"), 1)}), asked));
  EXPECT_FALSE(read_slots(list({range(0, 2, text("n"), 0)}), asked));
  EXPECT_FALSE(read_slots(list({range(0, 2, text("n"), 65536)}), asked));
}

TEST(redirection, says_slot_and_address) {
  const auto moved = read_redirection("MOVED 3999 127.0.0.1:6381");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->slot, 3999u);
  EXPECT_EQ(moved->to, (host{"127.0.0.1", 6381}));
  EXPECT_EQ(read_redirection("ASK 1 ::1:6381")->to, (host{"::1", 6381}));
  EXPECT_EQ(read_redirection("MOVED 1 :6381")->to.name, "");
}

TEST(redirection, of_no_sense_is_none) {
  for (const char* each :
       {"", "MOVED", "MOVED 1", "MOVED 1 ", "MOVED 1 host", "MOVED 1 host:", "MOVED 1 host:0", "MOVED 1 host:70000",
        "MOVED 1 host:12x", "MOVED x host:1", "MOVED 16384 host:1", "MOVED -1 host:1", "MOVED 1:2 host"}) {
    EXPECT_FALSE(read_redirection(each)) << each;
  }
}

TEST(remedy, is_chosen_by_the_first_word_of_an_error) {
  EXPECT_EQ(remedy_of(error("ERR Function not found")), remedy::furnish);
  EXPECT_EQ(remedy_of(error("MOVED 1 a:1")), remedy::follow);
  EXPECT_EQ(remedy_of(error("ASK 1 a:1")), remedy::ask_other);
  EXPECT_EQ(remedy_of(error("CLUSTERDOWN Hash slot not served")), remedy::redraw);
  for (const char* each : {"READONLY You can't write against a read only replica.",
                           "MASTERDOWN Link with MASTER is down", "NOAUTH Authentication required."}) {
    EXPECT_EQ(remedy_of(error(each)), remedy::reconnect) << each;
  }
}

TEST(remedy, of_what_time_alone_mends_is_none) {
  for (const char* each : {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script",
                           "OOM command not allowed", "MISCONF Errors writing to the AOF file",
                           "NOREPLICAS Not enough good replicas to write.", "TRYAGAIN Multiple keys request",
                           "WRONGTYPE Operation against a key", "NOPERM no"}) {
    EXPECT_EQ(remedy_of(error(each)), remedy::none) << each;
  }
  EXPECT_EQ(remedy_of(text("MOVED 1 a:1")), remedy::none);
  EXPECT_EQ(remedy_of(response{}), remedy::none);
}

}  // namespace
}  // namespace switchgear::peers::redis
