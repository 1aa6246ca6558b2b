#include "upstream/stdio_line.hpp"

#include "protocol/message.hpp"

#include <gtest/gtest.h>

namespace switchgear::upstream {
namespace {

std::string spliced_line(std::string_view request, std::string_view tool, std::uint64_t id) {
  buffer text;
  text.append(request);
  protocol::scratch space;
  const auto seen = protocol::peek(text.view(), space);
  return stdio_line(port::outgoing_request{.text = text.view(), .seen = &seen.value(), .target = tool, .client = {}},
                    id, protocol::era::legacy);
}

TEST(line_to_a_child, carries_our_id_token_and_the_upstreams_own_name) {
  EXPECT_EQ(spliced_line(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x__y","_meta":)"
                         R"({"progressToken":"t"},"arguments":{"id":"a"}}})",
                         "y \"quoted\"", 17),
            R"({"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"y \"quoted\"","_meta":)"
            R"({"progressToken":17},"arguments":{"id":"a"}}})"
            "\n");
}

TEST(id_of_a_cut_response, is_found_at_the_start) {
  EXPECT_EQ(id_at_start(R"({"jsonrpc":"2.0","id":12,"result":{"content":[{"ty)"), 12U);
  EXPECT_EQ(id_at_start(R"( { "id" : 12 , "jsonrpc")"), 12U);
}

TEST(id_of_a_cut_response, is_not_guessed_from_the_start) {
  EXPECT_FALSE(id_at_start(R"({"result":{"id":12,)"));
  EXPECT_FALSE(id_at_start(R"({"jsonrpc":"2.0","id":12)"));  // perhaps 123
  EXPECT_FALSE(id_at_start(R"({"jsonrpc":"2.0","id":"12","x":1)"));
  EXPECT_FALSE(id_at_start(R"({"a\"":1,"id":12,)"));
  EXPECT_FALSE(id_at_start(""));
}

TEST(id_of_a_cut_response, is_found_at_the_end) {
  EXPECT_EQ(id_at_end("xxx\"}]},\"jsonrpc\":\"2.0\",\"id\":7}"), 7U);
  EXPECT_EQ(id_at_end("xxx\"}]} , \"id\": 7 }\r"), 7U);
}

TEST(id_of_a_cut_response, is_not_guessed_from_the_end) {
  EXPECT_FALSE(id_at_end(R"(xx","id":7}})"));
  EXPECT_FALSE(id_at_end(R"(x], "id":7})"));
  EXPECT_FALSE(id_at_end(R"(}, \"id\":9","id":7})"));
  EXPECT_FALSE(id_at_end("}"));
  EXPECT_FALSE(id_at_end(""));
}

TEST(ends_of_an_over_limit_line, tell_its_call_when_the_line_is_over) {
  stdio_line_ends ends;
  std::optional<std::uint64_t> owner;

  EXPECT_FALSE(ends.piece_read(R"({"jsonrpc":"2.0","id":4,"result":{"x":")", owner));
  ends.too_large();
  EXPECT_FALSE(ends.piece_read(std::string(1000, 'x'), owner));
  EXPECT_TRUE(ends.piece_read("xx\"}}\n{\"jsonrpc\":\"2.0\",\"id\":5", owner));

  EXPECT_EQ(owner, 4U);
}

TEST(ends_of_an_over_limit_line, are_joined_across_pieces) {
  stdio_line_ends ends;
  std::optional<std::uint64_t> owner;

  EXPECT_FALSE(ends.piece_read("{\"resu", owner));
  EXPECT_FALSE(ends.piece_read("lt\":{\"x\":\"", owner));
  ends.too_large();
  EXPECT_FALSE(ends.piece_read("xxxx\"},\"id", owner));
  EXPECT_TRUE(ends.piece_read("\":44}\n", owner));

  EXPECT_EQ(owner, 44U);
}

}  // namespace
}  // namespace switchgear::upstream
