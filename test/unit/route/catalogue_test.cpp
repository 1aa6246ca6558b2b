#include "route/catalogue.hpp"

#include "protocol/tools_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::route {
namespace {

std::vector<protocol::tool> tools(std::initializer_list<std::string_view> names) {
  std::string text = R"({"tools":[)";
  for (std::string_view name : names) {
    if (text.back() != '[') text += ',';
    text.append(R"({"name":")").append(name).append(R"(","inputSchema":{"type":"object"}})");
  }
  return protocol::read_tools_page(text.append("]}"))->tools;
}

TEST(catalogue, finds_a_tool_by_its_exported_name) {
  const auto search = tools({"query", "send"}), mail = tools({"send"});
  const upstream_tools upstreams[] = {{"search", 4, search}, {"mail", 7, mail}};

  const catalogue all(upstreams, naming::prefix);

  ASSERT_EQ(all.size(), 3u);
  const entry* found = all.find("mail__send");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->upstream, 7u);
  EXPECT_EQ(found->alias, "mail");
  EXPECT_EQ(found->original, "send");
  EXPECT_EQ(found->definition, R"({"name":"mail__send","inputSchema":{"type":"object"}})");
  EXPECT_EQ(all.find("send"), nullptr);
  EXPECT_EQ(all.find(""), nullptr);
  EXPECT_TRUE(all.problems().empty());
}

TEST(catalogue, keeps_schema_and_hints) {
  const auto page = protocol::read_tools_page(
      R"({"tools":[{"name":"a","inputSchema":{},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]})");
  const upstream_tools upstreams[] = {{"up", 0, page->tools}};

  const catalogue all(upstreams, naming::prefix);

  EXPECT_EQ(all.find("up__a")->output_schema, R"({"type":"object"})");
  EXPECT_EQ(all.find("up__a")->hints.read_only, true);
}

// RC-043
TEST(catalogue, is_the_same_whatever_the_order) {
  const auto one = tools({"send", "b_send", "x.y"}), turned = tools({"x.y", "b_send", "send"}), two = tools({"send"});
  const upstream_tools forward[] = {{"a", 0, one}, {"a_b", 1, two}}, backward[] = {{"a_b", 1, two}, {"a", 0, turned}};

  const catalogue first(forward, naming::prefix), second(backward, naming::prefix);

  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(first.definitions(), second.definitions());
  EXPECT_EQ(first.find("a_b__send")->upstream, 1u);
  EXPECT_EQ(first.find("a__b_send")->original, "b_send");
}

// RC-043
TEST(catalogue, renames_nothing_when_a_tool_comes_later) {
  const auto before = tools({"a.b"}), after = tools({"a_b", "a.b", "a/b"});
  const upstream_tools early[] = {{"u", 0, before}}, late[] = {{"u", 0, after}};

  const catalogue first(early, naming::prefix), second(late, naming::prefix);

  const std::string name = first.entries()[0].name;
  ASSERT_NE(second.find(name), nullptr);
  EXPECT_EQ(second.find(name)->original, "a.b");
  EXPECT_EQ(second.size(), 3u);
}

// RC-043
TEST(catalogue, gives_no_name_away_to_a_tool_that_is_called_like_it) {
  for (const char* original : {"a.b", "zzz.b", "~"}) {
    const std::string out = exported_name(naming::prefix, "u", original);
    const std::string looks_alike = out.substr(3);
    ASSERT_EQ(exported_name(naming::prefix, "u", looks_alike), out);
    const auto both = tools({looks_alike, original});
    const upstream_tools late[] = {{"u", 0, both}};

    const catalogue all(late, naming::prefix);

    EXPECT_EQ(all.find(out)->original, original);
    EXPECT_EQ(all.size(), 1u);
    ASSERT_EQ(all.problems().size(), 1u);
    EXPECT_NE(all.problems()[0].find(looks_alike), std::string::npos);
  }
}

TEST(catalogue, leaves_out_what_is_listed_twice_and_says_so) {
  const auto twice = tools({"a", "a", "b"});
  const upstream_tools upstreams[] = {{"u", 0, twice}};

  const catalogue all(upstreams, naming::prefix);

  EXPECT_EQ(all.size(), 2u);
  ASSERT_EQ(all.problems().size(), 1u);
  EXPECT_EQ(all.problems()[0], "tool a of u is left out: it is listed twice");
}

TEST(plain_catalogue, exports_tools_under_their_own_names) {
  const auto one = tools({"a", "b"}), two = tools({"b"});
  const upstream_tools upstreams[] = {{"u", 0, one}, {"v", 1, two}};

  const catalogue all(upstreams, naming::plain);

  EXPECT_NE(all.find("a"), nullptr);
  EXPECT_EQ(all.find("b")->alias, "u");
  ASSERT_EQ(all.problems().size(), 1u);
  EXPECT_EQ(all.problems()[0], "tool b of v is left out: its name b is taken by b of u");
}

TEST(catalogue, writes_its_definitions_as_one_array) {
  const auto one = tools({"b", "a"});
  const upstream_tools upstreams[] = {{"u", 0, one}};

  EXPECT_EQ(catalogue().definitions(), "[]");
  EXPECT_EQ(catalogue({}, naming::prefix).definitions(), "[]");
  EXPECT_EQ(catalogue(upstreams, naming::prefix).definitions(),
            R"([{"name":"u__a","inputSchema":{"type":"object"}},{"name":"u__b","inputSchema":{"type":"object"}}])");
}

TEST(catalogue, still_finds_after_a_move) {
  const auto one = tools({"a"});
  const upstream_tools upstreams[] = {{"u", 0, one}};
  catalogue first(upstreams, naming::prefix);

  const catalogue second = std::move(first);

  ASSERT_NE(second.find("u__a"), nullptr);
  EXPECT_EQ(second.find("u__a")->original, "a");
}

}  // namespace
}  // namespace switchgear::route
