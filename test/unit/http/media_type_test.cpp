#include "http/media_type.hpp"

#include <gtest/gtest.h>

namespace switchgear::http {
namespace {

TEST(media_type, is_the_same_with_parameters_in_other_case_and_with_spaces) {
  for (const char* text : {"application/json", "application/json; charset=utf-8", "APPLICATION/JSON",
                           "application/json;charset=\"utf-8\"", " application/json ", "application/json;",
                           "application/json; a=1; b=\";\"", "application/json ; charset=utf-8"}) {
    EXPECT_TRUE(is_media_type(text, "application/json")) << text;
  }
}

TEST(media_type, is_not_a_longer_shorter_or_missing_one) {
  for (const char* text : {"", "text/plain", "application/jsonp", "application/json-rpc", "application",
                           "x; application/json", "application/json, text/html"}) {
    EXPECT_FALSE(is_media_type(text, "application/json")) << text;
  }
}

TEST(accept, covers_by_name_and_by_wildcard) {
  for (const char* text : {"text/event-stream", "application/json, text/event-stream", "*/*", "text/*",
                           "a/b;q=0.1, TEXT/event-stream;q=0.5", "a/b; x=\"a,b\", text/event-stream"}) {
    EXPECT_TRUE(accept_covers(text, "text/event-stream")) << text;
  }
}

TEST(accept, does_not_cover_what_is_absent_or_weighs_nothing) {
  for (const char* text : {"", "application/json", "text/event-stream;q=0", "text/event-stream; q=0.000",
                           "application/*", "*/*;q=0", "x/*"}) {
    EXPECT_FALSE(accept_covers(text, "text/event-stream")) << text;
  }
}

TEST(token_list, finds_a_token_in_any_case) {
  EXPECT_TRUE(has_token("Keep-Alive, Close", "close"));
  EXPECT_FALSE(has_token("closed, x-close", "close"));
}

}  // namespace
}  // namespace switchgear::http
