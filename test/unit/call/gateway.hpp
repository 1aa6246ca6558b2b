// A gateway without sockets: two scripted upstreams, real gates, one call at a time on a real event loop.
#pragma once

#include "call/limiters.hpp"
#include "call/pauses.hpp"
#include "call/service.hpp"
#include "cascade/stand_in.hpp"
#include "protocol/definitions_list.hpp"
#include "route/prompts.hpp"
#include "support/fake_answers.hpp"
#include "support/fake_breakers.hpp"
#include "support/fake_pauses.hpp"
#include "support/fake_recorder.hpp"
#include "support/fake_upstream.hpp"
#include "support/fake_web.hpp"
#include "support/nonces.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::call {

using namespace std::chrono_literals;

inline constexpr std::string_view plain_tool = R"([{"name":"query","inputSchema":{"type":"object"}}])";
inline constexpr std::string_view reading_tool =
    R"([{"name":"query","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}])";
inline constexpr std::string_view structured_tool =
    R"([{"name":"query","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},)"
    R"("outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}])";

inline constexpr std::string_view good_answer =
    R"({"jsonrpc":"2.0","id":77,"result":{"content":[{"type":"text","text":"fine"}]}})";
inline constexpr std::string_view good_result = R"({"content":[{"type":"text","text":"fine"}]})";

/// What a test sees of one call's answer.
struct heard {
  std::string text;
  bool degraded = false;
  boost::json::value json;

  const boost::json::value& result() const { return json.at("result"); }
  std::string marker() const { return serialize(result().at("_meta").at(cascade::marker_key)); }
  std::string words(std::size_t block = 0) const {
    return std::string(result().at("content").at(block).at("text").as_string());
  }
  bool is_error() const { return result().as_object().contains("isError"); }

 private:
  static std::string serialize(const boost::json::value& value) { return boost::json::serialize(value); }
};

class gateway {
 public:
  test::fake_breakers breakers;
  states sealed{{}, &test::counted_nonce};
  test::fake_recorder recorder;
  cascade::answer_cache answers{{}};
  test::fake_upstream search, backup;
  test::fake_web web;
  port::model* model = nullptr;
  cascade::retry_budget search_retries{0.1}, backup_retries{0.1};
  cascade::latency_record latency;  ///< of search__query, where it hedges
  cascade::loops loops;
  test::fake_pauses others;  ///< the other replicas
  call::pauses paused{&others};
  limiters limits;
  std::map<std::string, cascade::concurrency_policy, std::less<>> server_concurrency;
  test::fake_answers shared;  ///< what other replicas keep, when shares_answers
  bool shares_answers = false;
  std::map<std::string, port::tool_policy, std::less<>> policies;
  std::string principal;
  std::string head;          ///< the HTTP head of its requests
  int status = 0;            ///< that the last answer wanted
  unsigned retry_after = 0;  ///< that it had for its head
  port::client asker;        ///< its principal is the one above
  port::event_sink* client = nullptr;
  std::optional<duration> cancel_after;  ///< the client hangs up then

  explicit gateway(std::string_view search_tools = plain_tool, std::string_view backup_tools = plain_tool) {
    policies["search__query"].note = false;
    list(search_tools, backup_tools);
  }

  port::tool_policy& policy() { return policies["search__query"]; }

  void list(std::string_view search_tools, std::string_view backup_tools) {
    search_tools_ = read(search_tools);
    backup_tools_ = read(backup_tools);
    service_.reset();
  }

  const directory& known() {
    start();
    return *directory_;
  }

  /// One call of search__query with these arguments.
  heard ask(std::string_view arguments = "{}", std::string_view id = "1", std::string_view meta = "") {
    std::string text = R"({"jsonrpc":"2.0","id":)" + std::string(id) +
                       R"(,"method":"tools/call","params":{"name":"search__query","arguments":)" +
                       std::string(arguments);
    if (!meta.empty()) text += R"(,"_meta":)" + std::string(meta);
    return send(text + "}}");
  }

  heard send(std::string_view request) {
    start();
    buffer text;
    text.append(request);
    protocol::scratch space;
    const auto seen = protocol::peek(text.view(), space);
    EXPECT_TRUE(seen) << request;
    port::answer out;
    async::interrupt interrupt(worker_->timers);
    const port::incoming_call call{
        .text = text.view(), .seen = &*seen, .client = client_facts(), .arrived = async::worker::now()};
    bool done = false;
    boost::asio::co_spawn(worker_->io, service_->call(*worker_, call, interrupt, client, out),
                          [&](std::exception_ptr failure) {
                            EXPECT_FALSE(failure);
                            done = true;
                          });
    boost::asio::steady_timer hang_up(worker_->io);
    if (cancel_after) {
      hang_up.expires_after(*cancel_after);
      hang_up.async_wait([&](error_code) { interrupt.raise(async::interrupt::reason::cancelled); });
    }
    worker_->io.restart();
    worker_->io.run_for(5s);
    EXPECT_TRUE(done);
    EXPECT_FALSE(interrupt.armed());

    status = out.status;
    retry_after = out.retry_after;
    heard made{joined(out.pieces), out.degraded, {}};
    made.json = boost::json::parse(made.text);
    return made;
  }

  /// Begins a call and tears everything down before it ends.
  void ask_and_vanish(std::string_view request) {
    start();
    buffer text;
    text.append(request);
    protocol::scratch space;
    const auto seen = protocol::peek(text.view(), space);
    port::answer out;
    async::interrupt interrupt(worker_->timers);
    const port::incoming_call call{
        .text = text.view(), .seen = &*seen, .client = client_facts(), .arrived = async::worker::now()};
    boost::asio::co_spawn(worker_->io, service_->call(*worker_, call, interrupt, client, out), boost::asio::detached);
    worker_->io.restart();
    worker_->io.run_for(20ms);
    worker_.reset();
  }

  port::client client_facts() const {
    port::client made = asker;
    made.principal = principal;
    made.head = head;
    return made;
  }

  breaker::counts counted(const std::string& gate) { return breakers.collect(gate).batch.counts; }

 private:
  static std::vector<protocol::tool> read(std::string_view tools) {
    buffer text;
    text.append(R"({"tools":)" + std::string(tools) + "}");
    return protocol::read_tools_page(text.view()).value().tools;
  }

  void start() {
    if (service_) return;
    const route::upstream_tools listed[] = {{"search", 0, search_tools_}, {"backup", 1, backup_tools_}};
    const auto prompts =
        protocol::read_definitions_page(protocol::definition_kind::prompt, R"({"prompts":[{"name":"greet"}]})")
            ->definitions;
    const auto resources = protocol::read_definitions_page(protocol::definition_kind::resource,
                                                           R"({"resources":[{"uri":"x:1","name":"n"}]})")
                               ->definitions;
    const route::upstream_prompts with_prompts[] = {{"search", 0, prompts}};
    const route::upstream_resources with_resources[] = {{"search", 0, resources, {}}, {"backup", 1, resources, {}}};
    directory_ = directory::build(
        {std::make_shared<const route::catalogue>(listed, route::naming::prefix),
         {&search, &backup},
         [this](std::string_view name) { return policies[std::string(name)]; },
         [](std::string_view) { return breaker::settings{}; },
         &breakers,
         &recorder,
         {&search_retries, &backup_retries},
         [this](std::string_view) { return &latency; },
         std::make_shared<const route::table<route::item>>(route::merged_prompts(with_prompts, route::naming::prefix)),
         std::make_shared<const route::resources>(with_resources),
         &web,
         model,
         &paused,
         &loops,
         &limits,
         [this](std::string_view alias) { return server_concurrency[std::string(alias)]; },
         shares_answers ? &shared : nullptr});
    service_ = std::make_unique<service>(directory_, breakers, recorder, answers, sealed, 1);
  }

  std::vector<protocol::tool> search_tools_, backup_tools_;
  std::shared_ptr<const directory> directory_;
  std::unique_ptr<service> service_;
  std::unique_ptr<async::worker> worker_ = std::make_unique<async::worker>(0);
};

}  // namespace switchgear::call
