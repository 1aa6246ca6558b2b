#include "protocol/rewrite.hpp"

#include "base/buffer.hpp"

#include <gtest/gtest.h>

namespace switchgear::protocol {
namespace {

std::string request(std::string_view text, era from, const request_rewriting& with) {
  buffer padded;
  padded.append(text);
  scratch space;
  const auto seen = peek(padded.view(), space);
  EXPECT_TRUE(seen) << text;
  rewritten out;
  rewrite_request(padded.view(), *seen, from, with, out);
  const std::string made = joined(out.pieces);
  EXPECT_TRUE(peek(made, space)) << made;
  return made;
}

std::string response(std::string_view text, era from, era to, std::string_view method = "tools/call",
                     std::string_view state = {}) {
  scratch space;
  const auto seen = peek(text, space);
  EXPECT_TRUE(seen) << text;
  std::string fresh;
  parts out;
  rewrite_response(text, *seen, {.from = from, .to = to, .id = R"("c")", .method = method, .request_state = state},
                   fresh, out);
  const std::string made = joined(out);
  EXPECT_TRUE(peek(made, space)) << made;
  return made;
}

const std::string ours =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"switchgear",)"
    R"("version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":)";

TEST(a_request, keeps_every_byte_between_legacy_peers_but_for_id_name_and_token) {
  EXPECT_EQ(request(R"({"id":"a","jsonrpc":"2.0", "method":"tools/call","params":{"name":"x__y","x":1.0,)"
                    R"("_meta":{"progressToken":"t","k":[1]}}})",
                    era::legacy, {.id = "7", .target = "y", .progress_token = "7"}),
            R"({"id":7,"jsonrpc":"2.0", "method":"tools/call","params":{"name":"y","x":1.0,)"
            R"("_meta":{"progressToken":7,"k":[1]}}})");
}

TEST(a_request, says_to_a_modern_server_who_asks_and_what_it_may_be_asked) {
  client_abilities can;
  can.roots = true;
  EXPECT_EQ(
      request(
          R"({"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"k":1, "progressToken":"t"},"name":"y"}})",
          era::legacy,
          {.id = "7", .progress_token = "7", .to = era::modern, .abilities = can, .log_level = R"("info")"}),
      R"({"id":7,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"k":1,"progressToken":7,)" + ours +
          R"({"roots":{}},"io.modelcontextprotocol/logLevel":"info"},"name":"y"}})");
}

TEST(a_request, gets_params_and_meta_where_it_has_none) {
  EXPECT_EQ(request(R"({"id":1,"jsonrpc":"2.0","method":"x"})", era::legacy, {.id = "7", .to = era::modern}),
            R"({"params":{"_meta":{)" + ours + R"({}}},"id":7,"jsonrpc":"2.0","method":"x"})");
  EXPECT_EQ(
      request(R"({"id":1,"jsonrpc":"2.0","method":"x","params":{ }})", era::legacy, {.id = "7", .to = era::modern}),
      R"({"id":7,"jsonrpc":"2.0","method":"x","params":{"_meta":{)" + ours + R"({}} }})");
}

TEST(a_request, does_not_tell_a_legacy_server_of_the_modern_era) {
  EXPECT_EQ(request(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"y","_meta":{)"
                    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-1",)"
                    R"("io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/other":2}}})",
                    era::modern, {.id = "7"}),
            R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"y","_meta":{)"
            R"("traceparent":"00-1","io.modelcontextprotocol/other":2}}})");
}

TEST(a_request, passes_between_modern_peers_as_it_is) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"y","requestState":"old",)"
                           R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}}})";
  EXPECT_EQ(
      request(text, era::modern, {.id = "7", .progress_token = "9", .to = era::modern, .request_state = R"("s")"}),
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"y","requestState":"s",)"
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":9}}})");
}

TEST(a_request, carries_the_answers_that_were_collected_for_it) {
  EXPECT_EQ(request(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"y"}})", era::legacy,
                    {.id = "7", .to = era::modern, .request_state = R"("s")", .input_responses = R"({"a":{}})"}),
            R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{)" + ours +
                R"({}},"inputResponses":{"a":{}},"requestState":"s","name":"y"}})");
}

TEST(a_result, of_a_legacy_server_gets_what_modern_clients_need) {
  EXPECT_EQ(response(R"({"jsonrpc":"2.0","id":3,"result":{"content":[]}})", era::legacy, era::modern),
            R"({"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","content":[]}})");
  EXPECT_EQ(response(R"({"jsonrpc":"2.0","id":3,"result":{ }})", era::legacy, era::modern),
            R"({"jsonrpc":"2.0","id":"c","result":{"resultType":"complete" }})");
  EXPECT_EQ(
      response(R"({"jsonrpc":"2.0","id":3,"result":{"contents":[]}})", era::legacy, era::modern, "resources/read"),
      R"({"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}})");
}

TEST(a_result, stays_as_it_is_where_both_speak_the_same_era) {
  for (const era both : {era::legacy, era::modern}) {
    EXPECT_EQ(response(R"({"result":{"resultType":"complete","x":1.0},"jsonrpc":"2.0","id":3})", both, both),
              R"({"result":{"resultType":"complete","x":1.0},"jsonrpc":"2.0","id":"c"})");
  }
}

TEST(a_result, of_a_modern_server_does_not_tell_legacy_clients_who_served_it) {
  const std::string info = R"("io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"})";
  const auto result = [](const std::string& members) {
    return R"({"jsonrpc":"2.0","id":"c","result":{)" + members + "}}";
  };
  const std::pair<std::string, std::string> cases[] = {
      {R"("_meta":{)" + info + R"(},"a":1)", R"("a":1)"},
      {R"("a":1, "_meta": { )" + info + " }", R"("a":1)"},
      {R"("_meta":{)" + info + "}", ""},
      {R"("_meta":{)" + info + R"(,"k":1},"a":1)", R"("_meta":{"k":1},"a":1)"},
      {R"("_meta":{"k":1,)" + info + R"(},"a":1)", R"("_meta":{"k":1},"a":1)"},
      {R"("_meta":{"k":1},"a":1)", R"("_meta":{"k":1},"a":1)"},
      {R"("a":{"_meta":{)" + info + "}}", R"("a":{"_meta":{)" + info + "}}"}};
  for (const auto& [before, after] : cases) {
    EXPECT_EQ(response(result(before), era::modern, era::legacy), result(after));
    EXPECT_EQ(response(result(before), era::modern, era::modern), result(before));
  }
}

TEST(a_result, carries_another_state_where_it_has_one) {
  EXPECT_EQ(response(R"({"jsonrpc":"2.0","id":3,"result":{"requestState":"in","resultType":"input_required"}})",
                     era::modern, era::modern, "tools/call", R"("out")"),
            R"({"jsonrpc":"2.0","id":"c","result":{"requestState":"out","resultType":"input_required"}})");
}

TEST(an_error, about_a_missing_resource_has_the_code_of_the_clients_era) {
  const std::string text = R"({"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"no"}})";
  EXPECT_EQ(response(text, era::legacy, era::modern, "resources/read"),
            R"({"jsonrpc":"2.0","id":"c","error":{"code":-32602,"message":"no"}})");
  EXPECT_EQ(response(text, era::legacy, era::legacy, "resources/read"),
            R"({"jsonrpc":"2.0","id":"c","error":{"code":-32002,"message":"no"}})");
}

}  // namespace
}  // namespace switchgear::protocol
