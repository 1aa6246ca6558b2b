#include "app/check.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace switchgear::app {
namespace {

/// A file that is gone at the end of the test.
class file {
 public:
  explicit file(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("switchgear_check_" + std::to_string(getpid()) + ".yaml")) {
    std::ofstream(path_) << text;
  }
  ~file() { std::filesystem::remove(path_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(check, prints_what_a_right_file_comes_to) {
  const file right("upstreams: {s: {url: 'http://h/mcp', headers: {A: secret}}}\n");
  std::ostringstream out, problems;

  EXPECT_EQ(check(right.path(), out, problems), 0);

  EXPECT_EQ(problems.str(), "");
  EXPECT_NE(out.str().find("listen: \"127.0.0.1:8080\"\n"), std::string::npos);
  EXPECT_NE(out.str().find("    url: \"http://h/mcp\"\n"), std::string::npos);
  EXPECT_EQ(out.str().find("secret"), std::string::npos);
}

TEST(check, prints_every_error_and_fails) {
  const file wrong("listen: nowhere\nbreker: {}\n");
  std::ostringstream out, problems;

  EXPECT_EQ(check(wrong.path(), out, problems), 1);

  EXPECT_EQ(out.str(), "");
  EXPECT_NE(problems.str().find(wrong.path() + ":1:9: listen: \"nowhere\" is not an address"), std::string::npos);
  EXPECT_NE(problems.str().find(wrong.path() + ":2:1: breker: unknown key; did you mean `breaker`?\n"),
            std::string::npos);
}

TEST(check, prints_warnings_and_succeeds) {
  const file odd("tools: {x: {deadline: 90s}}\n");
  std::ostringstream out, problems;

  EXPECT_EQ(check(odd.path(), out, problems), 0);

  EXPECT_NE(problems.str().find(": warning: is longer than the 60s"), std::string::npos);
}

TEST(check, fails_with_one_line_for_a_file_that_is_not_there) {
  std::ostringstream out, problems;

  EXPECT_EQ(check("/nowhere.yaml", out, problems), 1);

  EXPECT_EQ(problems.str(), "/nowhere.yaml: cannot be read: No such file or directory\n");
}

}  // namespace
}  // namespace switchgear::app
