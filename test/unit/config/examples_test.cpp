// The examples are right, what they come to reads back, and nothing that is made of their pieces does harm.
#include "config/effective.hpp"
#include "config/reference.hpp"
#include "reading.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace switchgear::config {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(SWITCHGEAR_EXAMPLES)) {
    const auto extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".json") all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(every_example, is_right_and_raises_no_warning) {
  ASSERT_GE(examples().size(), 5u);
  for (const auto& path : examples()) {
    const reading made = test::read(content(path));
    EXPECT_TRUE(made.gateway) << path << '\n' << test::joined(test::lines(made.errors));
    EXPECT_EQ(test::joined(test::lines(made.warnings)), "") << path;
  }
}

TEST(the_effective_values, read_back_to_themselves) {
  for (const auto& path : examples()) {
    const reading made = test::read(content(path));
    ASSERT_TRUE(made.gateway);
    const std::string text = effective_yaml(made);
    const reading again = test::read(text);
    ASSERT_TRUE(again.gateway) << text << test::joined(test::lines(again.errors));
    EXPECT_EQ(effective_yaml(again), text);
    EXPECT_EQ(again.gateway->upstreams.size(), made.gateway->upstreams.size());
    EXPECT_EQ(again.gateway->policy_for("search__query").fallback.steps.size(),
              made.gateway->policy_for("search__query").fallback.steps.size());
  }
}

TEST(the_effective_values, hold_no_secret) {
  const reading made = test::read(
      "upstreams:\n"
      "  a: {url: 'https://h/mcp?key=hidden1', headers: {Authorization: 'Bearer hidden2'}}\n"
      "  b: {command: [prog, --token, '${TOKEN}'], env: {KEY: hidden3}}\n",
      {{"TOKEN", "hidden4"}});
  ASSERT_TRUE(made.gateway);

  const std::string text = effective_yaml(made);

  EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
  EXPECT_NE(text.find("Authorization: \"***\""), std::string::npos) << text;
  EXPECT_NE(text.find("command: [prog, \"--token\", \"${TOKEN}\"]"), std::string::npos) << text;
}

/// Damages a text the way a slip of the hand, a bad merge or an attacker would.
std::string damaged(std::string text, const std::vector<std::string>& all, std::mt19937& chance) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : chance() % limit; };
  static constexpr std::string_view pieces[] = {"{",
                                                "}",
                                                "[",
                                                "]",
                                                ":",
                                                ": ",
                                                ",",
                                                "\n",
                                                "  ",
                                                "- ",
                                                "\"",
                                                "'",
                                                "#",
                                                "&a ",
                                                "*a",
                                                "!t ",
                                                "|\n",
                                                ">",
                                                "${",
                                                "}}",
                                                "{{",
                                                "%",
                                                "0",
                                                "-1",
                                                "1e99",
                                                "\t",
                                                "\\",
                                                "\\u",
                                                "~",
                                                "null",
                                                "? ",
                                                "---\n",
                                                "...\n",
                                                "<<: ",
                                                "\xff",
                                                "\x00",
                                                "\xEF\xBB\xBF",
                                                "999999999999999999999",
                                                "inf",
                                                "nan"};
  for (std::size_t times = 1 + below(4); times > 0; --times) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, pieces[below(std::size(pieces))]);
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 3: {
        const std::string& other = all[below(all.size())];
        const std::size_t from = below(other.size());
        text.insert(at, other.substr(from, 1 + below(80)));
        break;
      }
      default:
        text.resize(at);
    }
  }
  return text;
}

TEST(a_damaged_example, is_read_or_refused_and_never_does_harm) {
  std::vector<std::string> all;
  for (const auto& path : examples()) all.push_back(content(path));
  const unsigned seed = 20'260'101;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 chance(seed);
  unsigned refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = damaged(all[chance() % all.size()], all, chance);
    const reading made = test::read(text);
    ASSERT_EQ(made.gateway.has_value(), made.errors.empty()) << text;
    for (const std::string& line : test::lines(made.errors)) {
      ASSERT_EQ(line.find('\n'), std::string::npos) << text;
      ASSERT_LT(line.size(), 2000u) << text;
    }
    if (!made.gateway) {
      ++refused;
      continue;
    }
    const std::string effective = effective_yaml(made);
    ASSERT_FALSE(effective.empty());
  }
  EXPECT_GT(refused, 1000u);
}

TEST(the_reference, is_what_the_tables_say) {
  const std::filesystem::path path = std::filesystem::path(SWITCHGEAR_DOCS) / "configuration.md";
  const std::string begin = "<!-- keys: made from the tables in src/config -->\n";
  const std::string end = "<!-- end of keys -->\n";
  std::string text = content(path);
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);

  const std::string wanted = "\n" + reference_tables();

  if (std::getenv("SWITCHGEAR_UPDATE_DOCS") != nullptr) {
    text.replace(from + begin.size(), to - from - begin.size(), wanted);
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()), wanted)
      << "run unit_config with SWITCHGEAR_UPDATE_DOCS=1 to write docs/configuration.md anew";
}

}  // namespace
}  // namespace switchgear::config
