// What a child says of itself: its lists, changed resources, and notifications that belong to a call or to none.
#include "unit/upstream/stdio_fixture.hpp"

namespace switchgear::test {
namespace {

using namespace std::chrono_literals;

class lists_of_a_child : public stdio_fixture {};

TEST_F(lists_of_a_child, are_of_all_kinds_and_complete) {
  settings.stdio.command = small_server({"full", "paged"});
  start_ready();

  ASSERT_EQ(observed.lists().size(), 1U);
  const upstream::listing offer = observed.lists()[0];
  EXPECT_EQ(offer.tools.size(), 2U);
  EXPECT_EQ(offer.prompts.size(), 2U);
  EXPECT_EQ(offer.resources.size(), 2U);
  EXPECT_EQ(offer.templates.size(), 2U);
  EXPECT_NE(offer.resources[1].find("test://two"), std::string::npos);
  EXPECT_NE(offer.capabilities.find("\"subscribe\""), std::string::npos);
  EXPECT_EQ(offer.instructions, "Be brief.");
}

TEST_F(lists_of_a_child, are_asked_for_again_whichever_changed) {
  settings.stdio.command = small_server({"full"});
  start_ready();

  call("announce", R"({"kind":"prompts"})");

  EXPECT_TRUE(until([&] { return observed.lists().size() == 2; }));
}

TEST_F(lists_of_a_child, are_not_asked_for_in_a_session_of_one_client) {
  role.lists = false;
  role.abilities.roots = true;
  start_ready();

  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
  EXPECT_TRUE(observed.lists().empty());
  for (const std::string& line : received()) EXPECT_EQ(line.find("tools/list"), std::string::npos) << line;
}

TEST_F(lists_of_a_child, that_changed_are_told_on_a_stream_of_a_modern_child) {
  settings.stdio.command = small_server({"modern"});
  start_ready();
  ASSERT_TRUE(receives({"subscriptions/listen", R"("toolsListChanged":true)"}));

  call("announce");

  ASSERT_TRUE(until([&] { return observed.lists().size() == 2; }));
  EXPECT_NE(observed.lists()[1].tools[0].find("\"extra\""), std::string::npos);
}

class stream_of_a_modern_child : public stdio_fixture {
 protected:
  stream_of_a_modern_child() { settings.stdio.command = small_server({"modern", "full"}); }

  std::size_t streams() {
    std::size_t count = 0;
    for (const std::string& line : received()) count += line.find("subscriptions/listen") != std::string::npos;
    return count;
  }
};

TEST_F(stream_of_a_modern_child, is_opened_again_when_it_ends) {
  start_ready();
  for (const char* how : {R"({"how":"complete"})", R"({"how":"cancelled"})"}) {
    const std::size_t before = streams();
    ASSERT_EQ(call("end_stream", how).text, "ended");
    EXPECT_TRUE(until([&] { return streams() > before; })) << how;
  }
}

TEST_F(stream_of_a_modern_child, is_not_asked_for_again_when_there_are_none) {
  settings.stdio.command = small_server({"modern", "no_streams"});
  settings.refresh = 20ms;
  start_ready();

  ASSERT_TRUE(until([&] { return observed.lists().size() > 5; }));
  EXPECT_EQ(streams(), 1U);
}

TEST_F(stream_of_a_modern_child, names_the_resources_that_are_wanted) {
  start_ready();

  watch({"test://two", "test://one", "test://two"});

  EXPECT_TRUE(receives({"subscriptions/listen", R"("resourceSubscriptions":["test://one","test://two"])"}));
  EXPECT_TRUE(receives({"notifications/cancelled", "takes its place"}));
}

TEST_F(stream_of_a_modern_child, begins_with_news_of_what_may_have_changed_unseen) {
  start_ready();
  watch({"test://one"});
  ASSERT_TRUE(until([&] { return observed.notifications().size() == 1; }));
  watch({"test://one", "test://two"});
  ASSERT_TRUE(until([&] { return observed.notifications().size() == 2; }));
  EXPECT_NE(observed.notifications()[1].find("test://two"), std::string::npos);

  call("end_stream", R"({"how":"complete"})");

  EXPECT_TRUE(until([&] { return observed.notifications().size() == 4; })) << "both, of the time between two streams";
}

TEST_F(stream_of_a_modern_child, is_not_taken_for_acknowledged_by_the_word_for_another) {
  settings.stdio.command = small_server({"modern", "full", "no_acks"});
  start_ready();
  watch({"test://one"});
  ASSERT_TRUE(receives({"subscriptions/listen", "test://one"}));
  const auto acknowledge = [&](std::string_view stream) {
    return call("say", R"({"messages":[{"method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
                       R"({"io.modelcontextprotocol/subscriptionId":)" +
                           std::string(stream) + "}}}]}");
  };

  acknowledge("0");
  EXPECT_TRUE(observed.notifications().empty());

  // The line begins {"jsonrpc":"2.0","id":ID,
  const std::string id_begins = R"("id":)";
  for (const std::string& line : received()) {
    if (line.find("test://one") == std::string::npos) continue;
    const std::size_t at = line.find(id_begins) + id_begins.size();
    acknowledge(line.substr(at, line.find(',', at) - at));
  }
  EXPECT_TRUE(until([&] { return observed.notifications().size() == 1; }));
}

class watched_resources : public stdio_fixture {
 protected:
  watched_resources() { settings.stdio.command = small_server({"full"}); }
};

TEST_F(watched_resources, are_subscribed_to_and_given_up) {
  start_ready();

  watch({"test://one"});
  EXPECT_TRUE(receives({"resources/subscribe", "test://one"}));
  EXPECT_TRUE(until([&] { return observed.notifications().size() == 1; })) << "it may have changed unseen until now";
  watch({"test://two"});
  EXPECT_TRUE(receives({"resources/unsubscribe", "test://one"}));
  EXPECT_TRUE(receives({"resources/subscribe", "test://two"}));
}

TEST_F(watched_resources, are_subscribed_to_again_when_the_child_was_replaced) {
  start_ready();
  watch({"test://one"});
  ASSERT_TRUE(receives({"resources/subscribe", "test://one"}));

  call("die");

  EXPECT_TRUE(receives({"resources/subscribe", "test://one"}));
  EXPECT_EQ(upstream().counted().starts, 2U);
}

TEST_F(watched_resources, are_told_to_the_observer_even_during_a_call) {
  start_ready();

  const called answer =
      call("say", R"({"messages":[{"method":"notifications/resources/updated","params":{"uri":"test://one"}}]})");

  EXPECT_TRUE(answer.heard.empty());
  ASSERT_TRUE(until([&] { return observed.notifications().size() == 1; }));
  EXPECT_NE(observed.notifications()[0].find("test://one"), std::string::npos);
}

TEST_F(watched_resources, are_no_business_of_a_child_that_does_not_tell) {
  settings.stdio.command = small_server();
  settings.refresh = 20ms;
  start_ready();

  watch({"test://one"});

  ASSERT_TRUE(until([&] { return observed.lists().size() > 3; }));
  for (const std::string& line : received()) EXPECT_EQ(line.find("subscribe"), std::string::npos) << line;
}

class notification_of_a_child : public stdio_fixture {};

constexpr const char* one_message =
    R"({"messages":[{"method":"notifications/message","params":{"level":"info","data":"one"}},)"
    R"({"method":"notifications/vendor/unknown","params":{"x":1.0}}]})";

TEST_F(notification_of_a_child, goes_to_the_only_call_before_its_answer) {
  start_ready();

  const called answer = call("say", one_message);

  ASSERT_EQ(answer.heard.size(), 2U);
  EXPECT_NE(answer.heard[0].find("\"one\""), std::string::npos);
  EXPECT_NE(answer.heard[1].find("1.0"), std::string::npos);
  EXPECT_TRUE(observed.notifications().empty());
}

TEST_F(notification_of_a_child, goes_to_the_observer_when_it_may_belong_to_two_calls) {
  start_ready();
  auto stalled = call_soon("stall");
  ASSERT_TRUE(receives({"\"stall\""}));

  EXPECT_TRUE(call("say", one_message).heard.empty());

  EXPECT_TRUE(until([&] { return observed.notifications().size() == 2; }));
  cancel_call("stall");
}

TEST_F(notification_of_a_child, goes_to_the_observer_when_nobody_listens_to_the_call) {
  has_listener = false;
  start_ready();

  call("say", one_message);

  EXPECT_TRUE(until([&] { return observed.notifications().size() == 2; }));
}

TEST_F(notification_of_a_child, is_known_however_its_method_is_escaped) {
  start_ready();

  call("say_raw", R"({"line":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications\\/tools\\/list_changed\"}"})");

  EXPECT_TRUE(until([&] { return observed.lists().size() == 2; }));
}

}  // namespace
}  // namespace switchgear::test
