#include "observe/log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace switchgear::observe {
namespace {

class log_file : public testing::Test {
 protected:
  log_file() : path_(std::filesystem::temp_directory_path() / ("switchgear_log_test_" + std::to_string(getpid()))) {}
  ~log_file() override { std::filesystem::remove(path_); }

  std::string written() const {
    std::ifstream file(path_);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::filesystem::path path_;
};

TEST(event_line, writes_plain_values_as_they_are) {
  EXPECT_EQ(event_line("transition", {{"scope", "search__query"}, {"generation", "4"}}),
            "transition scope=search__query generation=4");
}

TEST(event_line, quotes_values_that_a_reader_could_misread) {
  EXPECT_EQ(event_line("x", {{"a", "two words"}, {"b", ""}, {"c", R"(say "no")"}, {"d", "k=v"}, {"e", R"(C:\dir)"}}),
            R"(x a="two words" b="" c="say \"no\"" d="k=v" e="C:\\dir")");
}

TEST(event_line, keeps_a_hostile_value_on_its_line) {
  const std::string line = event_line("x", {{"reason", "down\r\n2026-01-01 error forged=1\x1b[31m"}});

  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\r'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(line, R"(x reason="down\x0d\n2026-01-01 error forged=1\x1b[31m")");
}

TEST(event_line, cuts_a_long_value_between_characters) {
  std::string value(299, 'a');
  value += "\xc3\xa9";  // its second byte would be number 301

  EXPECT_EQ(event_line("x", {{"v", value}}), "x v=\"" + std::string(299, 'a') + "...\"");
  EXPECT_EQ(event_line("x", {{"v", std::string(300, 'b')}}), "x v=" + std::string(300, 'b'));
}

TEST(event_line, survives_a_value_of_continuation_bytes_only) {
  EXPECT_EQ(event_line("x", {{"v", std::string(1000, '\x80')}}), "x v=\"...\"");
}

TEST_F(log_file, holds_every_line_once_the_log_has_ended) {
  {
    log events(level::info, path_.string());
    for (int i = 0; i < 100; ++i) events.event(level::info, "tick", {{"n", std::to_string(i)}});
    EXPECT_EQ(events.dropped(), 0u);
  }

  const std::string text = written();
  EXPECT_NE(text.find("info tick n=0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("info tick n=99\n"), std::string::npos) << text;
}

TEST_F(log_file, leaves_out_what_is_below_its_level) {
  {
    log events(level::warning, path_.string());
    EXPECT_FALSE(events.enabled(level::info));
    events.event(level::info, "quiet");
    events.event(level::warning, "loud");
  }

  const std::string text = written();
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find("loud"), std::string::npos);
}

TEST_F(log_file, stays_empty_when_the_level_is_off) {
  {
    log events(level::off, path_.string());
    EXPECT_FALSE(events.enabled(level::error));
    events.event(level::error, "anything");
  }

  EXPECT_EQ(written(), "");
}

TEST_F(log_file, takes_lines_that_look_like_format_strings) {
  {
    log events(level::info, path_.string());
    events.event(level::info, "odd", {{"text", "{} {0} %n %s"}});
  }

  EXPECT_NE(written().find("{} {0} %n %s"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::observe
