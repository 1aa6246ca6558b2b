#include "protocol/text.hpp"

#include "protocol/errc.hpp"
#include "protocol/errors.hpp"
#include "protocol/message.hpp"
#include "protocol/results.hpp"
#include "protocol/version.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace switchgear::protocol {
namespace {

TEST(quoted_text, says_the_same_when_it_is_read_again) {
  for (std::string text : {std::string(), std::string("plain"), std::string("\"\\/\b\f\n\r\t\x01\x1f\x7f"),
                           std::string("\0x", 2), std::string("ünï \xf0\x9f\x98\x80"), std::string("\xe2\x80\xa8")}) {
    const auto again = unquoted(protocol::quoted(text));
    ASSERT_TRUE(again) << protocol::quoted(text);
    EXPECT_EQ(*again, text);
  }
}

TEST(quoted_text, is_valid_whatever_bytes_came_in) {
  EXPECT_EQ(protocol::quoted("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(protocol::quoted("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");                  // overlong
  EXPECT_EQ(protocol::quoted("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // surrogate
  EXPECT_EQ(protocol::quoted("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");                  // cut short
  EXPECT_EQ(protocol::quoted("\xf4\x90\x80\x80").find("\xf4"), std::string::npos);          // above U+10FFFF
}

TEST(unquoted_text, refuses_what_is_no_string) {
  for (std::string_view token : {"", "x", "1", "\"", R"("a)", R"("\u12")", R"("\x")", R"("a"b)", "\"a\nb\""}) {
    EXPECT_FALSE(unquoted(token)) << token;
  }
}

TEST(one_line, drops_breaks_between_tokens_only) {
  std::string space;
  EXPECT_EQ(one_line("{\r\n  \"a\": \"x\\ny\"\n}", space), R"({  "a": "x\ny"})");
  const std::string_view plain = R"({"a":1})";
  EXPECT_EQ(one_line(plain, space).data(), plain.data());
}

TEST(one_line, joins_a_message_in_pieces_only_if_it_must) {
  std::string space;
  parts whole{"{\"a\":", "1}"}, broken{"{\"a\":\n", "1}"};

  one_line(whole, space);
  one_line(broken, space);

  EXPECT_EQ(whole.size(), 2u);
  EXPECT_EQ(joined(broken), R"({"a":1})");
}

TEST(head, never_cuts_a_character) {
  EXPECT_EQ(head("abc", 5), "abc");
  EXPECT_EQ(head("abc", 2), "ab");
  EXPECT_EQ(head("a\xc3\xbc", 2), "a");
  EXPECT_EQ(head("\xf0\x9f\x98\x80z", 3), "");
  EXPECT_EQ(head("\xf0\x9f\x98\x80z", 4), "\xf0\x9f\x98\x80");
}

TEST(written_error, carries_id_code_message_and_data) {
  EXPECT_EQ(write_error("\"a\"", code::open, "say \"no\"", R"({"retry_after_ms":1})"),
            R"({"jsonrpc":"2.0","id":"a","error":{"code":-31001,"message":"say \"no\"","data":{"retry_after_ms":1}}})");
  EXPECT_EQ(write_error(no_id, code::parse_error, "x"),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}})");
}

TEST(own_codes, lie_outside_the_range_that_json_rpc_keeps) {
  for (auto own : {code::open, code::deadline, code::overloaded, code::unreachable, code::outcome_unknown, code::denied,
                   code::throttled, code::too_large}) {
    EXPECT_GT(own, -32000);
  }
}

// RC-031: an error has the request's id wherever it can be read, and null where not.
TEST(refusal, has_the_id_of_the_request) {
  const auto id_of_refusal = [](std::string_view text) {
    scratch space, again;
    const auto seen = peek(text, space);
    const std::string answer = write_refusal(text, seen.error());
    return std::string(peek(answer, again)->id.in(answer));
  };
  EXPECT_EQ(id_of_refusal(R"({"jsonrpc":"1.0","id":9007199254740993,"method":"m"})"), "9007199254740993");
  EXPECT_EQ(id_of_refusal(R"({"jsonrpc":"2.0","id":"","method":5})"), R"("")");
  EXPECT_EQ(id_of_refusal(R"({"jsonrpc":"2.0","id":0,"method":"m","params":[]})"), "0");
  EXPECT_EQ(id_of_refusal(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})"), "null");
  EXPECT_EQ(id_of_refusal(R"({"jsonrpc":"2.0","id":1,"method":"m")"), "null");
  EXPECT_EQ(id_of_refusal(R"({"jsonrpc":"2.0","id":{},"method":"m"})"), "null");
  EXPECT_EQ(id_of_refusal("[]"), "null");
}

TEST(refusal, has_the_code_that_json_rpc_names) {
  EXPECT_EQ(refusal_code(errc::not_json), -32700);
  EXPECT_EQ(refusal_code(errc::batch), -32600);
  EXPECT_EQ(refusal_code(errc::duplicate_member), -32600);
  EXPECT_EQ(refusal_code(errc::bad_params), -32602);
}

TEST(reasons, have_a_sentence_each) {
  for (int value = 1; value <= static_cast<int>(errc::bad_schema); ++value) {
    EXPECT_NE(error_code(static_cast<errc>(value)).message(), "unknown") << value;
  }
}

TEST(written_result, is_a_whole_response) {
  EXPECT_EQ(write_result("7", empty_result), R"({"jsonrpc":"2.0","id":7,"result":{}})");
  EXPECT_EQ(write_result("\"x\"", tools_list_result("[]")), R"({"jsonrpc":"2.0","id":"x","result":{"tools":[]}})");
}

TEST(initialize_result, names_us_and_says_what_is_offered) {
  EXPECT_EQ(initialize_result("2025-11-25", {.server = {.name = "switchgear", .version = "0.1.0", .title = {}},
                                             .capabilities = R"({"tools":{}})",
                                             .instructions = {}}),
            R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
            R"("serverInfo":{"name":"switchgear","version":"0.1.0"}})");
  EXPECT_NE(initialize_result("2025-11-25", {{.name = "a", .version = "1", .title = "T"}, "{}", "Read \"me\"."})
                .find(R"("instructions":"Read \"me\".")"),
            std::string::npos);
}

TEST(discover_result, names_every_revision_and_the_newest_first) {
  EXPECT_EQ(discover_result({{.name = "a", .version = "1", .title = {}}, R"({"tools":{}})", "Read me."}),
            R"({"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],)"
            R"("capabilities":{"tools":{}},"instructions":"Read me.","ttlMs":0,"cacheScope":"private",)"
            R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"}}})");
}

TEST(unsupported_version, names_what_is_served_and_what_was_asked_for) {
  EXPECT_EQ(write_unsupported_version("7", "v999"),
            R"({"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"Unsupported protocol version","data":)"
            R"({"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],"requested":"v999"}}})");
}

TEST(version, is_echoed_if_we_speak_it_and_ours_if_not) {
  EXPECT_EQ(negotiate("2025-03-26"), "2025-03-26");
  EXPECT_EQ(negotiate("2025-06-18"), "2025-06-18");
  EXPECT_EQ(negotiate("2025-11-25"), "2025-11-25");
  EXPECT_EQ(negotiate("2024-11-05"), "2025-11-25");
  EXPECT_EQ(negotiate(""), "2025-11-25");
  EXPECT_EQ(negotiate("2026-07-28"), "2025-11-25");
}

TEST(version, belongs_to_an_era) {
  EXPECT_EQ(era_of("2025-03-26"), era::legacy);
  EXPECT_EQ(era_of("2026-07-28"), era::modern);
  EXPECT_EQ(era_of("1.0"), era::unknown);
  EXPECT_FALSE(is_supported("2026-07-28"));
}

}  // namespace
}  // namespace switchgear::protocol
