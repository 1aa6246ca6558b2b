#include "protocol/canonical.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace switchgear::protocol {
namespace {

TEST(canonical_form, is_one_for_all_ways_to_write_the_same) {
  const std::string_view plain = R"({"a":[1,{"x":null,"y":"ü\n"}],"b":true})";
  EXPECT_EQ(canonical(plain).value(), plain);
  EXPECT_EQ(canonical("{ \"b\" : true,\n\"a\":[ 1 , {\"y\":\"\\u00fc\\u000a\",\"\\u0078\":null} ] }").value(), plain);
  EXPECT_EQ(canonical(R"("\/")").value(), R"("/")");
}

TEST(canonical_form, keeps_apart_what_a_server_could_tell_apart) {
  const std::string_view different[] = {"{}",
                                        "[]",
                                        R"({"a":null})",
                                        R"({"a":1})",
                                        R"({"a":1.0})",
                                        R"({"a":"1"})",
                                        R"({"a":[]})",
                                        R"({"A":1})",
                                        R"({"a":{}})",
                                        R"({"a":-1})",
                                        R"({"a":9007199254740993})",
                                        R"({"a":9007199254740992})"};
  for (std::string_view a : different) {
    for (std::string_view b : different) {
      if (a != b) EXPECT_NE(canonical(a).value(), canonical(b).value());
    }
  }
}

TEST(canonical_form, does_not_mix_up_unpaired_surrogates) {
  EXPECT_NE(canonical(R"("\ud800")").value(), canonical(R"("\ud801")").value());
  EXPECT_NE(canonical(R"("\ud800")").value(), canonical("\"\xef\xbf\xbd\"").value());
}

TEST(canonical_form, refuses_what_has_no_single_meaning) {
  EXPECT_EQ(canonical(R"({"a":1,"a":2})").error(), errc::duplicate_member);
  EXPECT_EQ(canonical(R"({"a":1,"\u0061":1})").error(), errc::duplicate_member);
  EXPECT_EQ(canonical("{\"a\":1").error(), errc::not_json);
  EXPECT_EQ(canonical("").error(), errc::not_json);
  EXPECT_EQ(canonical("1 2").error(), errc::not_json);
  EXPECT_EQ(canonical(R"("\q")").error(), errc::not_json);
}

TEST(canonical_form, bounds_depth) {
  EXPECT_TRUE(canonical(std::string(128, '[') + std::string(128, ']')));
  EXPECT_EQ(canonical(std::string(129, '[') + std::string(129, ']')).error(), errc::too_deep);
}

TEST(digest_of_fields, tells_where_a_field_ends) {
  EXPECT_EQ(digest_of({"ab", "c"}), digest_of({"ab", "c"}));
  EXPECT_NE(digest_of({"ab", "c"}), digest_of({"a", "bc"}));
  EXPECT_NE(digest_of({"a"}), digest_of({"a", ""}));
}

}  // namespace
}  // namespace switchgear::protocol
