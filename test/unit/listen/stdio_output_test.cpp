#include "listen/stdio_output.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

namespace switchgear::listen {
namespace {

parts one(std::string_view text) {
  parts pieces;
  pieces.push_back(text);
  return pieces;
}

// Both ends of a pipe: the output writes to one, the test reads at the other.
class output_to_a_client : public testing::Test {
 protected:
  output_to_a_client() : on(0) {
    std::signal(SIGPIPE, SIG_IGN);
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
    output.emplace(on, ends[1], open);
  }
  ~output_to_a_client() override {
    close_reader();
    on.io.abandon();
  }

  void close_reader() {
    if (ends[0] >= 0) ::close(std::exchange(ends[0], -1));
  }

  /// Begins `what`; the flag is true once it has completed.
  std::shared_ptr<bool> begin(boost::asio::awaitable<void> what) {
    auto done = std::make_shared<bool>(false);
    boost::asio::co_spawn(on.io, std::move(what), [done](std::exception_ptr thrown) {
      EXPECT_FALSE(thrown);
      *done = true;
    });
    turn();
    return done;
  }

  void turn() {
    on.io.restart();
    on.io.poll();
  }

  /// What is in the pipe by now.
  std::string received() {
    std::string all;
    std::array<char, 64 * 1024> piece;
    for (ssize_t size = ::read(ends[0], piece.data(), piece.size()); size > 0;
         size = ::read(ends[0], piece.data(), piece.size())) {
      all.append(piece.data(), static_cast<std::size_t>(size));
    }
    return all;
  }

  async::worker on;
  questions open{"sg1"};
  std::array<int, 2> ends{-1, -1};
  std::optional<stdio_output> output;
};

TEST_F(output_to_a_client, is_one_message_a_line_in_the_order_of_adding) {
  const auto written = begin(output->run());

  output->add(one("{\n\"a\": 1}"));
  output->add(one("{}"));
  output->close();
  turn();

  EXPECT_EQ(received(), "{ \"a\": 1}\n{}\n");
  EXPECT_TRUE(*written);
}

TEST_F(output_to_a_client, makes_who_adds_much_wait_until_the_client_reads) {
  begin(output->run());
  output->add(one(std::string(stdio_output::most_waiting + 1000, 'x')));

  const auto flushed = begin(output->flush());
  EXPECT_FALSE(*flushed);
  std::size_t read = 0;
  for (int round = 0; round < 1000 && !*flushed; ++round) {
    read += received().size();
    turn();
  }

  EXPECT_TRUE(*flushed);
  EXPECT_GT(read, 0U);
}

TEST_F(output_to_a_client, makes_nobody_wait_at_the_end) {
  begin(output->run());
  output->add(one(std::string(stdio_output::most_waiting + 1000, 'x')));
  const auto flushed = begin(output->flush());

  output->hurry();
  turn();

  EXPECT_TRUE(*flushed);
  EXPECT_FALSE(output->broken());
}

TEST_F(output_to_a_client, is_broken_when_the_client_is_gone) {
  const auto written = begin(output->run());
  close_reader();

  output->add(one("{}"));
  turn();

  EXPECT_TRUE(*written);
  EXPECT_TRUE(output->broken());
}

TEST_F(output_to_a_client, is_given_up_although_the_client_does_not_read) {
  const auto written = begin(output->run());
  output->add(one(std::string(stdio_output::most_waiting, 'x')));
  turn();
  EXPECT_FALSE(*written);

  output->give_up();
  turn();

  EXPECT_TRUE(*written);
}

}  // namespace
}  // namespace switchgear::listen
