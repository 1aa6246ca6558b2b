#include "config/document.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

std::string problem_of(const std::string& text) {
  node root;
  problem found;
  return parse(text, root, found) ? "" : to_string(found, "f");
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(a_document, knows_where_each_value_stands) {
  node root;
  problem found;
  ASSERT_TRUE(parse("a: 1\nb:\n  - x\n  - {c: 'y'}\n", root, found));
  ASSERT_EQ(root.members.size(), 2u);
  const node& list = root.members[1].value;
  EXPECT_EQ(root.members[1].line, 2);
  ASSERT_EQ(list.items.size(), 2u);
  const node* inner = list.items[1].find("c");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->text, "y");
  EXPECT_TRUE(inner->quoted);
  EXPECT_EQ(inner->line, 4);
  EXPECT_EQ(inner->column, 9);
}

TEST(a_document, may_be_json_with_tabs_escapes_and_a_byte_order_mark) {
  node root;
  problem found;
  ASSERT_TRUE(
      parse("\xEF\xBB\xBF{\n\t\"a\":\"\\u00e9\\/\\ud83d\\ude00\\\\ud83d\",\n\t\"b\":[1,null]\n}\n", root, found))
      << found.what;
  EXPECT_EQ(root.find("a")->text, "\xC3\xA9/\xF0\x9F\x98\x80\\ud83d");
  EXPECT_EQ(root.find("b")->items[1].what, node::kind::null);
}

TEST(a_document, may_be_empty) {
  node root;
  problem found;
  EXPECT_TRUE(parse("", root, found));
  EXPECT_TRUE(parse("# nothing\n", root, found));
  EXPECT_EQ(root.what, node::kind::null);
}

TEST(a_document, keeps_a_key_that_stands_twice) {
  node root;
  problem found;
  ASSERT_TRUE(parse("a: 1\na: 2\n", root, found));
  EXPECT_EQ(root.members.size(), 2u);
}

TEST(a_document, is_refused_with_anchors_aliases_tags_and_merged_documents) {
  EXPECT_EQ(problem_of("a: &x 1\n"), "f:1:4: anchors (&name) are not supported; write the value out where it is used");
  EXPECT_NE(problem_of("a: *x\n"), "");
  EXPECT_EQ(problem_of("a: !secret x\n"), "f:1:4: tags (!name) are not supported; leave the tag out");
  EXPECT_NE(problem_of("a: 1\n---\nb: 2\n").find("a second document"), std::string::npos);
  EXPECT_NE(problem_of("[a]: 1\n"), "");
}

TEST(a_document, that_would_unfold_to_gigabytes_is_refused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 8; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_NE(problem_of(bomb).find("anchors"), std::string::npos);
}

TEST(a_document, is_refused_when_it_is_too_large_too_deep_or_has_too_many_values) {
  EXPECT_NE(problem_of(std::string(most_bytes + 1, ' ')).find("larger than 4 MiB"), std::string::npos);
  EXPECT_NE(problem_of(repeated("[", 40) + repeated("]", 40)).find("levels deep"), std::string::npos);
  EXPECT_NE(problem_of(repeated("{a: ", 40) + repeated("}", 40)).find("levels deep"), std::string::npos);
  EXPECT_NE(problem_of("[" + repeated("a,", 300'000) + "]").find("more than"), std::string::npos);
  EXPECT_NE(problem_of(repeated("[", 100'000)), "");
}

TEST(a_document, is_refused_when_it_is_not_plain_utf8_text) {
  EXPECT_EQ(problem_of("a: 1\nb: \x01\n"), "f:2:4: a control character; the file must be plain UTF-8 text");
  EXPECT_EQ(problem_of(std::string("a\0b", 3)), "f:1:2: a control character; the file must be plain UTF-8 text");
  for (const char* wrong :
       {"a: \xff", "a: \xC0\x80", "a: \xED\xA0\x80", "a: \xF4\x90\x80\x80", "a: \xE2\x82", "a: \x80"}) {
    EXPECT_EQ(problem_of(wrong), "f:1:4: not valid UTF-8; the file must be plain UTF-8 text");
  }
  EXPECT_EQ(problem_of("a: \xE2\x82\xAC \xF0\x9F\x98\x80"), "");
}

TEST(a_document, with_a_syntax_error_says_where) {
  EXPECT_EQ(problem_of("a: b: c\n").substr(0, 6), "f:1:5:");
  EXPECT_EQ(problem_of("a:\n\t- x\n").substr(0, 6), "f:2:2:");
  EXPECT_NE(problem_of("{\"a\": 1"), "");
}

}  // namespace
}  // namespace switchgear::config
