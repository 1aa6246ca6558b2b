#include "upstream/own_sessions.hpp"

#include "support/fake_upstream.hpp"
#include "support/peeked.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;

/// A session as the factory made it.
struct made_session {
  std::shared_ptr<test::fake_upstream> upstream = std::make_shared<test::fake_upstream>();
  port::session_role role;
  std::shared_ptr<observer> watcher;
  bool started = false, stopped = false;
};

struct recorded_watcher final : observer {
  std::vector<std::string> remarks;
  std::vector<int> credentials;
  void credential_changed(unsigned, int status) override { credentials.push_back(status); }
  void listed(unsigned, listing) override {}
  void state_changed(unsigned, const port::upstream_status&) override {}
  void remark(unsigned, std::string_view line) override { remarks.emplace_back(line); }
};

struct recorded_audience final : port::audience {
  std::vector<std::pair<std::string, std::string>> sent, asked;
  void use(std::shared_ptr<const port::offer>) override {}
  void resource_updated(std::string_view) override {}
  void send(std::string_view session, std::string message) override { sent.emplace_back(session, std::move(message)); }
  boost::asio::awaitable<std::string> ask(async::worker&, std::string session, std::string_view text,
                                          const protocol::message&, async::interrupt&) override {
    asked.emplace_back(std::move(session), text);
    co_return "answered";
  }
};

class own_sessions_test : public testing::Test {
 protected:
  void open(own_sessions::limits bounds = {}) {
    const auto make = [this](port::session_role role, std::shared_ptr<observer> heard) {
      auto one = std::make_shared<made_session>();
      one->role = role;
      one->watcher = std::move(heard);
      if (next_first) one->upstream->answer(std::move(*next_first));
      next_first.reset();
      for (int i = 0; i < 4; ++i) one->upstream->answer(R"({"jsonrpc":"2.0","id":1,"result":{}})");
      made.push_back(one);
      return own_sessions::link{one->upstream, [one] { one->started = true; },
                                [one]() -> boost::asio::awaitable<void> { return stop(one); }};
    };
    all = std::make_unique<own_sessions>(on, 3, make, watcher, clients, bounds);
    all->start();
  }

  static boost::asio::awaitable<void> stop(std::shared_ptr<made_session> one) {
    one->stopped = true;
    co_return;
  }

  void call(std::string_view session, bool can_be_asked = true) {
    port::client who{.session = session};
    who.abilities.sampling = can_be_asked;
    call(who);
  }

  /// With an Authorization of this value.
  port::reply call_as(std::string_view principal, std::string_view token, port::client who = {}) {
    const std::string head = "POST /mcp HTTP/1.1\r\nHost: h\r\nAuthorization: " + std::string(token) + "\r\n\r\n";
    who.principal = principal;
    who.head = head;
    return call(who);
  }

  port::reply call(const port::client& who) {
    test::peeked request(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}})");
    const port::outgoing_request out{.text = request.text(), .seen = &request.seen, .client = who};
    async::interrupt interrupt(on.timers);
    bool done = false;
    port::reply got;
    boost::asio::co_spawn(on.io, all->call(on, out, interrupt, nullptr), [&](std::exception_ptr, port::reply reply) {
      got = std::move(reply);
      done = true;
    });
    run_until([&] { return done; });
    return got;
  }

  template <class Condition>
  void run_until(Condition holds) {
    const time_point due = async::worker::now() + 5s;
    while (!holds() && async::worker::now() < due) {
      on.io.restart();
      on.io.run_one_for(10ms);
    }
    EXPECT_TRUE(holds());
  }

  async::worker on{0};
  recorded_watcher watcher;
  recorded_audience clients;
  std::vector<std::shared_ptr<made_session>> made;  // the shared one first
  std::optional<port::reply> next_first;            // what the next one answers before anything else
  std::unique_ptr<own_sessions> all;
};

TEST_F(own_sessions_test, a_client_that_cannot_be_asked_shares_the_common_session) {
  open();
  call("a", false);
  call("b", false);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_FALSE(made[0]->role.abilities.any());
  EXPECT_TRUE(made[0]->role.lists);
  EXPECT_EQ(made[0]->upstream->calls().size(), 2u);
}

TEST_F(own_sessions_test, a_client_that_can_be_asked_gets_one_of_its_own_and_keeps_it) {
  open();
  call("a");
  call("a");
  call("b");
  ASSERT_EQ(made.size(), 3u);
  EXPECT_TRUE(made[1]->started && made[1]->role.abilities.sampling);
  EXPECT_FALSE(made[1]->role.lists);
  EXPECT_TRUE(made[0]->upstream->calls().empty());
  EXPECT_EQ(made[1]->upstream->calls().size() + made[2]->upstream->calls().size(), 3u);
}

TEST_F(own_sessions_test, a_modern_server_needs_none) {
  open();
  made[0]->upstream->speaks = protocol::era::modern;
  call("a");
  EXPECT_EQ(made.size(), 1u);
}

TEST_F(own_sessions_test, beyond_the_limit_clients_share_and_one_line_says_so) {
  open({.most = 1});
  call("a");
  call("b");
  call("c");
  run_until([&] { return !watcher.remarks.empty(); });
  EXPECT_EQ(made.size(), 2u);
  EXPECT_EQ(all->open(), 1u);
  EXPECT_EQ(watcher.remarks.size(), 1u);
}

TEST_F(own_sessions_test, none_is_opened_where_the_limit_is_zero) {
  open({.most = 0});
  call("a");
  EXPECT_EQ(made.size(), 1u);
}

TEST_F(own_sessions_test, ends_with_the_clients) {
  open();
  call("a");
  all->client_gone("nobody");
  all->client_gone("a");
  EXPECT_EQ(all->open(), 0u);
  run_until([&] { return made[1]->stopped; });
  EXPECT_FALSE(made[0]->stopped);
}

TEST_F(own_sessions_test, ends_when_nobody_uses_it) {
  open({.idle = 200ms});
  call("a");
  run_until([&] { return made[1]->stopped; });
  EXPECT_EQ(all->open(), 0u);
}

TEST_F(own_sessions_test, what_it_says_is_for_its_client) {
  open();
  call("a");
  const std::string log = R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";
  const std::string question = R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})";
  const test::peeked told(log), wants(question);
  made[1]->watcher->notified(3, log, told.seen);
  async::interrupt never(on.timers);
  std::string answer;
  boost::asio::co_spawn(on.io, made[1]->watcher->asked(3, question, wants.seen, never),
                        [&](std::exception_ptr, std::string text) { answer = std::move(text); });
  run_until([&] { return !answer.empty(); });
  using heard = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(clients.sent, (heard{{"a", log}}));
  EXPECT_EQ(clients.asked, (heard{{"a", question}}));
}

TEST_F(own_sessions_test, all_of_them_end_at_the_stop) {
  open();
  call("a");
  bool done = false;
  boost::asio::co_spawn(on.io, all->stop(), [&](std::exception_ptr) { done = true; });
  run_until([&] { return done; });
  EXPECT_TRUE(made[0]->stopped && made[1]->stopped);
  call("b");
  EXPECT_EQ(made.size(), 2u);
}

// --- where callers' credentials go on

const own_sessions::limits forwarding{.forward = {"authorization"}};

port::reply denied_session() {
  port::reply made = test::reply_of(port::fault::bad_status, 401, "initialize: HTTP 401");
  made.sent = false;
  return made;
}

TEST_F(own_sessions_test, each_principal_has_a_session_and_the_common_one_serves_nobody) {
  open(forwarding);
  call_as("ann", "a1");
  call_as("bob", "b1");
  call_as("ann", "a2");
  ASSERT_EQ(made.size(), 3u);
  EXPECT_TRUE(made[0]->upstream->calls().empty());
  EXPECT_EQ(made[0]->role.credential, std::nullopt);
  EXPECT_EQ(made[1]->role.credential, "authorization: a1\r\n");
  EXPECT_EQ(made[2]->role.credential, "authorization: b1\r\n");
  EXPECT_FALSE(made[1]->role.lists || made[1]->role.news || made[1]->role.abilities.any());
}

TEST_F(own_sessions_test, a_call_brings_the_credential_that_it_came_with) {
  open(forwarding);
  call_as("ann", "a1");
  call_as("ann", "a2");
  ASSERT_EQ(made.size(), 2u);
  ASSERT_EQ(made[1]->upstream->calls().size(), 2u);
  EXPECT_EQ(made[1]->upstream->calls()[0].credential, "authorization: a1\r\n");
  EXPECT_EQ(made[1]->upstream->calls()[1].credential, "authorization: a2\r\n");
}

TEST_F(own_sessions_test, who_calls_without_a_credential_is_a_principal_as_well) {
  open(forwarding);
  call(port::client{});
  call_as("ann", "a1");
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[1]->role.credential, "");
  EXPECT_EQ(made[1]->upstream->calls().at(0).credential, "");
}

TEST_F(own_sessions_test, a_principals_client_that_can_be_asked_has_one_besides_its_principals) {
  open(forwarding);
  port::client asked{.session = "s"};
  asked.abilities.sampling = true;
  call_as("ann", "a1");
  call_as("ann", "a1", asked);
  call_as("ann", "a1", port::client{.session = "another"});
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[1]->upstream->calls().size(), 2u);
  EXPECT_TRUE(made[2]->role.abilities.sampling && made[2]->role.news);
  all->client_gone("s");
  run_until([&] { return made[2]->stopped; });
  EXPECT_FALSE(made[1]->stopped);
  EXPECT_EQ(all->open(), 1u);
}

TEST_F(own_sessions_test, a_modern_server_is_told_with_each_request_who_asks) {
  open(forwarding);
  made[0]->upstream->speaks = protocol::era::modern;
  call_as("ann", "a1");
  call_as("bob", "b1");
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0]->upstream->calls().at(0).credential, "authorization: a1\r\n");
  EXPECT_EQ(made[0]->upstream->calls().at(1).credential, "authorization: b1\r\n");
}

TEST_F(own_sessions_test, beyond_the_limit_principals_are_refused) {
  open({.most = 1, .forward = {"authorization"}});
  call_as("ann", "a1");
  const port::reply refused = call_as("bob", "b1");
  EXPECT_EQ(refused.fault, port::fault::overloaded);
  EXPECT_FALSE(refused.sent);
  EXPECT_EQ(made.size(), 2u);
  EXPECT_TRUE(made[0]->upstream->calls().empty());
  EXPECT_EQ(call_as("ann", "a2").fault, port::fault::none);
  run_until([&] { return !watcher.remarks.empty(); });
  EXPECT_NE(watcher.remarks[0].find("refused"), std::string::npos);
}

TEST_F(own_sessions_test, a_session_that_the_server_denies_makes_room_for_another) {
  open({.most = 1, .forward = {"authorization"}});
  next_first = denied_session();
  EXPECT_EQ(call_as("ann", "bad").status, 401);
  EXPECT_EQ(call_as("bob", "b1").fault, port::fault::none);
  run_until([&] { return made[1]->stopped; });
  EXPECT_EQ(all->open(), 1u);
  EXPECT_EQ(call_as("ann", "good").fault, port::fault::overloaded);
}

TEST_F(own_sessions_test, callers_with_ever_new_credentials_collect_no_dead_sessions_without_end) {
  open({.most = 1, .forward = {"authorization"}});
  unsigned refused = 0;
  for (int i = 0; i < 300; ++i) {
    next_first = denied_session();
    refused += call_as("p" + std::to_string(i), "bad").fault == port::fault::overloaded ? 1 : 0;
  }
  // `made` keeps all of them alive, as a factory does that takes its time to end one.
  EXPECT_EQ(made.size(), 1u + 101u);
  EXPECT_EQ(refused, 300u - 101u);
}

TEST_F(own_sessions_test, a_principals_own_session_has_nobody_to_tell_or_ask) {
  open(forwarding);
  call_as("ann", "a1");
  const std::string log = R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";
  const std::string question = R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})";
  const test::peeked told(log), wants(question);
  made[1]->watcher->notified(3, log, told.seen);
  async::interrupt never(on.timers);
  std::string answer;
  boost::asio::co_spawn(on.io, made[1]->watcher->asked(3, question, wants.seen, never),
                        [&](std::exception_ptr, std::string text) { answer = std::move(text); });
  run_until([&] { return !answer.empty(); });
  EXPECT_NE(answer.find("error"), std::string::npos);
  EXPECT_TRUE(clients.sent.empty() && clients.asked.empty());
}

TEST_F(own_sessions_test, the_operators_credential_is_rejected_from_the_first_such_answer_to_the_next_good_one) {
  open();
  for (int i = 0; i < 4; ++i) call("", false);
  EXPECT_EQ(all->status().denied, 0);
  for (const int status : {401, 403, 401}) made[0]->upstream->answer(test::reply_of(port::fault::bad_status, status));
  made[0]->upstream->answer(test::reply_of(port::fault::connect_failed));
  for (int i = 0; i < 4; ++i) call("", false);
  run_until([&] { return !watcher.credentials.empty(); });
  EXPECT_EQ(all->status().denied, 401);
  EXPECT_NE(all->status().reason.find("credential rejected"), std::string::npos);
  made[0]->upstream->answer(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  call("", false);
  run_until([&] { return watcher.credentials.size() == 2; });
  EXPECT_EQ(watcher.credentials, (std::vector<int>{401, 0}));
  EXPECT_EQ(all->status().denied, 0);
}

TEST_F(own_sessions_test, a_callers_rejected_credential_says_nothing_of_the_operators) {
  open(forwarding);
  next_first = test::reply_of(port::fault::bad_status, 401);
  EXPECT_EQ(call_as("ann", "bad").status, 401);
  EXPECT_EQ(all->status().denied, 0);
  made[0]->watcher->state_changed(3, {.state = port::upstream_state::degraded, .denied = 403});
  run_until([&] { return !watcher.credentials.empty(); });
  made[0]->watcher->state_changed(3, {.state = port::upstream_state::ready});
  run_until([&] { return watcher.credentials.size() == 2; });
  EXPECT_EQ(watcher.credentials, (std::vector<int>{403, 0}));
}

}  // namespace
}  // namespace switchgear::upstream
