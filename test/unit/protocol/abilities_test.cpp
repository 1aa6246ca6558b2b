#include "protocol/abilities.hpp"

#include "base/buffer.hpp"

#include <gtest/gtest.h>

namespace switchgear::protocol {
namespace {

TEST(abilities, are_read_from_capabilities_and_written_back) {
  const std::string all = R"({"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},)"
                          R"("elicitation":{"form":{},"url":{}}})";
  EXPECT_EQ(write_abilities(read_abilities(all)), all);
  EXPECT_EQ(write_abilities(read_abilities(R"({"experimental":{"x":1},"roots":{}})")), R"({"roots":{}})");
  EXPECT_EQ(write_abilities(client_abilities{}), "{}");
}

TEST(abilities, an_elicitation_without_a_mode_means_forms) {
  EXPECT_TRUE(read_abilities(R"({"elicitation":{}})").elicitation_form);
  EXPECT_FALSE(read_abilities(R"({"elicitation":{"url":{}}})").elicitation_form);
}

TEST(abilities, of_what_is_no_object_are_none) {
  for (const char* text : {"", "null", "[]", "{", R"({"sampling":true,"roots":null})"}) {
    EXPECT_FALSE(read_abilities(text).any()) << text;
  }
}

TEST(abilities, survive_as_bits) {
  for (unsigned bits = 0; bits < 128; ++bits) {
    EXPECT_EQ(client_abilities::of_bits(static_cast<std::uint8_t>(bits)).bits(), bits);
  }
}

bool may(const client_abilities& can, std::string_view method, std::string_view params = "{}") {
  buffer text;
  text.append(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":)" + std::string(params) +
              "}");
  scratch space;
  const auto seen = peek(text.view(), space);
  return seen && may_ask(can, *seen, text.view());
}

TEST(abilities, decide_what_a_server_may_ask) {
  client_abilities none, forms, urls, all = client_abilities::of_bits(127);
  forms.elicitation_form = true;
  urls.elicitation_url = true;
  EXPECT_TRUE(may(none, "ping"));
  for (const char* method : {"roots/list", "sampling/createMessage", "elicitation/create"}) {
    EXPECT_FALSE(may(none, method));
    EXPECT_TRUE(may(all, method));
  }
  EXPECT_FALSE(may(all, "tools/call"));
  EXPECT_TRUE(may(forms, "elicitation/create", R"({"message":"?"})"));
  EXPECT_FALSE(may(forms, "elicitation/create", R"({"mode":"url"})"));
  EXPECT_TRUE(may(urls, "elicitation/create", R"({"mode":"url"})"));
  EXPECT_FALSE(may(urls, "elicitation/create", R"({"mode":"form"})"));
}

}  // namespace
}  // namespace switchgear::protocol
