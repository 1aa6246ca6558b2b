#include "unit/upstream/http_fixture.hpp"

#include <gtest/gtest.h>

namespace switchgear::upstream {
namespace {

constexpr std::string_view request = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}})";

class log_level : public http_upstream_test {
 protected:
  void call_at(std::string_view level) {
    port::outgoing_request with;
    with.client.log_level = level;
    EXPECT_EQ(call(request, with).fault, port::fault::none);
  }
};

TEST_F(log_level, of_a_client_is_told_to_a_legacy_server_before_its_call_and_once) {
  be_legacy(R"({"tools":{},"logging":{}})");
  start();
  call_at(R"("info")");
  call_at(R"("info")");
  call_at(R"("error")");
  const auto told = server.arrived("logging/setLevel");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].body.find(R"("level":"info")"), std::string::npos) << told[0].body;
  EXPECT_EQ(server.arrived("tools/call").size(), 3u);
}

TEST_F(log_level, is_not_told_to_a_server_that_sends_no_log_messages) {
  be_legacy();
  start();
  call_at(R"("info")");
  EXPECT_TRUE(server.arrived("logging/setLevel").empty());
}

TEST_F(log_level, follows_the_only_client_of_a_session_up_and_down) {
  be_legacy(R"({"tools":{},"logging":{}})");
  http_options of_one;
  of_one.role.abilities.roots = true;
  start(of_one);
  call_at(R"("debug")");
  call_at(R"("error")");
  EXPECT_EQ(server.arrived("logging/setLevel").size(), 2u);
}

}  // namespace
}  // namespace switchgear::upstream
