// Of which era a child is, and how it is found out without harm.
#include "unit/upstream/stdio_fixture.hpp"

namespace switchgear::test {
namespace {

using namespace std::chrono_literals;
using port::fault;
using protocol::era;

class era_of_a_child : public stdio_fixture {};

TEST_F(era_of_a_child, is_legacy_when_it_does_not_know_discovery) {
  start_ready();

  EXPECT_EQ(upstream().era(), era::legacy);
  EXPECT_EQ(upstream().counted().starts, 1U);
  const auto lines = received();
  ASSERT_GE(lines.size(), 2U);
  EXPECT_NE(lines[0].find("server/discover"), std::string::npos);
  EXPECT_NE(lines[1].find("\"initialize\""), std::string::npos);
}

TEST_F(era_of_a_child, is_legacy_when_it_is_silent_about_it) {
  settings.stdio.command = small_server({"silent"});
  settings.stdio.probe_timeout = 50ms;
  start_ready();

  EXPECT_EQ(upstream().era(), era::legacy);
  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
  EXPECT_EQ(upstream().counted().starts, 1U);
}

TEST_F(era_of_a_child, is_legacy_when_it_ends_at_the_question_and_the_next_is_not_asked) {
  settings.stdio.command = small_server({"shy"});
  start_ready();

  EXPECT_EQ(upstream().counted().starts, 2U);
  EXPECT_EQ(observed.states().size(), 1U);  // never degraded
  EXPECT_EQ(call("die").fault, fault::lost);
  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
  EXPECT_EQ(upstream().counted().starts, 3U);
}

TEST_F(era_of_a_child, is_modern_when_it_knows_nothing_else) {
  settings.stdio.command = small_server({"modern"});
  start_ready();

  EXPECT_EQ(upstream().era(), era::modern);
  EXPECT_EQ(upstream().status().protocol_version, "2026-07-28");
  EXPECT_EQ(upstream().status().server_name, "small");
  ASSERT_EQ(observed.lists().size(), 1U);
  EXPECT_EQ(observed.lists()[0].era, era::modern);
  EXPECT_EQ(observed.lists()[0].tools.size(), 1U);
  for (const std::string& line : received()) EXPECT_EQ(line.find("\"initialize"), std::string::npos) << line;
}

TEST_F(era_of_a_child, is_modern_when_it_is_of_both) {
  settings.stdio.command = small_server({"dual"});
  start_ready();

  EXPECT_EQ(upstream().era(), era::modern);
}

TEST_F(era_of_a_child, is_legacy_when_it_is_of_both_and_its_client_is_legacy) {
  settings.stdio.command = small_server({"dual"});
  role.abilities.sampling = true;
  start_ready();

  EXPECT_EQ(upstream().era(), era::legacy);
  EXPECT_TRUE(receives({"\"initialize\"", R"("capabilities":{"sampling":{}})"}));
}

TEST_F(era_of_a_child, is_modern_when_it_refuses_initialize) {
  settings.stdio.command = small_server({"modern"});
  role.abilities.sampling = true;
  start_ready();

  EXPECT_EQ(upstream().era(), era::modern);
  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
}

TEST_F(era_of_a_child, may_be_the_first_revision) {
  settings.stdio.command = small_server({"first_revision"});
  start_ready();

  EXPECT_EQ(upstream().status().protocol_version, "2024-11-05");
}

class call_to_a_modern_child : public stdio_fixture {
 protected:
  call_to_a_modern_child() { settings.stdio.command = small_server({"modern"}); }
};

TEST_F(call_to_a_modern_child, tells_it_what_the_client_can_do_and_wants_to_see) {
  client.abilities.elicitation_form = true;
  client.log_level = "\"debug\"";
  start_ready();

  const called answer = call("echo", R"({"text":"x"})");

  EXPECT_EQ(answer.text, "x");
  EXPECT_EQ(answer.era, era::modern);
  EXPECT_NE(answer.body.find("resultType"), std::string::npos);
  EXPECT_TRUE(receives({"\"echo\"", R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")",
                        R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}})",
                        R"("io.modelcontextprotocol/logLevel":"debug")", R"("progressToken":)"}));
}

TEST_F(call_to_a_modern_child, that_waits_for_its_start_is_written_for_its_era) {
  settings.stdio.command = small_server({"modern", "slow_start"});
  start();

  const called answer = call("echo", R"({"text":"x"})");

  EXPECT_EQ(answer.text, "x") << answer.body;
  EXPECT_EQ(answer.era, era::modern);
}

TEST_F(call_to_a_modern_child, that_the_client_cancels_is_cancelled_there) {
  start_ready();
  auto stalled = call_soon("stall");
  ASSERT_TRUE(receives({"\"stall\""}));

  cancel_call("stall");

  EXPECT_EQ(stalled.get().fault, fault::cancelled);
  EXPECT_TRUE(receives({"notifications/cancelled", "the client cancelled"}));
}

TEST_F(call_to_a_modern_child, relays_progress_before_the_answer) {
  start_ready();

  const called answer = call("progress");

  ASSERT_EQ(answer.heard.size(), 3U);
  EXPECT_NE(answer.heard[0].find("\"progressToken\": " + answer.text), std::string::npos);
}

}  // namespace
}  // namespace switchgear::test
