#include "app/arguments.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace switchgear::app {
namespace {

arguments parse(std::vector<const char*> words) {
  words.insert(words.begin(), "switchgear");
  return parse_arguments(static_cast<int>(words.size()), words.data());
}

/// What is said about a wrong command line: one line, exit code 2.
std::string fault(std::vector<const char*> words) {
  const arguments made = parse(std::move(words));
  EXPECT_EQ(made.command, command::nothing);
  EXPECT_EQ(made.exit_code, exit_usage);
  EXPECT_TRUE(made.text.starts_with("switchgear: ")) << made.text;
  EXPECT_EQ(made.text.find('\n'), made.text.size() - 1) << made.text;
  return made.text;
}

TEST(the_command_line, of_serve_takes_a_file_and_what_overrides_it) {
  const arguments made =
      parse({"serve", "g.yaml", "--listen", "0.0.0.0:80", "--admin=[::1]:81", "--state", "memory", "--threads", "2"});
  EXPECT_EQ(made.command, command::serve);
  EXPECT_EQ(made.file, "g.yaml");
  EXPECT_EQ(made.listen, "0.0.0.0:80");
  EXPECT_EQ(made.admin, "[::1]:81");
  EXPECT_EQ(made.state, "memory");
  EXPECT_EQ(made.threads, 2u);
}

TEST(the_command_line, leaves_unset_what_was_not_given) {
  const arguments made = parse({"serve"});
  EXPECT_EQ(made.command, command::serve);
  EXPECT_EQ(made.file, "");
  EXPECT_FALSE(made.listen || made.admin || made.state || made.threads);
}

TEST(the_command_line, knows_demo_check_and_status) {
  EXPECT_EQ(parse({"demo"}).command, command::demo);
  EXPECT_FALSE(parse({"demo"}).once);
  EXPECT_TRUE(parse({"demo", "--once"}).once);
  EXPECT_EQ(parse({"check", "a.yaml"}).command, command::check);
  EXPECT_EQ(parse({"check", "a.yaml"}).file, "a.yaml");
  EXPECT_EQ(parse({"status"}).command, command::status);
  EXPECT_EQ(parse({"status", "--admin", "127.0.0.1:99"}).admin, "127.0.0.1:99");
}

TEST(the_command_line, says_its_version_and_what_there_is) {
  for (const auto& words :
       {std::vector<const char*>{"--version"}, {"--help"}, {"-h"}, {"help"}, {"serve", "--help"}, {"help", "serve"}}) {
    const arguments made = parse(words);
    EXPECT_EQ(made.command, command::nothing);
    EXPECT_EQ(made.exit_code, exit_ok) << words[0];
    EXPECT_FALSE(made.text.empty());
  }
  EXPECT_TRUE(parse({"--version"}).text.starts_with("switchgear 0."));
  EXPECT_NE(parse({"help"}).text.find("status"), std::string::npos);
  EXPECT_NE(parse({"help", "serve"}).text.find("--threads"), std::string::npos);
  EXPECT_EQ(parse({"help", "serve"}).text, parse({"serve", "--help"}).text);
}

TEST(a_wrong_command_line, is_one_clear_line_and_exit_code_2) {
  fault({});
  EXPECT_NE(fault({"sevre"}).find("there is no command \"sevre\"; \"serve\" is near"), std::string::npos);
  fault({"serve", "a", "b"});
  fault({"serve", "--frobnicate"});
  fault({"check"});
  fault({"demo", "--once=maybe"});
  fault({"status", "extra"});
  EXPECT_NE(fault({"help", "sevre"}).find("no command \"sevre\""), std::string::npos);
  EXPECT_NE(fault({"serve", "--listen", "nowhere"}).find("write IP:PORT"), std::string::npos);
  EXPECT_NE(fault({"serve", "--listen", "127.0.0.1:70000"}).find("write IP:PORT"), std::string::npos);
  EXPECT_NE(fault({"serve", "--threads", "-1"}).find("threads"), std::string::npos);
  EXPECT_NE(fault({"serve", "--threads", "99999"}).find("0 to 1024"), std::string::npos);
  EXPECT_NE(fault({"serve", "--state", "etcd://h"}).find("is not known"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::app
