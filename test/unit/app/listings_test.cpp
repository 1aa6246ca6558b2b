#include "app/listings.hpp"

#include "support/fake_breakers.hpp"
#include "support/fake_recorder.hpp"
#include "support/fake_upstream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::app {
namespace {

using port::listed;
using protocol::era;

config::gateway two_upstreams() {
  config::gateway settings;
  settings.upstreams.push_back(settings.new_upstream("a"));
  settings.upstreams.push_back(settings.new_upstream("b"));
  return settings;
}

upstream::listing everything(std::string_view tool = "t", std::string_view uri = "x:1") {
  upstream::listing made;
  made.capabilities = R"({"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{}})";
  made.instructions = "Ask.";
  made.tools = {R"({"tools":[{"name":")" + std::string(tool) + R"(","inputSchema":{}}]})"};
  made.prompts = {R"({"prompts":[{"name":"p"}]})"};
  made.resources = {R"({"resources":[{"uri":")" + std::string(uri) + R"(","name":"n"}]})"};
  made.templates = {R"({"resourceTemplates":[]})"};
  return made;
}

class the_listings : public testing::Test {
 protected:
  the_listings() { lists.begin({&a, &b}); }

  std::string offered(listed what) const { return lists.now().offer->list(era::legacy, what); }

  void notify(unsigned upstream, std::string_view text) {
    protocol::scratch space;
    buffer padded;
    padded.append(text);
    const auto seen = protocol::peek(padded.view(), space);
    lists.notified(upstream, padded.view(), *seen);
  }

  const config::gateway settings = two_upstreams();
  test::fake_breakers breakers;
  test::fake_recorder recorder;
  observe::log log{observe::level::off};
  test::fake_upstream a, b;
  std::vector<published> heard;
  std::vector<std::string> updated, others;
  listings lists{{settings, breakers, recorder, log},
                 {.changed = [this](const published& fresh) { heard.push_back(fresh); },
                  .resource_updated = [this](std::string_view uri) { updated.emplace_back(uri); },
                  .notified =
                      [this](unsigned upstream, std::string_view text, const protocol::message&) {
                        others.push_back(std::to_string(upstream) + " " + std::string(text));
                      }}};
};

TEST_F(the_listings, offer_everything_and_list_nothing_at_first) {
  EXPECT_EQ(offered(listed::tools), R"({"tools":[]})");
  EXPECT_TRUE(lists.now().offer->has[static_cast<unsigned>(listed::resources)]);
  EXPECT_EQ(lists.now().directory->find("a__t"), nullptr);
  EXPECT_FALSE(lists.all_tried());
  EXPECT_TRUE(heard.empty());
}

TEST_F(the_listings, publish_what_can_be_called_with_what_is_offered) {
  lists.listed(0, everything());

  ASSERT_EQ(heard.size(), 1u);
  EXPECT_NE(heard[0].directory->find("a__t"), nullptr);
  EXPECT_EQ(heard[0].directory->find_prompt("a__p").target, "p");
  EXPECT_EQ(heard[0].directory->find_resource("x:1").through->upstream, &a);
  EXPECT_EQ(offered(listed::tools), R"({"tools":[{"name":"a__t","inputSchema":{}}]})");
  EXPECT_EQ(offered(listed::prompts), R"({"prompts":[{"name":"a__p"}]})");
  EXPECT_EQ(offered(listed::resources), R"({"resources":[{"uri":"x:1","name":"n"}]})");
  EXPECT_EQ(lists.tools_of(0), 1u);
}

// RC-040
TEST_F(the_listings, publish_nothing_when_the_same_is_listed_again) {
  lists.listed(0, everything());
  lists.listed(0, everything());
  EXPECT_EQ(heard.size(), 1u);

  lists.listed(0, everything("other"));
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[1].directory->find("a__t"), nullptr);
  EXPECT_NE(heard[1].directory->find("a__other"), nullptr);
}

// RC-046
TEST_F(the_listings, offer_no_more_than_there_is_once_all_were_tried) {
  upstream::listing tools_alone;
  tools_alone.capabilities = R"({"tools":{}})";
  tools_alone.tools = {R"({"tools":[]})"};
  lists.listed(0, tools_alone);
  EXPECT_FALSE(lists.all_tried());
  EXPECT_TRUE(heard.back().offer->completes);

  lists.state_changed(1, {port::upstream_state::starting});
  EXPECT_FALSE(lists.all_tried());
  lists.state_changed(1, {port::upstream_state::degraded, "refused"});

  EXPECT_TRUE(lists.all_tried());
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_FALSE(heard.back().offer->completes);
  EXPECT_EQ(heard.back().offer->legacy_capabilities, R"({"tools":{"listChanged":true}})");
  lists.state_changed(1, {port::upstream_state::degraded, "still refused"});
  EXPECT_EQ(heard.size(), 2u);
}

TEST_F(the_listings, publish_once_when_the_last_upstream_is_listed) {
  lists.listed(0, everything());
  lists.listed(1, everything("t", "y:1"));
  EXPECT_EQ(heard.size(), 2u);
  EXPECT_TRUE(lists.all_tried());
  EXPECT_EQ(heard.back().offer->instructions, "a:\nAsk.\n\nb:\nAsk.");
}

// RC-046
TEST_F(the_listings, keep_the_lists_of_an_upstream_that_goes_down) {
  lists.listed(0, everything());
  lists.state_changed(0, {port::upstream_state::degraded, "gone"});
  EXPECT_NE(lists.now().directory->find("a__t"), nullptr);
  EXPECT_NE(lists.now().directory->find_prompt("a__p").through, nullptr);
}

// RC-041
TEST_F(the_listings, keep_the_old_list_of_a_kind_with_a_page_that_cannot_be_read) {
  lists.listed(0, everything());
  upstream::listing half = everything("other");
  half.prompts.emplace_back("{}");
  half.resources = {"[]"};
  lists.listed(0, half);

  EXPECT_EQ(offered(listed::prompts), R"({"prompts":[{"name":"a__p"}]})");
  EXPECT_EQ(offered(listed::resources), R"({"resources":[{"uri":"x:1","name":"n"}]})");
  EXPECT_EQ(offered(listed::tools), R"({"tools":[{"name":"a__other","inputSchema":{}}]})");
}

TEST_F(the_listings, have_all_pages_of_every_kind) {
  upstream::listing paged = everything();
  paged.tools.push_back(R"({"tools":[{"name":"u","inputSchema":{}}]})");
  paged.prompts.push_back(R"({"prompts":[{"name":"q"}]})");
  lists.listed(0, paged);

  EXPECT_NE(lists.now().directory->find("a__u"), nullptr);
  EXPECT_EQ(offered(listed::prompts), R"({"prompts":[{"name":"a__p"},{"name":"a__q"}]})");
}

TEST_F(the_listings, leave_out_tools_whose_headers_a_modern_server_would_reject) {
  upstream::listing odd = everything();
  odd.tools = {R"({"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}}]})"};
  lists.listed(0, odd);
  EXPECT_NE(lists.now().directory->find("a__t"), nullptr);

  odd.era = era::modern;
  lists.listed(0, odd);
  EXPECT_EQ(lists.now().directory->find("a__t"), nullptr);
}

TEST(the_listings_of_a_gateway_with_limits, keep_them_over_a_change_of_the_lists) {
  config::gateway settings = two_upstreams();
  settings.upstreams[0].concurrency.limit = 7;
  settings.tools.push_back({"a__*", {[](port::tool_policy& policy) { policy.concurrency.limit = 3; }}});
  test::fake_breakers breakers;
  test::fake_recorder recorder;
  observe::log log{observe::level::off};
  test::fake_upstream a, b;
  listings lists({settings, breakers, recorder, log}, {});
  lists.begin({&a, &b});
  lists.listed(0, everything());
  lists.listed(1, everything());
  const std::shared_ptr<const call::directory> before = lists.now().directory;

  upstream::listing more = everything();
  more.tools = {R"({"tools":[{"name":"t","inputSchema":{}},{"name":"u","inputSchema":{}}]})"};
  lists.listed(0, more);

  const auto seen = lists.limits().figures();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].name, "a__t");
  EXPECT_EQ(seen[0].limit, 3u);
  EXPECT_EQ(seen[1].name, "a__u");
  EXPECT_EQ(seen[2].name, "a");
  EXPECT_EQ(seen[2].limit, 7u);
  const call::directory& now = *lists.now().directory;
  EXPECT_EQ(now.find("a__t")->limit, before->find("a__t")->limit);
  EXPECT_EQ(now.find("a__u")->server_limit, before->find("a__t")->server_limit);
  EXPECT_EQ(now.find_resource("x:1").through->server_limit, before->find("a__t")->server_limit);
  EXPECT_FALSE(now.find("b__t")->limited());
}

TEST_F(the_listings, tell_of_a_changed_resource_by_the_uri_that_clients_know) {
  lists.listed(0, everything("t", "x:1"));
  lists.listed(1, everything("t", "x:1"));

  for (unsigned upstream : {0u, 1u}) {
    notify(upstream, R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:1"}})");
  }
  EXPECT_EQ(updated, (std::vector<std::string>{"x:1", "switchgear://b/x:1"}));
  EXPECT_TRUE(others.empty());
}

TEST_F(the_listings, pass_on_every_other_notification) {
  notify(1, R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})");
  notify(1, R"({"jsonrpc":"2.0","method":"notifications/resources/updated"})");
  EXPECT_TRUE(updated.empty());
  EXPECT_EQ(others.size(), 2u);
  EXPECT_TRUE(others[0].starts_with(R"(1 {"jsonrpc":"2.0","method":"notifications/message")"));
}

}  // namespace
}  // namespace switchgear::app
