#include "app/demo_setup.hpp"

#include "app/demo_story.hpp"
#include "config/read.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

namespace switchgear::app {
namespace {

TEST(demo_configuration, is_one_that_a_user_could_have_written) {
  const std::string text = demo_configuration(
      {"http://127.0.0.1:9001/weather/mcp", "http://127.0.0.1:9001/backup/mcp", "127.0.0.1:8080", "127.0.0.1:9090"});

  const config::reading read = config::read_text(text, "demo.yaml");

  for (const config::problem& each : read.errors) ADD_FAILURE() << config::to_string(each, read.file) << "\n" << text;
  ASSERT_TRUE(read.gateway);
  EXPECT_EQ(read.gateway->upstreams.size(), 2u);
  EXPECT_EQ(duration(read.gateway->policy_for("weather__now").deadline), demo_deadline);
}

TEST(free_port, is_the_wanted_one_unless_that_is_taken) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor holder(io, {boost::asio::ip::address_v4::loopback(), 0});
  const std::uint16_t taken = holder.local_endpoint().port();

  const auto other = free_port(taken);
  holder.close();
  const auto wanted = free_port(taken);

  ASSERT_TRUE(other);
  EXPECT_NE(*other, taken);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(*wanted, taken);
}

}  // namespace
}  // namespace switchgear::app
