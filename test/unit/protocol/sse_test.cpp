#include "protocol/sse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::protocol {
namespace {

using events = std::vector<std::pair<std::string, std::string>>;

// Feeds `stream` in pieces of `size` bytes, each in memory of its own that is gone afterwards.
events read(sse_reader& reader, std::string_view stream, std::size_t size) {
  events all;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    const std::string_view part = stream.substr(at, size);
    std::vector<char> piece(part.begin(), part.end());
    reader.feed({piece.data(), piece.size()});
    sse_event event;
    while (reader.next(event) == sse_reader::step::event) all.emplace_back(event.name, event.data);
  }
  return all;
}

events read(std::string_view stream, std::size_t size) {
  sse_reader reader(1 << 20);
  return read(reader, stream, size);
}

std::string with_line_ends(std::string_view stream, std::string_view end) {
  std::string out;
  for (char c : stream) c == '\n' ? out.append(end) : out.append(1, c);
  return out;
}

// RC-020
TEST(event_stream, reads_the_same_with_every_line_end_and_every_cut) {
  const std::string_view stream =
      "event: message\nid: 1\ndata: {\"a\":1}\n\n: comment\n\ndata: {\"b\":\ndata: 2}\n\ndata:x\n\n";
  const events expected{{"message", "{\"a\":1}"}, {"message", "{\"b\":\n2}"}, {"message", "x"}};
  for (std::string_view end : {"\n", "\r\n", "\r"}) {
    const std::string text = with_line_ends(stream, end);
    for (std::size_t size = 1; size <= text.size(); ++size) EXPECT_EQ(read(text, size), expected) << size;
  }
}

TEST(event_stream, takes_line_ends_that_are_mixed_in_one_event) {
  const std::string_view stream = "data: 1\r\ndata: 2\rdata: 3\n\r\ndata: 4\r\rdata: 5\n\n";
  const events expected{{"message", "1\n2\n3"}, {"message", "4"}, {"message", "5"}};
  for (std::size_t size = 1; size <= stream.size(); ++size) EXPECT_EQ(read(stream, size), expected) << size;
}

TEST(event_stream, does_not_wait_for_the_lf_behind_a_cr) {
  sse_reader reader(100);
  EXPECT_EQ(read(reader, "data: 1\r\r", 100).size(), 1u);
  EXPECT_EQ(read(reader, "\ndata: 2\r\n\r", 100).size(), 1u);
}

// RC-022
TEST(event_stream, removes_exactly_one_space_and_joins_data_lines) {
  EXPECT_EQ(read("data:a\ndata: b\ndata:  c\ndata:\ndata\ndata: d\n\n", 99), (events{{"message", "a\nb\n c\n\n\nd"}}));
}

// RC-023
TEST(event_stream, gives_nothing_for_events_without_a_message) {
  sse_reader reader(1000);
  const std::string_view stream =
      "id: 1\ndata:\n\nretry: 1500\n\n: hello\n\nunknown: x\n\nno colon\n\nevent: ping\ndata: 2024\n\nid: 2\ndata: "
      "{}\n\n";

  const events all = read(reader, stream, 7);

  EXPECT_EQ(all, (events{{"ping", "2024"}, {"message", "{}"}}));
  EXPECT_EQ(reader.last_id(), "2");
  EXPECT_EQ(reader.retry_ms(), 1500u);
}

TEST(event_stream, forgets_an_event_name_with_its_event) {
  EXPECT_EQ(read("event: ping\n\ndata: x\n\n", 99), (events{{"message", "x"}}));
  EXPECT_TRUE((sse_event{"message", "x"}.is_message()));
  EXPECT_FALSE((sse_event{"ping", "x"}.is_message()));
}

TEST(event_stream, ignores_a_retry_that_is_no_number) {
  sse_reader reader(1000);
  read(reader, "retry: 1x\nretry: -1\nretry: \nretry: 99999999999999\n\n", 5);
  EXPECT_FALSE(reader.retry_ms());
}

TEST(event_stream, skips_one_byte_order_mark_at_the_start) {
  for (std::size_t size = 1; size < 8; ++size) {
    EXPECT_EQ(read("\xef\xbb\xbf"
                   "data: 1\n\n\xef\xbb\xbf"
                   "data: 2\n\n",
                   size),
              (events{{"message", "1"}}));
  }
}

TEST(event_stream, drops_what_a_cut_leaves_unfinished) {
  EXPECT_TRUE(read("data: {\"a\":1}\n", 4).empty());
  EXPECT_TRUE(read("data: {\"a\":1}", 4).empty());
}

TEST(event_stream, bounds_what_it_holds) {
  const std::string line = "data: " + std::string(90, 'x') + "\n";
  for (const std::string& stream : {line + line + "\n", "data: " + std::string(200, 'x'), std::string(200, ':')}) {
    for (std::size_t size : {1u, 10u, 1000u}) {
      sse_reader reader(100);
      bool refused = false;
      for (std::size_t at = 0; at < stream.size() && !refused; at += size) {
        const std::string piece = stream.substr(at, size);
        reader.feed(piece);
        sse_event event;
        sse_reader::step step = reader.next(event);
        EXPECT_NE(step, sse_reader::step::event);
        refused = step == sse_reader::step::too_large;
      }
      EXPECT_TRUE(refused);
      reader.feed("data: x\n\n");
      sse_event event;
      EXPECT_EQ(reader.next(event), sse_reader::step::too_large);
    }
  }
}

TEST(event_stream, accepts_an_event_right_at_the_limit) {
  sse_reader reader(100);
  EXPECT_EQ(read(reader, "data: " + std::string(100, 'x') + "\n\n", 3).size(), 1u);
}

TEST(event_stream, does_not_copy_an_event_that_lies_in_one_piece) {
  const std::string stream = "event: message\ndata: abc\n\n";
  sse_reader reader(100);
  reader.feed(stream);
  sse_event event;

  ASSERT_EQ(reader.next(event), sse_reader::step::event);

  EXPECT_EQ(event.data.data(), stream.data() + stream.find("abc"));
}

TEST(event_stream, reads_the_same_with_memory_from_a_pool) {
  buffer_pool pool(16);
  const std::string stream = "data: " + std::string(100, 'x') + "\n\ndata: a\ndata: b\n\n";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    sse_reader reader(200, &pool);
    EXPECT_EQ(read(reader, stream, size), (events{{"message", std::string(100, 'x')}, {"message", "a\nb"}}));
  }
}

TEST(written_event, has_one_data_line_whatever_the_message_looks_like) {
  const std::string_view pretty = "{\r\n  \"a\": [1,\n 2]\n}";
  std::string space;
  parts out, framed{"{\"a\":", "1}"};

  write_event(pretty, space, out);
  frame_event(framed, space);

  EXPECT_EQ(joined(out), "data: {  \"a\": [1, 2]}\n\n");
  EXPECT_EQ(joined(framed), "data: {\"a\":1}\n\n");
  EXPECT_EQ(read(joined(out), 5), (events{{"message", "{  \"a\": [1, 2]}"}}));
  EXPECT_TRUE(read(keep_alive_event, 3).empty());
}

}  // namespace
}  // namespace switchgear::protocol
