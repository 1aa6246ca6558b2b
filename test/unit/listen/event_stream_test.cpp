#include "listen/event_stream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace switchgear::listen {
namespace {

using boost::asio::ip::tcp;

parts one(std::string_view text) {
  parts pieces;
  pieces.push_back(text);
  return pieces;
}

// Both ends of a connection: the stream writes to one, the test reads at the other.
class stream_to_client : public testing::Test {
 protected:
  stream_to_client() : on(0), client(on.io), accepted(on.io) {
    tcp::acceptor acceptor(on.io, {boost::asio::ip::address_v4::loopback(), 0});
    client.connect(acceptor.local_endpoint());
    acceptor.accept(accepted);
    stream.emplace(on, std::move(accepted));
  }

  void run(boost::asio::awaitable<void> what) {
    boost::asio::co_spawn(on.io, std::move(what), [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
    on.io.restart();
    on.io.poll();
  }

  std::string received() {
    std::string all(client.available(), '\0');
    return all.substr(0, all.empty() ? 0 : client.read_some(boost::asio::buffer(all)));
  }

  async::worker on;
  tcp::socket client;
  tcp::socket accepted;
  std::optional<client_stream> stream;
  questions open{"sg1"};
};

boost::asio::awaitable<void> finish(event_stream& events, std::string_view answer) {
  EXPECT_TRUE(co_await events.finish(one(answer)));
}

TEST_F(stream_to_client, is_not_used_before_something_is_said) {
  event_stream events(on, *stream, open, nullptr);
  EXPECT_FALSE(events.used());
  run(events.flush());
  EXPECT_FALSE(events.used());
  EXPECT_EQ(received(), "");
}

TEST_F(stream_to_client, is_used_by_a_notification_that_was_not_sent_yet_and_sends_it_with_the_answer) {
  event_stream events(on, *stream, open, nullptr);
  events.add(one(R"({"n":1})"));
  events.add(one(R"({"n":2})"));
  EXPECT_TRUE(events.used());
  run(finish(events, R"({"id":1})"));
  const std::string text = received();
  EXPECT_NE(text.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n2e\r\ndata: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: {\"id\":1}\n\n\r\n0\r\n\r\n"))
      << text;
}

TEST_F(stream_to_client, sends_what_was_added_at_each_flush_and_the_head_once) {
  event_stream events(on, *stream, open, nullptr);
  events.add(one(R"({"n":1})"));
  run(events.flush());
  EXPECT_TRUE(received().ends_with("\r\n\r\nf\r\ndata: {\"n\":1}\n\n\r\n"));
  events.add(one("{\"n\":\n2}"));
  run(events.flush());
  EXPECT_EQ(received(), "f\r\ndata: {\"n\":2}\n\n\r\n");
}

}  // namespace
}  // namespace switchgear::listen
