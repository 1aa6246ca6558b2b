#include "protocol/errc.hpp"
#include "protocol/message.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace switchgear::protocol {
namespace {

error_code refusal_of(std::string_view text) {
  scratch space;
  const auto seen = peek(text, space);
  return seen ? error_code() : seen.error();
}

std::string nested(std::size_t levels) {
  return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + std::string(levels, '[') +
         std::string(levels, ']') + "}}";
}

TEST(peek_at_a_call, finds_what_the_gateway_needs) {
  const std::string_view text =
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a__b","arguments":{"q":[1, 2]},)"
      R"("_meta":{"progressToken":"p-1","traceparent":"00-1"}}})";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->kind, kind::request);
  EXPECT_EQ(seen->id.in(text), "7");
  EXPECT_EQ(seen->method, "tools/call");
  EXPECT_EQ(seen->name.in(text), R"("a__b")");
  EXPECT_EQ(seen->name_text, "a__b");
  EXPECT_EQ(seen->arguments.in(text), R"({"q":[1, 2]})");
  EXPECT_EQ(seen->meta.in(text), R"({"progressToken":"p-1","traceparent":"00-1"})");
  EXPECT_EQ(seen->progress_token.in(text), R"("p-1")");
  EXPECT_FALSE(seen->result);
}

TEST(peek_at_a_call, does_not_mind_order_and_whitespace) {
  const std::string_view text =
      " \r\n{ \"params\" : { \"arguments\" : { } , \"name\" : \"x\" } ,\t\"method\":\"tools/call\", \"id\" : \"1\" , "
      "\"jsonrpc\":\"2.0\" }\n";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->id.in(text), "\"1\"");
  EXPECT_EQ(seen->arguments.in(text), "{ }");
  EXPECT_EQ(seen->params.in(text), R"({ "arguments" : { } , "name" : "x" })");
}

// RC-031
TEST(peek_at_a_call, keeps_every_form_of_id_to_the_byte) {
  for (std::string_view id :
       {R"("1")", "1", "0", "-7", R"("")", R"("ünï")", R"("6ba7b810-9dad-11d1-80b4-00c04fd430c8")", "2147483648",
        "9007199254740993", "-9007199254740993", R"("\u00fc\"")"}) {
    const std::string text = std::string(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"method":"ping"})");
    scratch space;

    const auto seen = peek(text, space);

    ASSERT_TRUE(seen) << id;
    EXPECT_EQ(seen->id.in(text), id);
  }
}

TEST(peek_at_a_call, refuses_what_is_no_id) {
  for (std::string_view id : {"null", "true", "{}", "[1]", "1.5", "1e3", "{\"a\":1}"}) {
    const std::string text = std::string(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"method":"ping"})");
    EXPECT_EQ(refusal_of(text), errc::bad_id) << id;
  }
}

TEST(peek_at_a_call, unescapes_method_and_name) {
  const std::string_view text =
      R"({"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"a\u005f\u005f\"\ud83d\ude00"}})";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->method, "tools/call");
  EXPECT_EQ(seen->name_text, "a__\"\xf0\x9f\x98\x80");
  EXPECT_EQ(seen->name.in(text), R"("a\u005f\u005f\"\ud83d\ude00")");
}

TEST(peek_at_a_call, puts_a_replacement_for_an_unpaired_surrogate) {
  scratch space;
  for (std::string_view name : {R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("\ud800\n")"}) {
    const std::string text =
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":)").append(name).append("}}");

    const auto seen = peek(text, space);

    ASSERT_TRUE(seen) << name;
    EXPECT_TRUE(seen->name_text.starts_with("\xef\xbf\xbd")) << name;
  }
}

TEST(peek_at_a_call, reads_member_names_that_are_written_with_escapes) {
  const std::string_view text = R"({"jsonrpc":"2.0","\u0069d":5,"meth\u006fd":"ping"})";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->id.in(text), "5");
  EXPECT_EQ(seen->method, "ping");
}

TEST(peek_at_a_call, leaves_out_a_name_that_is_no_string) {
  const std::string_view text = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5,"_meta":3}})";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->name);
  EXPECT_TRUE(seen->name_text.empty());
  EXPECT_FALSE(seen->meta);
}

TEST(peek_at_a_call, takes_null_params_for_absent) {
  scratch space;
  const auto seen = peek(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":null})", space);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->params);
}

TEST(peek_at_a_call, reads_initialize_cancel_and_progress) {
  const std::string_view initialize =
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})";
  const std::string_view cancel =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7","reason":"x"}})";
  const std::string_view progress =
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}})";
  scratch space;

  EXPECT_EQ(peek(initialize, space)->protocol_version, "2025-06-18");
  const auto cancelled = peek(cancel, space);
  EXPECT_EQ(cancelled->kind, kind::notification);
  EXPECT_EQ(cancelled->cancelled_id.in(cancel), "\"7\"");
  EXPECT_EQ(peek(progress, space)->progress_token.in(progress), "3");
}

TEST(peek_at_a_response, finds_result_and_what_stands_in_it) {
  const std::string_view text =
      R"({"result":{"content":[{"type":"text","text":"isError"}],"structuredContent":{"a":1},"isError":true,)"
      R"("_meta":{"k":1},"nextCursor":"c"},"jsonrpc":"2.0","id":7})";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->kind, kind::response);
  EXPECT_TRUE(seen->is_error);
  EXPECT_EQ(seen->structured_content.in(text), R"({"a":1})");
  EXPECT_EQ(seen->result_meta.in(text), R"({"k":1})");
  EXPECT_EQ(seen->next_cursor.in(text), R"("c")");
  EXPECT_EQ(seen->id.in(text), "7");
  EXPECT_TRUE(seen->method.empty());
}

TEST(peek_at_a_response, takes_is_error_only_from_the_result_itself) {
  scratch space;
  const auto inner =
      peek(R"({"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"isError":true},"isError":false}})", space);
  const auto text = peek(R"({"jsonrpc":"2.0","id":1,"result":{"isError":"true"}})", space);
  EXPECT_FALSE(inner->is_error);
  EXPECT_FALSE(text->is_error);
}

TEST(peek_at_a_response, reads_an_error) {
  const std::string_view text =
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no \"x\"","data":{"code":1}}})";
  scratch space;

  const auto seen = peek(text, space);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->error_code, -32602);
  EXPECT_EQ(seen->error_message, "no \"x\"");
  EXPECT_EQ(seen->id.in(text), "null");
}

TEST(peek_at_a_response, lets_only_an_error_go_without_id) {
  EXPECT_FALSE(refusal_of(R"({"jsonrpc":"2.0","error":{"code":-1,"message":""}})"));
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","result":{}})"), errc::missing_id);
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":null,"result":{}})"), errc::bad_id);
}

TEST(peek_at_a_response, refuses_an_error_without_integer_code) {
  for (std::string_view error : {"{}", "5", R"({"code":"1"})", R"({"code":1.5})", R"({"code":99999999999999999999})"}) {
    EXPECT_EQ(refusal_of(std::string(R"({"jsonrpc":"2.0","id":1,"error":)").append(error).append("}")), errc::bad_error)
        << error;
  }
}

TEST(peek_at_a_large_response, reads_it_to_the_end_and_does_not_keep_the_memory) {
  std::string text = R"({"result":{"content":[{"type":"text","text":")";
  text.append(3'000'000, 'x').append(R"("}],"isError":true},"jsonrpc":"2.0","id":7})");
  scratch space;

  for (int round = 0; round < 2; ++round) {
    const auto seen = peek(text, space);
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->is_error);
    EXPECT_EQ(seen->id.in(text), "7");
  }
}

TEST(peek_at_garbage, says_what_is_wrong) {
  const std::pair<std::string_view, errc> cases[] = {
      {"", errc::not_json},
      {"   ", errc::not_json},
      {"<html>", errc::not_json},
      {"{", errc::not_json},
      {"}", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m")", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m"}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m"} x)", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m"}{})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m",})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1}]}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":01}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":truex}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a" 1}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1 "b":2}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{a:1}})", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x)", errc::not_json},
      {R"({"jsonrpc":"2.0","id":1,"method":"\q"})", errc::bad_method},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}", errc::not_json},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}", errc::not_json},
      {"[]", errc::batch},
      {R"([{"jsonrpc":"2.0","id":1,"method":"m"}])", errc::batch},
      {R"("text")", errc::not_object},
      {"42", errc::not_object},
      {"null", errc::not_object},
      {"{}", errc::bad_version},
      {R"({"id":1,"method":"m"})", errc::bad_version},
      {R"({"jsonrpc":2.0,"id":1,"method":"m"})", errc::bad_version},
      {R"({"jsonrpc":"1.0","id":1,"method":"m"})", errc::bad_version},
      {R"({"jsonrpc":"2.0","id":1})", errc::no_kind},
      {R"({"jsonrpc":"2.0","id":1,"method":5})", errc::bad_method},
      {R"({"jsonrpc":"2.0","id":1,"method":""})", errc::bad_method},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})", errc::bad_params},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":"x"})", errc::bad_params},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","result":{}})", errc::mixed_kinds},
      {R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}})", errc::mixed_kinds},
  };
  for (const auto& [text, why] : cases) EXPECT_EQ(refusal_of(text), why) << text << ": " << refusal_of(text).message();
}

TEST(peek_at_garbage, refuses_members_that_are_there_twice) {
  for (std::string_view text : {
           R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","meth\u006fd":"b"})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"x","name":"y"}})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":1,"progressToken":2}}})",
           R"({"jsonrpc":"2.0","id":1,"result":{"isError":false,"isError":true}})",
       }) {
    EXPECT_EQ(refusal_of(text), errc::duplicate_member) << text;
  }
}

TEST(peek_at_garbage, lets_members_pass_twice_that_nobody_here_reads) {
  EXPECT_FALSE(refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"x":1,"x":2}}})"));
}

TEST(peek_at_deep_nesting, has_a_limit) {
  EXPECT_FALSE(refusal_of(nested(max_depth - 2)));
  EXPECT_EQ(refusal_of(nested(max_depth - 1)), errc::too_deep);
  EXPECT_EQ(refusal_of(std::string(1'000'000, '[')), errc::too_deep);
  EXPECT_EQ(refusal_of(std::string(100, '[')), errc::not_json);
}

TEST(peek_at_any_text, reads_no_byte_behind_it) {
  // A copy on the heap of exactly the text's size: a sanitizer sees what reads on.
  const std::string_view whole = R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"\u0041b"}})";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    scratch space;
    EXPECT_EQ(peek({exact.data(), exact.size()}, space).has_value(), size == whole.size());
  }
}

TEST(splice, replaces_only_what_is_asked_for) {
  const std::string_view text =
      R"({"params":{"_meta":{"progressToken":1},"name":"a__b"},"jsonrpc":"2.0","id":"x","method":"tools/call"})";
  scratch space;
  const auto seen = peek(text, space);
  parts all, none;

  splice(text, *seen, {.id = "17", .name = R"("b")", .progress_token = "\"t\""}, all);
  splice(text, *seen, {}, none);

  EXPECT_EQ(joined(all),
            R"({"params":{"_meta":{"progressToken":"t"},"name":"b"},"jsonrpc":"2.0","id":17,"method":"tools/call"})");
  EXPECT_EQ(joined(none), text);
}

TEST(splice, leaves_absent_members_absent) {
  const std::string_view text = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
  scratch space;
  const auto seen = peek(text, space);
  parts out;

  splice(text, *seen, {.id = "17", .name = R"("b")", .progress_token = "2"}, out);

  EXPECT_EQ(joined(out), text);
}

}  // namespace
}  // namespace switchgear::protocol
