// What comes from a node, and what comes from something that is no node.
#include "peers/redis/response.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::peers::redis {
namespace {

using namespace std::string_view_literals;
using kind = enum response::kind;

std::vector<response> read_whole(response_reader& reader) {
  std::vector<response> all;
  while (auto each = reader.next()) all.push_back(*std::move(each));
  return all;
}

std::vector<response> read(std::string_view bytes) {
  response_reader reader;
  reader.feed(bytes);
  return read_whole(reader);
}

bool gives_up_on(std::string_view bytes) {
  response_reader reader;
  reader.feed(bytes);
  read_whole(reader);
  return reader.gave_up();
}

TEST(response_reader, tells_the_kinds_of_answers_apart) {
  const auto all = read("+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\0b\r\n$-1\r\n*-1\r\n*0\r\n"sv);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].kind, kind::text);
  EXPECT_EQ(all[0].text, "OK");
  EXPECT_EQ(all[1].kind, kind::error);
  EXPECT_EQ(all[1].text, "ERR no");
  EXPECT_EQ(all[2].kind, kind::number);
  EXPECT_EQ(all[2].number, -7);
  EXPECT_EQ(all[3].text.size(), 3u);
  EXPECT_EQ(all[4].kind, kind::nil);
  EXPECT_EQ(all[5].kind, kind::nil);
  EXPECT_EQ(all[6].kind, kind::list);
}

TEST(response_reader, keeps_lists_in_lists_in_their_order) {
  const auto all = read("*3\r\n*2\r\n:1\r\n:2\r\n+x\r\n*1\r\n*1\r\n$1\r\ny\r\n");
  ASSERT_EQ(all.size(), 1u);
  const auto& items = all[0].items;
  ASSERT_EQ(items.size(), 3u);
  ASSERT_EQ(items[0].items.size(), 2u);
  EXPECT_EQ(items[0].items[1].number, 2);
  EXPECT_EQ(items[1].text, "x");
  EXPECT_EQ(items[2].items[0].items[0].text, "y");
}

TEST(response_reader, waits_for_an_answer_that_comes_byte_by_byte) {
  response_reader reader;
  const std::string_view bytes = "*2\r\n$5\r\nhello\r\n:42\r\n";
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    reader.feed(bytes.substr(i, 1));
    ASSERT_FALSE(reader.next());
    ASSERT_FALSE(reader.gave_up());
  }
  reader.feed(bytes.substr(bytes.size() - 1));
  const auto whole = reader.next();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->items[0].text, "hello");
  EXPECT_EQ(whole->items[1].number, 42);
}

TEST(response_reader, gives_up_on_what_is_no_redis) {
  EXPECT_TRUE(gives_up_on("HTTP/1.1 400 Bad Request\r\n\r\n"));
  EXPECT_TRUE(gives_up_on("\x16\x03\x01\x02\x00"));
  EXPECT_TRUE(gives_up_on("$abc\r\n"));
  EXPECT_TRUE(gives_up_on("*99999999999999999999\r\n"));
  EXPECT_TRUE(gives_up_on("$-7\r\n"));
  EXPECT_TRUE(gives_up_on("*1\r\n?\r\n"));
}

TEST(response_reader, gives_up_on_resp_3_which_nobody_asked_for) {
  for (const char* each : {"%1\r\n+a\r\n+b\r\n", ">2\r\n+a\r\n+b\r\n", "#t\r\n", ",1.5\r\n", "~1\r\n:1\r\n"}) {
    EXPECT_TRUE(gives_up_on(each)) << each;
  }
}

TEST(response_reader, gives_up_on_lists_without_end) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "*1\r\n";
  EXPECT_TRUE(gives_up_on(deep));
  EXPECT_TRUE(gives_up_on("*1000000000\r\n"));

  // Two lists that are short enough each, one in the other.
  std::string wide = "*60000\r\n";
  for (int i = 0; i < 4; ++i) {
    wide += "*60000\r\n";
    for (int j = 0; j < 60'000; ++j) wide += ":1\r\n";
  }
  EXPECT_TRUE(gives_up_on(wide));
}

TEST(response_reader, gives_up_on_a_text_that_never_ends) {
  response_reader reader;
  reader.feed("$999999999999\r\n");
  const std::string block(64 * 1024, 'x');
  std::size_t fed = 0;
  while (!reader.gave_up() && fed <= 2 * response_reader::most_bytes) {
    reader.feed(block);
    fed += block.size();
    EXPECT_FALSE(reader.next());
  }
  EXPECT_TRUE(reader.gave_up());
  EXPECT_LE(fed, response_reader::most_bytes + block.size());
}

TEST(response_reader, has_no_limit_on_many_answers) {
  response_reader reader;
  const std::string answer = "$1000\r\n" + std::string(1000, 'x') + "\r\n";
  for (std::size_t fed = 0; fed < 3 * response_reader::most_bytes; fed += answer.size()) {
    reader.feed(answer);
    ASSERT_EQ(read_whole(reader).size(), 1u);
  }
  EXPECT_FALSE(reader.gave_up());
}

}  // namespace
}  // namespace switchgear::peers::redis
