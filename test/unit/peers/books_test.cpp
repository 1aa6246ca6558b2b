#include "peers/redis/books.hpp"

#include "unit/peers/redis_words.hpp"

#include <gtest/gtest.h>

#include <array>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using breaker::state;

/// Scopes on a store that the test plays: which node has them, and what each node answers.
class the_books : public testing::Test {
 protected:
  using shape = port::redis_settings::layout;

  explicit the_books(shape layout = shape::single) {
    port::redis_settings where;
    where.shape = layout;
    books_ = std::make_unique<books>(
        where, "me", 1, [this](unsigned slot) -> std::string_view { return places_[slot == slot_of("{a}") ? 0 : 1]; });
  }

  std::vector<port::board_entry> entries(std::vector<std::string_view> names = {"a__x", "a__y", "b__x"}) {
    std::vector<port::board_entry> made;
    for (const std::string_view name : names) {
      port::board_entry& one = made.emplace_back();
      one.name = name;
      one.settings = &settings_;
      one.revision = 1;
    }
    return made;
  }

  /// One exchange; `answered` says for each scope what comes back for its own question.
  std::vector<port::board_entry> exchange(std::function<receipt(std::string_view scope)> answered) {
    auto all = entries();
    const auto questions = books_->ask(all, now_);
    asked_ = questions.size();
    std::vector<receipt> said;
    for (const routed& each : questions) said.push_back(answered(question_words(each.words).name));
    books_->hear(all, said, "no answer", now_ + 5ms);
    for (const books::line& each : books_->take_lines()) lines_.push_back((each.shared ? "+" : "-") + each.text);
    now_ += 100ms;
    return all;
  }
  static receipt fine(std::string_view) { return answer_words{.replicas = 2}; }
  static receipt nothing(std::string_view) { return {}; }
  static receipt b_is_lost(std::string_view scope) { return scope.starts_with('b') ? receipt() : fine(scope); }

  breaker::settings settings_;
  std::array<std::string, 2> places_{"one:1", "two:2"};
  std::unique_ptr<books> books_;
  time_point now_{1000h};
  std::size_t asked_ = 0;
  std::vector<std::string> lines_;
};

TEST_F(the_books, say_once_that_the_store_is_there) {
  exchange(fine);
  exchange(fine);
  EXPECT_EQ(lines_, std::vector<std::string>{"+connected"});
  EXPECT_TRUE(books_->figures().shared);
  EXPECT_EQ(books_->figures().replicas, 2u);
  EXPECT_EQ(books_->figures().flushes, 2u);
}

TEST_F(the_books, are_alone_with_the_third_exchange_without_an_answer) {
  exchange(fine);
  exchange(nothing);
  exchange(nothing);
  EXPECT_TRUE(books_->figures().shared);
  exchange(nothing);
  EXPECT_FALSE(books_->figures().shared);
  EXPECT_TRUE(books_->alone("a__x"));
  EXPECT_EQ(books_->figures().losses, 1u);
  EXPECT_EQ(books_->figures().missed, 3u);
  EXPECT_EQ(books_->figures().replicas, 0u);
  EXPECT_EQ(lines_, (std::vector<std::string>{"+connected", "-no answer"}));
}

TEST_F(the_books, ask_seldom_while_they_are_alone_and_come_back_with_one_line) {
  // given
  for (int i = 0; i < 3; ++i) exchange(nothing);
  // when
  int tries = 0;
  for (int i = 0; i < 100; ++i) {
    exchange(nothing);
    tries += asked_ != 0;
  }
  // then
  EXPECT_LE(tries, 22) << "in ten seconds";
  EXPECT_GE(tries, 10);
  now_ += 2s;
  exchange(fine);
  EXPECT_TRUE(books_->figures().shared);
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_TRUE(lines_[1].starts_with("+after 12")) << lines_[1];
}

TEST_F(the_books, answer_every_entry_whatever_happens) {
  for (int i = 0; i < 5; ++i) {
    for (const port::board_entry& each : exchange(i % 2 == 0 ? nothing : fine)) {
      EXPECT_EQ(each.answer.view.state, state::closed);
    }
  }
}

TEST_F(the_books, name_the_error_when_all_answers_are_one) {
  for (int i = 0; i < 3; ++i) {
    exchange([](std::string_view) { return error("NOPERM this user has no permissions"); });
  }
  EXPECT_EQ(lines_, std::vector<std::string>{"-NOPERM this user has no permissions"});
}

TEST_F(the_books, keep_one_scope_s_trouble_to_itself) {
  const auto wrong_type = [](std::string_view scope) {
    return scope == "a__y" ? error("WRONGTYPE a key") : fine(scope);
  };
  for (int i = 0; i < 50; ++i) exchange(wrong_type);
  EXPECT_TRUE(books_->figures().shared);
  EXPECT_TRUE(books_->alone("a__y"));
  EXPECT_FALSE(books_->alone("a__x"));
  EXPECT_EQ(lines_, (std::vector<std::string>{"+connected", "-a__y: WRONGTYPE a key"}));
  now_ += 2s;
  exchange(fine);
  ASSERT_EQ(lines_.size(), 3u);
  EXPECT_TRUE(lines_[2].starts_with("+a__y: after ")) << lines_[2];
}

TEST_F(the_books, have_one_guard_for_a_single_redis_wherever_it_is) {
  exchange(fine);
  for (int i = 0; i < 3; ++i) exchange(nothing);
  places_ = {"three:3", "three:3"};
  now_ += 2s;
  exchange(fine);
  EXPECT_EQ(books_->figures().losses, 1u);
  EXPECT_EQ(lines_.size(), 3u);
}

class the_books_of_a_cluster : public the_books {
 protected:
  the_books_of_a_cluster() : the_books(shape::cluster) {}
};

TEST_F(the_books_of_a_cluster, leave_a_lost_node_s_scopes_alone_and_no_others) {
  exchange(fine);
  for (int i = 0; i < 3; ++i) exchange(b_is_lost);
  EXPECT_EQ(lines_, (std::vector<std::string>{"+connected", "-two:2: no answer"}));
  EXPECT_FALSE(books_->figures().shared);
  EXPECT_EQ(books_->figures().replicas, 2u);
  // The others go on being asked; what they answer holds.
  const auto all = exchange([](std::string_view scope) -> receipt {
    return scope.starts_with('b') ? receipt() : answer_words{.generation = 1, .state = state::open};
  });
  EXPECT_EQ(asked_, 2u);
  EXPECT_EQ(all[0].answer.view.state, state::open);
  EXPECT_EQ(all[2].answer.view.state, state::closed);
}

TEST_F(the_books_of_a_cluster, follow_a_slot_to_its_new_node_at_once) {
  // given
  exchange(fine);
  for (int i = 0; i < 10; ++i) exchange(b_is_lost);
  // when
  places_[1] = "three:3";
  exchange(fine);
  // then
  EXPECT_EQ(asked_, 3u);
  EXPECT_TRUE(books_->figures().shared);
  EXPECT_EQ(lines_.back(), "+two:2: others have its slots now");
  EXPECT_EQ(lines_.size(), 3u);
}

TEST_F(the_books_of_a_cluster, stay_with_a_node_while_there_is_no_map) {
  exchange(fine);
  for (int i = 0; i < 3; ++i) exchange(b_is_lost);
  places_ = {"", ""};
  exchange(b_is_lost);
  EXPECT_FALSE(books_->figures().shared);
  EXPECT_EQ(lines_.size(), 2u);
}

TEST_F(the_books_of_a_cluster, are_connected_once_a_map_is_there) {
  places_ = {"", ""};
  for (int i = 0; i < 3; ++i) exchange(nothing);
  places_ = {"one:1", "two:2"};
  exchange(fine);
  EXPECT_EQ(lines_, (std::vector<std::string>{"-no answer", "+connected"}));
}

}  // namespace
}  // namespace switchgear::peers::redis
