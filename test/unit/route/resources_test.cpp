#include "route/resources.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::route {
namespace {

using definitions = std::vector<protocol::definition>;

definitions read(protocol::definition_kind kind, std::string_view array, std::string_view key,
                 std::initializer_list<std::string_view> uris) {
  std::string text = R"({")" + std::string(array) + R"(":[)";
  for (std::string_view uri : uris) {
    if (text.back() != '[') text += ',';
    text.append(R"({")").append(key).append(R"(":")").append(uri).append(R"(","name":"n"})");
  }
  return protocol::read_definitions_page(kind, text.append("]}"))->definitions;
}

definitions listed(std::initializer_list<std::string_view> uris) {
  return read(protocol::definition_kind::resource, "resources", "uri", uris);
}
definitions templates(std::initializer_list<std::string_view> uris) {
  return read(protocol::definition_kind::resource_template, "resourceTemplates", "uriTemplate", uris);
}

// "INDEX URI", or "nowhere".
std::string where(const resources& all, std::string_view uri) {
  const auto place = all.find(uri);
  return place ? std::to_string(place->upstream) + " " + std::string(place->uri) : "nowhere";
}

TEST(resource, means_the_upstream_that_lists_it) {
  const auto one = listed({"a:1", "a:2"}), two = listed({"b:1"});
  const upstream_resources upstreams[] = {{"x", 4, one, {}}, {"y", 7, two, {}}};

  const resources all(upstreams);

  EXPECT_EQ(where(all, "a:2"), "4 a:2");
  EXPECT_EQ(where(all, "b:1"), "7 b:1");
  EXPECT_EQ(where(all, "c:1"), "nowhere");
  EXPECT_EQ(where(all, ""), "nowhere");
  EXPECT_EQ(all.definitions(), R"([{"uri":"a:1","name":"n"},{"uri":"a:2","name":"n"},{"uri":"b:1","name":"n"}])");
  EXPECT_TRUE(all.problems().empty());
}

TEST(resource, of_two_upstreams_stays_that_of_the_first_alias) {
  const auto same = listed({"a:1"});
  const upstream_resources upstreams[] = {{"y", 0, same, {}}, {"x", 1, same, {}}};

  const resources all(upstreams);

  EXPECT_EQ(where(all, "a:1"), "1 a:1");
  EXPECT_EQ(where(all, "switchgear://y/a:1"), "0 a:1");
  EXPECT_EQ(where(all, "switchgear://x/a:1"), "1 a:1");
  EXPECT_EQ(all.definitions(), R"([{"uri":"a:1","name":"n"},{"uri":"switchgear://y/a:1","name":"n"}])");
  EXPECT_EQ(all.problems(), std::vector<std::string>{"resource a:1 of y is exported as switchgear://y/a:1: x lists it "
                                                     "too"});
}

TEST(resource, with_an_alias_in_front_needs_no_listing) {
  const upstream_resources upstreams[] = {{"x", 0, {}, {}}, {"y", 1, {}, {}}};
  const resources all(upstreams);

  EXPECT_EQ(where(all, "switchgear://y/file:///a%20b?c#d"), "1 file:///a%20b?c#d");
  EXPECT_EQ(where(all, "switchgear://z/a:1"), "nowhere");
  EXPECT_EQ(where(all, "switchgear://y"), "nowhere");
  EXPECT_EQ(where(all, "switchgear:/y/a:1"), "nowhere");
}

TEST(resource, that_nobody_lists_goes_where_its_template_is) {
  const auto here = templates({"test://{id}/data", "{+anything}"}), there = templates({"test://{id}/{part}"});
  const upstream_resources upstreams[] = {{"x", 0, {}, here}, {"y", 1, {}, there}};

  const resources all(upstreams);

  EXPECT_EQ(where(all, "test://42/data"), "0 test://42/data");
  EXPECT_EQ(where(all, "test://42/other"), "1 test://42/other");
  EXPECT_EQ(where(all, "elsewhere"), "0 elsewhere");
}

TEST(resource, that_nobody_knows_goes_to_the_only_upstream_with_resources) {
  const auto one = listed({"a:1"});
  const upstream_resources only[] = {{"x", 3, one, {}}};

  EXPECT_EQ(where(resources(only), "zz:9"), "3 zz:9");
  EXPECT_EQ(where(resources(), "zz:9"), "nowhere");
}

TEST(template_of_two_upstreams, expands_to_uris_of_its_own_upstream) {
  const auto same = templates({"test://{id}"});
  const upstream_resources upstreams[] = {{"x", 0, {}, same}, {"y", 1, {}, same}};

  const resources all(upstreams);

  EXPECT_EQ(all.template_definitions(), R"([{"uriTemplate":"switchgear://y/test://{id}","name":"n"},)"
                                        R"({"uriTemplate":"test://{id}","name":"n"}])");
  EXPECT_EQ(where(all, "test://a%2Fb"), "0 test://a%2Fb");
  EXPECT_EQ(where(all, "switchgear://y/test://a%2Fb"), "1 test://a%2Fb");
}

TEST(template_reference, of_a_completion_means_its_upstream) {
  const auto same = templates({"test://{id}"}), one = listed({"a:1"});
  const upstream_resources upstreams[] = {{"x", 0, {}, same}, {"y", 1, one, same}};
  const resources all(upstreams);

  EXPECT_EQ(all.find_reference("test://{id}")->upstream, 0u);
  EXPECT_EQ(all.find_reference("switchgear://y/test://{id}")->upstream, 1u);
  EXPECT_EQ(all.find_reference("switchgear://y/test://{id}")->uri, "test://{id}");
  EXPECT_EQ(all.find_reference("a:1")->upstream, 1u);
  EXPECT_FALSE(all.find_reference("b:{id}"));
}

TEST(exported_uri, leads_back_to_its_upstream) {
  const auto same = listed({"a:1"}), here = templates({"test://{id}"});
  const upstream_resources upstreams[] = {{"x", 0, same, {}}, {"y", 1, same, here}};
  const resources all(upstreams);

  EXPECT_EQ(all.exported(0, "a:1"), "a:1");
  EXPECT_EQ(all.exported(1, "a:1"), "switchgear://y/a:1");
  EXPECT_EQ(all.exported(1, "test://7"), "test://7");
  EXPECT_EQ(all.exported(0, "test://7"), "switchgear://x/test://7");
  EXPECT_EQ(all.exported(0, "c:unlisted"), "switchgear://x/c:unlisted");
  for (std::uint32_t upstream : {0u, 1u}) {
    for (std::string_view uri : {"a:1", "test://7", "c:unlisted", "switchgear://y/a:1", "switchgear://x/q"}) {
      const std::string name = all.exported(upstream, uri);
      EXPECT_EQ(where(all, name), std::to_string(upstream) + " " + std::string(uri));
    }
  }
}

TEST(resources, are_the_same_whatever_the_order) {
  const auto one = listed({"a:1", "a:2", "a:2"}), turned = listed({"a:2", "a:2", "a:1"}), two = listed({"a:2"});
  const auto three = templates({"t:{x}", "{y}"}), four = templates({"{z}"});
  const upstream_resources forward[] = {{"x", 0, one, three}, {"y", 1, two, four}};
  const upstream_resources backward[] = {{"y", 1, two, four}, {"x", 0, turned, three}};

  const resources first(forward), second(backward);

  EXPECT_EQ(first.definitions(), second.definitions());
  EXPECT_EQ(first.template_definitions(), second.template_definitions());
  EXPECT_EQ(first.problems(), second.problems());
  for (std::string_view uri : {"a:1", "a:2", "t:5", "q"}) EXPECT_EQ(where(first, uri), where(second, uri));
}

TEST(template_that_cannot_be_read, is_listed_and_finds_nothing) {
  const auto odd = templates({"test://{"}), other = listed({"a:1"});
  const upstream_resources upstreams[] = {{"x", 0, {}, odd}, {"y", 1, other, {}}};

  const resources all(upstreams);

  EXPECT_EQ(all.template_definitions(), R"([{"uriTemplate":"test://{","name":"n"}])");
  EXPECT_EQ(where(all, "test://{"), "nowhere");
  EXPECT_EQ(all.problems(),
            std::vector<std::string>{"resource template test://{ of x finds no URIs: not a usable URI template"});
}

TEST(resources, still_find_after_a_move) {
  const auto one = listed({"a:1"}), two = templates({"t:{x}"});
  const upstream_resources upstreams[] = {{"x", 0, one, two}, {"y", 1, {}, {}}};
  resources first(upstreams);

  const resources second = std::move(first);

  EXPECT_EQ(where(second, "a:1"), "0 a:1");
  EXPECT_EQ(where(second, "t:1"), "0 t:1");
}

}  // namespace
}  // namespace switchgear::route
