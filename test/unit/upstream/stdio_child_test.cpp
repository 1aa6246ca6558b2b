// A child's life: started, listed, restarted, ended, with nothing left behind (RC-052).
#include "unit/upstream/stdio_fixture.hpp"
#include "upstream/child_process.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

namespace switchgear::test {
namespace {

using namespace std::chrono_literals;
using port::fault;
using port::upstream_state;

class child_of_the_gateway : public stdio_fixture {
 protected:
  upstream_state state() { return upstream().status().state; }
  bool becomes(upstream_state wanted, duration limit = 10s) {
    return until([&] { return state() == wanted; }, limit);
  }
};

// Gone, or a zombie: what an orphan becomes until the init process of a container gets to it.
bool process_is_gone(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos || text[name_end + 2] == 'Z';
}

// Is there a child that has ended and was not reaped?
bool has_zombie() {
  siginfo_t seen{};
  return ::waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid != 0;
}

TEST_F(child_of_the_gateway, tells_its_tools_version_and_name) {
  settings.stdio.command = small_server({"paged"});
  start_ready();

  ASSERT_EQ(observed.lists().size(), 1U);
  ASSERT_EQ(observed.lists()[0].tools.size(), 2U);
  EXPECT_NE(observed.lists()[0].tools[0].find("\"echo\""), std::string::npos);
  EXPECT_NE(observed.lists()[0].tools[1].find("\"stall\""), std::string::npos);
  EXPECT_EQ(upstream().status().protocol_version, "2025-11-25");
  EXPECT_EQ(upstream().status().server_name, "small");
  ASSERT_EQ(observed.states().size(), 1U);
}

TEST_F(child_of_the_gateway, is_asked_again_when_it_says_that_its_tools_changed) {
  start_ready();
  EXPECT_EQ(call("announce").text, "announced");

  ASSERT_TRUE(until([&] { return observed.lists().size() == 2; }));
  EXPECT_NE(observed.lists()[1].tools[0].find("\"extra\""), std::string::npos);
}

TEST_F(child_of_the_gateway, is_asked_for_its_tools_again_after_the_refresh_time) {
  settings.refresh = 50ms;
  start_ready();

  EXPECT_TRUE(until([&] { return observed.lists().size() >= 3; }));
}

TEST_F(child_of_the_gateway, gets_the_configured_environment_directory_and_no_descriptor_of_ours) {
  settings.stdio.environment = {{"SMALL_TOKEN", "abc"}};
  settings.stdio.directory = "/usr";
  start_ready();

  EXPECT_EQ(call("environment", R"({"name":"SMALL_TOKEN"})").text, "abc in /usr");
  EXPECT_NE(call("environment", R"({"name":"PATH"})").text, " in /usr");
  EXPECT_EQ(call("descriptors").text, "0 1 2");
}

TEST_F(child_of_the_gateway, may_be_limited) {
  settings.stdio.memory_limit = 512 * 1024 * 1024;
  settings.stdio.open_files = 64;
  start_ready();

  EXPECT_EQ(call("limits").text, "[[536870912, 536870912], [64, 64]]");
}

TEST_F(child_of_the_gateway, whose_command_does_not_exist_is_one_clear_reason) {
  settings.stdio.command = {"/nonexistent/tool-server"};
  start();
  ASSERT_TRUE(becomes(upstream_state::degraded));

  const called answer = call("echo");

  EXPECT_EQ(answer.fault, fault::start_failed);
  EXPECT_FALSE(answer.sent);
  EXPECT_EQ(answer.detail, "command \"/nonexistent/tool-server\" cannot be started: No such file or directory");
  EXPECT_EQ(observed.states().size(), 1U);
}

TEST_F(child_of_the_gateway, whose_directory_does_not_exist_is_another_clear_reason) {
  settings.stdio.directory = "/nonexistent";
  start();
  ASSERT_TRUE(becomes(upstream_state::degraded));

  EXPECT_EQ(upstream().status().reason, "working directory \"/nonexistent\" is no directory");
}

TEST_F(child_of_the_gateway, that_exits_at_once_is_not_started_in_a_loop) {
  settings.stdio.command = small_server({"exit_at_once"});
  start();
  ASSERT_TRUE(becomes(upstream_state::degraded));
  EXPECT_EQ(upstream().status().reason, "the child exited with status 7; its last words: no licence found");

  // The first was asked for its era, and might have ended for that: the second comes at once.
  ASSERT_TRUE(until([&] { return upstream().counted().starts == 4; }));
  const auto fourth = std::chrono::steady_clock::now();
  ASSERT_TRUE(until([&] { return upstream().counted().starts == 5; }));

  EXPECT_GT(std::chrono::steady_clock::now() - fourth, 1400ms);
  const called answer = call("echo");
  EXPECT_EQ(answer.fault, fault::not_ready);
  EXPECT_LT(answer.took, 1s);
  EXPECT_FALSE(has_zombie());
}

TEST_F(child_of_the_gateway, that_speaks_no_revision_of_ours_is_degraded) {
  settings.stdio.command = small_server({"old_revision"});
  start();
  ASSERT_TRUE(becomes(upstream_state::degraded));

  EXPECT_EQ(upstream().status().reason, "it speaks MCP revision 1999-01-01, and we speak up to 2025-11-25");
}

TEST_F(child_of_the_gateway, that_never_answers_initialize_is_degraded_after_the_handshake_timeout) {
  settings.stdio.command = {"sleep", "600"};
  settings.handshake_timeout = 100ms;
  start();
  ASSERT_TRUE(becomes(upstream_state::degraded));

  EXPECT_EQ(upstream().status().reason, "no answer to initialize in 100 ms");
}

TEST_F(child_of_the_gateway, that_is_killed_comes_back) {
  start_ready();
  const int pid = std::stoi(call("pid").text);

  ::kill(pid, SIGKILL);

  ASSERT_TRUE(becomes(upstream_state::degraded));
  EXPECT_EQ(upstream().status().reason, "the child was ended by signal 9 (Killed)");
  ASSERT_TRUE(becomes(upstream_state::ready));
  EXPECT_NE(call("pid").text, std::to_string(pid));
  EXPECT_FALSE(has_zombie());
}

TEST_F(child_of_the_gateway, ends_when_its_stdin_is_closed) {
  start_ready();
  const int pid = std::stoi(call("pid").text);

  EXPECT_LT(stop(), 1s);

  EXPECT_TRUE(process_is_gone(pid));
  EXPECT_FALSE(has_zombie());
}

TEST_F(child_of_the_gateway, that_ignores_eof_and_sigterm_is_killed_with_its_grandchild) {
  settings.stdio.command = small_server({"ignore_eof", "grandchild"});
  start_ready();
  const int pid = std::stoi(call("pid").text);
  int grandchild = 0;
  ASSERT_TRUE(until([&] {
    for (const std::string& line : observed.remarks()) {
      if (line.starts_with("grandchild ")) grandchild = std::stoi(line.substr(11));
    }
    return grandchild != 0;
  }));

  const duration took = stop();

  EXPECT_GT(took, 3900ms);
  EXPECT_LT(took, 5s);
  EXPECT_TRUE(process_is_gone(pid));
  EXPECT_TRUE(until([&] { return process_is_gone(grandchild); }, 1s));
}

TEST_F(child_of_the_gateway, that_is_starting_does_not_hold_up_the_end) {
  settings.stdio.command = {"sleep", "600"};
  start();
  ASSERT_TRUE(until([&] { return upstream().counted().starts == 1; }));

  EXPECT_LT(stop(), 3s);  // SIGTERM ends it
}

TEST_F(child_of_the_gateway, leaves_calls_in_flight_lost_when_the_gateway_stops) {
  start_ready();
  auto stalled = call_soon("stall");
  ASSERT_TRUE(until([&] { return call("received").text.find("\\\"stall\\\"") != std::string::npos; }));

  stop();

  EXPECT_EQ(stalled.get().fault, fault::lost);
  EXPECT_EQ(call("echo").fault, fault::not_ready);
}

TEST(children_started_and_ended_many_times, leave_no_descriptor_behind) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  boost::asio::io_context io;
  std::string why;
  port::stdio_upstream_settings settings;
  settings.command = {"cat"};
  {
    auto warm = upstream::child_process::start(io, settings, why);
  }
  const auto before = descriptors();

  for (int round = 0; round < 200; ++round) ASSERT_TRUE(upstream::child_process::start(io, settings, why)) << why;

  EXPECT_EQ(descriptors(), before);
  EXPECT_FALSE(has_zombie());
}

}  // namespace
}  // namespace switchgear::test
