#include "listen/watch_list.hpp"

#include "protocol/subscription.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::listen {
namespace {

using uris = std::vector<std::string>;

class a_watch_list : public testing::Test {
 protected:
  int changes = 0;
  watch_list watched{[this] { ++changes; }};
};

TEST_F(a_watch_list, holds_a_resource_once_however_many_watch_it) {
  EXPECT_TRUE(watched.subscribe("one", "file:///a"));
  EXPECT_TRUE(watched.subscribe("one", "file:///a"));
  EXPECT_TRUE(watched.subscribe("two", "file:///a"));
  watched.add({"file:///a", "file:///b"});
  EXPECT_EQ(watched.resources(), (uris{"file:///a", "file:///b"}));
  EXPECT_EQ(watched.sessions_of("file:///a"), (uris{"one", "two"}));
  EXPECT_EQ(changes, 2);
}

TEST_F(a_watch_list, lets_go_of_a_resource_when_the_last_has_left) {
  watched.subscribe("one", "a");
  watched.add({"a", "a"});
  watched.unsubscribe("one", "a");
  watched.remove({"a"});
  EXPECT_EQ(watched.resources(), uris{"a"});
  EXPECT_EQ(changes, 1);
  watched.remove({"a"});
  EXPECT_TRUE(watched.resources().empty());
  EXPECT_EQ(changes, 2);
}

TEST_F(a_watch_list, forgets_all_of_a_session_and_nothing_of_others) {
  watched.subscribe("one", "a");
  watched.subscribe("one", "b");
  watched.subscribe("two", "b");
  watched.forget("one");
  EXPECT_EQ(watched.resources(), uris{"b"});
  EXPECT_EQ(watched.sessions_of("b"), uris{"two"});
  watched.forget("one");
  EXPECT_EQ(changes, 3);
}

TEST_F(a_watch_list, ignores_what_was_never_watched) {
  watched.unsubscribe("one", "a");
  watched.remove({"a"});
  EXPECT_EQ(changes, 0);
}

TEST_F(a_watch_list, gives_one_session_only_so_many) {
  for (std::size_t i = 0; i < protocol::most_watched; ++i) ASSERT_TRUE(watched.subscribe("one", std::to_string(i)));
  EXPECT_FALSE(watched.subscribe("one", "more"));
  EXPECT_TRUE(watched.subscribe("two", "more"));
  watched.unsubscribe("one", "0");
  EXPECT_TRUE(watched.subscribe("one", "more"));
}

}  // namespace
}  // namespace switchgear::listen
