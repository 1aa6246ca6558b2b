#include "protocol/line_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {
namespace {

struct seen {
  std::vector<std::string> lines;
  int too_large = 0;
};

seen read(std::string_view stream, std::size_t size, std::size_t limit = 1 << 20) {
  line_reader reader(limit);
  seen all;
  std::string_view line;
  const auto drain = [&] {
    for (;;) {
      const line_reader::step step = reader.next(line);
      if (step == line_reader::step::more) return;
      if (step == line_reader::step::line) all.lines.emplace_back(line);
      if (step == line_reader::step::too_large) ++all.too_large;
    }
  };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    const std::string_view part = stream.substr(at, size);
    std::vector<char> piece(part.begin(), part.end());
    reader.feed({piece.data(), piece.size()});
    drain();
  }
  if (reader.finish(line) == line_reader::step::line) all.lines.emplace_back(line);
  return all;
}

// RC-050
TEST(line_stream, reads_the_same_lines_whatever_the_cut) {
  const std::string_view stream = "banner\n\n\x1b[31mred\x1b[0m\r\n{\"a\":1}\n{\"b\":2}\r\n\r\nContent-Length: 5\nlast";
  const std::vector<std::string> expected{"banner",    "\x1b[31mred\x1b[0m", "{\"a\":1}",
                                          "{\"b\":2}", "Content-Length: 5",  "last"};
  for (std::size_t size = 1; size <= stream.size(); ++size) EXPECT_EQ(read(stream, size).lines, expected) << size;
}

TEST(line_stream, says_once_that_a_line_is_too_large_and_reads_the_next) {
  const std::string stream = "ok\n" + std::string(1000, 'x') + "\ngood\n" + std::string(12, 'y') + "\nend\n";
  for (std::size_t size : {1u, 3u, 10u, 64u, 5000u}) {
    const seen all = read(stream, size, 10);
    EXPECT_EQ(all.lines, (std::vector<std::string>{"ok", "good", "end"})) << size;
    EXPECT_EQ(all.too_large, 2) << size;
  }
}

TEST(line_stream, counts_neither_cr_nor_lf_to_the_limit) {
  for (std::size_t size : {1u, 100u}) {
    EXPECT_EQ(read(std::string(10, 'x') + "\r\n", size, 10).lines.size(), 1u);
    EXPECT_EQ(read(std::string(11, 'x') + "\n", size, 10).too_large, 1);
    EXPECT_EQ(read(std::string(11, 'x') + "\nab\n", size, 10).lines.size(), 1u);
  }
}

TEST(line_stream, keeps_a_cr_inside_a_line) {
  EXPECT_EQ(read("a\rb\n", 1).lines[0], "a\rb");
}

TEST(line_stream, does_not_copy_a_line_that_lies_in_one_piece) {
  const std::string stream = "one\ntwo\n";
  line_reader reader(100);
  reader.feed(stream);
  std::string_view line;

  ASSERT_EQ(reader.next(line), line_reader::step::line);
  EXPECT_EQ(line.data(), stream.data());
}

TEST(line_stream, reads_five_megabytes_in_small_pieces) {
  std::string message(5 * 1024 * 1024, 'm');
  const seen all = read(message + "\nnext\n", 4096, 8 << 20);
  ASSERT_EQ(all.lines.size(), 2u);
  EXPECT_EQ(all.lines[0], message);
}

}  // namespace
}  // namespace switchgear::protocol
