// Every key of every table changes what it says it changes, and every key is in this test.
#include "config/breaker_keys.hpp"
#include "config/concurrency_keys.hpp"
#include "config/fallback.hpp"
#include "config/gateway_keys.hpp"
#include "config/http_step_keys.hpp"
#include "config/tool_keys.hpp"
#include "config/upstream_keys.hpp"
#include "reading.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;
using test::read;

struct key_case {
  std::string key;   ///< table and name
  std::string text;  ///< a document that sets it
  std::function<bool(const gateway&)> holds;
};

const upstream& first(const gateway& made) {
  return made.upstreams.at(0);
}
port::tool_policy tool(const gateway& made) {
  return made.policy_for("s__t");
}

template <class Step>
const Step& step(const port::tool_policy& policy) {
  return std::get<Step>(policy.fallback.steps.at(0));
}

std::string http(const std::string& more) {
  return "upstreams: {s: {url: 'http://h/mcp', " + more + "}}";
}
std::string child(const std::string& more) {
  return "upstreams: {s: {command: [prog], " + more + "}}";
}
std::string rule(const std::string& more) {
  return "tools: {s__t: {" + more + "}}";
}
std::string fallback(const std::string& step) {
  return rule("fallback: [" + step + "]");
}

std::string endpoint(const std::string& more) {
  return fallback("http: {url: 'http://h/{{a}}?q={{/b/0}}'" + (more.empty() ? "" : ", " + more) + "}");
}

std::vector<key_case> top_level_cases() {
  using list = std::vector<std::string>;
  return {
      {"top.listen", "listen: 0.0.0.0:81",
       [](const gateway& g) { return g.listen.address == "0.0.0.0" && g.listen.port == 81; }},
      {"top.admin", "admin: '[::1]:82'",
       [](const gateway& g) { return g.admin.address == "::1" && g.admin.port == 82; }},
      {"top.principal", "principal: X-User", [](const gateway& g) { return g.listening().principal == "x-user"; }},
      {"top.state", "state: memory", [](const gateway& g) { return g.state == "memory"; }},
      {"top.redis", "state: redis://h\nredis: {prefix: a}", [](const gateway& g) { return g.redis.prefix == "a"; }},
      {"top.names", "names: plain", [](const gateway& g) { return g.names == route::naming::plain; }},
      {"top.threads", "threads: 3", [](const gateway& g) { return g.threads == 3; }},
      {"top.log", "log: debug", [](const gateway& g) { return g.log == "debug"; }},
      {"top.limits", "limits: {max_request: 1MiB}", [](const gateway& g) { return g.listen.max_request == 1u << 20; }},
      {"top.allowed_hosts", "allowed_hosts: [a, b]",
       [](const gateway& g) { return g.listen.allowed_hosts == list{"a", "b"}; }},
      {"top.allowed_origins", "allowed_origins: https://a.example",
       [](const gateway& g) { return g.listen.allowed_origins == list{"https://a.example"}; }},
      {"top.sessions", "sessions: {most: 5}", [](const gateway& g) { return g.listen.max_sessions == 5; }},
      {"top.drain", "drain: 7s", [](const gateway& g) { return g.listen.drain == 7s; }},
      {"top.cache", "cache: {memory: 0}", [](const gateway& g) { return g.cache.memory == 0; }},
      {"top.breaker", "breaker: {window: 20s}",
       [](const gateway& g) { return g.breaker.window == 20s && tool(g).breaker.window == 20s; }},
      {"top.upstreams", http(""), [](const gateway& g) { return first(g).link.alias == "s"; }},
      {"top.tools", rule("deadline: 9s"), [](const gateway& g) { return g.tools.at(0).pattern == "s__t"; }},
      {"limits.max_request", "limits: {max_request: 64KiB}",
       [](const gateway& g) { return g.listen.max_request == 65536; }},
      {"limits.max_answer", "upstreams: {s: {url: 'http://h'}}\nlimits: {max_answer: 64KiB}",
       [](const gateway& g) { return first(g).link.max_answer == 65536; }},
      {"sessions.idle", "sessions: {idle: 9s}", [](const gateway& g) { return g.listen.session_idle == 9s; }},
      {"sessions.most", "sessions: {most: 9}", [](const gateway& g) { return g.listen.max_sessions == 9; }},
      {"sessions.key", "sessions: {key: 0123456789abcdef}",
       [](const gateway& g) { return g.listen.session_key == "0123456789abcdef"; }},
      {"redis.user", "state: redis://h\nredis: {user: u}", [](const gateway& g) { return g.redis.user == "u"; }},
      {"redis.password", "state: redis://h\nredis: {password: p}",
       [](const gateway& g) { return g.redis.password == "p"; }},
      {"redis.password_file", "state: redis://h\nredis: {password_file: /p}",
       [](const gateway& g) { return g.redis.password_file == "/p"; }},
      {"redis.ca", "state: rediss://h\nredis: {ca: /a}", [](const gateway& g) { return g.redis.ca == "/a"; }},
      {"redis.cert", "state: rediss://h\nredis: {cert: /c}", [](const gateway& g) { return g.redis.cert == "/c"; }},
      {"redis.key", "state: rediss://h\nredis: {cert: /c, key: /k}",
       [](const gateway& g) { return g.redis.key == "/k"; }},
      {"redis.timeout", "state: redis://h\nredis: {timeout: 20ms}",
       [](const gateway& g) { return g.redis.timeout == 20ms; }},
      {"redis.flush", "state: redis://h\nredis: {flush: 250ms}",
       [](const gateway& g) { return g.redis.flush == 250ms; }},
      {"redis.prefix", "state: redis://h\nredis: {prefix: fleet-2}",
       [](const gateway& g) { return g.redis.prefix == "fleet-2"; }},
      {"redis.settings_version", "state: redis://h\nredis: {settings_version: 7}",
       [](const gateway& g) { return g.redis.settings_version == 7; }},
      {"cache.memory", "cache: {memory: 2MiB}", [](const gateway& g) { return g.cache.memory == 2u << 20; }},
      {"cache.entry", "cache: {entry: 2KiB}", [](const gateway& g) { return g.cache.entry == 2048; }},
      {"cache.shared_memory", "state: redis://h\ncache: {shared_memory: 64MiB}",
       [](const gateway& g) { return g.cache.shared_memory == 64u << 20; }},
  };
}

std::vector<key_case> upstream_cases() {
  using list = std::vector<std::string>;
  return {
      {"upstream.url", http(""),
       [](const gateway& g) { return first(g).link.http.url == "http://h/mcp" && !first(g).link.is_stdio; }},
      {"upstream.headers", http("headers: {X-A: b}"),
       [](const gateway& g) {
         return first(g).link.http.headers.at(0) == std::pair<std::string, std::string>("X-A", "b");
       }},
      {"upstream.forward", http("forward: [Authorization, x-key]"),
       [](const gateway& g) {
         const list both{"authorization", "x-key"};
         return first(g).link.http.forward == both && g.listening().credentials == both;
       }},
      {"upstream.tls", "upstreams: {s: {url: 'https://h', tls: {ca: /a.pem}}}",
       [](const gateway& g) { return first(g).link.http.ca_file == "/a.pem"; }},
      {"tls.ca", "upstreams: {s: {url: 'https://h', tls: {ca: /b.pem}}}",
       [](const gateway& g) { return first(g).link.http.ca_file == "/b.pem"; }},
      {"upstream.command", child(""),
       [](const gateway& g) { return first(g).link.is_stdio && first(g).link.stdio.command == list{"prog"}; }},
      {"upstream.args", "upstreams: {s: {args: [b, ''], command: [prog, a]}}",
       [](const gateway& g) { return first(g).link.stdio.command == list{"prog", "a", "b", ""}; }},
      {"upstream.env", child("env: {A: b}"),
       [](const gateway& g) { return first(g).link.stdio.environment.at("A") == "b"; }},
      {"upstream.directory", child("directory: /d"),
       [](const gateway& g) { return first(g).link.stdio.directory == "/d"; }},
      {"upstream.connect_timeout", http("connect_timeout: 1s"),
       [](const gateway& g) { return first(g).link.connect_timeout == 1s; }},
      {"upstream.handshake_timeout", http("handshake_timeout: 2s"),
       [](const gateway& g) { return first(g).link.handshake_timeout == 2s; }},
      {"upstream.refresh", http("refresh: 3s"), [](const gateway& g) { return first(g).link.refresh == 3s; }},
      {"upstream.connections", http("connections: 4"),
       [](const gateway& g) { return first(g).link.max_connections == 4; }},
      {"upstream.keep_alive", http("keep_alive: 300ms"),
       [](const gateway& g) { return first(g).link.keep_alive == 300ms; }},
      {"upstream.sse", http("sse: true"), [](const gateway& g) { return first(g).link.http.sse; }},
      {"upstream.era", http("era: modern"),
       [](const gateway& g) { return first(g).link.era == protocol::era::modern; }},
      {"upstream.memory", child("memory: 64MiB"),
       [](const gateway& g) { return first(g).link.stdio.memory_limit == 64u << 20; }},
      {"upstream.open_files", child("open_files: 99"),
       [](const gateway& g) { return first(g).link.stdio.open_files == 99; }},
      {"upstream.probe_timeout", child("probe_timeout: 3s"),
       [](const gateway& g) { return first(g).link.stdio.probe_timeout == 3s; }},
      {"upstream.own_sessions", http("own_sessions: 7"),
       [](const gateway& g) { return first(g).link.own_sessions == 7; }},
      {"upstream.retry_budget", http("retry_budget: 5%"),
       [](const gateway& g) { return first(g).retry_budget == 0.05; }},
      {"upstream.concurrency", http("concurrency: 64"),
       [](const gateway& g) { return first(g).concurrency.limit == 64U; }},
      {"upstream.breaker", http("breaker: {cooldown: 5s}") + "\nbreaker: {window: 20s}",
       [](const gateway& g) { return first(g).breaker.cooldown == 5s && first(g).breaker.window == 20s; }},
  };
}

std::vector<key_case> tool_cases() {
  using list = std::vector<std::string>;
  return {
      {"tool.deadline", rule("deadline: 5s"), [](const gateway& g) { return tool(g).deadline == 5s; }},
      {"tool.patience", rule("patience: 7s"), [](const gateway& g) { return tool(g).patience == 7s; }},
      {"tool.read_only", rule("read_only: false"), [](const gateway& g) { return tool(g).read_only == false; }},
      {"tool.breaker", rule("breaker: {error_rate: 10%}"),
       [](const gateway& g) {
         return tool(g).breaker.error_rate == 0.10 && g.policy_for("other").breaker.error_rate == 0.15;
       }},
      {"tool.retry", rule("retry: {attempts: 3}"), [](const gateway& g) { return tool(g).retry.attempts == 3; }},
      {"tool.timeout", rule("timeout: {idle: 4s}"), [](const gateway& g) { return tool(g).timeout.idle == 4s; }},
      {"timeout.first_byte", rule("timeout: {first_byte: 3s}"),
       [](const gateway& g) { return tool(g).timeout.first_byte == 3s; }},
      {"timeout.idle", rule("timeout: {idle: 3s}"), [](const gateway& g) { return tool(g).timeout.idle == 3s; }},
      {"timeout.total", rule("timeout: {total: 3s}"), [](const gateway& g) { return tool(g).timeout.total == 3s; }},
      {"timeout.progress_extends", rule("timeout: {progress_extends: false}"),
       [](const gateway& g) { return !tool(g).timeout.progress_extends; }},
      {"tool.hedge", rule("hedge: {quantile: 90%}"), [](const gateway& g) { return tool(g).hedge.quantile == 0.9; }},
      {"hedge.quantile", rule("hedge: {quantile: 95%}"),
       [](const gateway& g) { return tool(g).hedge.quantile == 0.95; }},
      {"hedge.least", rule("hedge: {least: 50ms}"), [](const gateway& g) { return tool(g).hedge.least == 50ms; }},
      {"tool.idempotency_key", rule("idempotency_key: request_id"),
       [](const gateway& g) { return tool(g).idempotency_key == "request_id"; }},
      {"retry.attempts", rule("retry: {attempts: 2}"), [](const gateway& g) { return tool(g).retry.attempts == 2; }},
      {"retry.backoff", rule("retry: {backoff: 20ms}"), [](const gateway& g) { return tool(g).retry.backoff == 20ms; }},
      {"tool.loop", rule("loop: {failures: 3}"), [](const gateway& g) { return tool(g).loop.failures == 3; }},
      {"loop.failures", rule("loop: {failures: 2}"), [](const gateway& g) { return tool(g).loop.failures == 2; }},
      {"loop.window", rule("loop: {window: 5m}"), [](const gateway& g) { return tool(g).loop.window == 5min; }},
      {"retry.longest_pause", rule("retry: {longest_pause: 2s}"),
       [](const gateway& g) { return tool(g).retry.longest_pause == 2s; }},
      {"tool.concurrency", rule("concurrency: 64"),
       [](const gateway& g) {
         return tool(g).concurrency.limit == 64U && !g.policy_for("other").concurrency.limits();
       }},
      {"concurrency.limit", rule("concurrency: {limit: adaptive}"),
       [](const gateway& g) { return tool(g).concurrency.adaptive(); }},
      {"concurrency.least", rule("concurrency: {least: 7}"),
       [](const gateway& g) { return tool(g).concurrency.least == 7; }},
      {"concurrency.most", rule("concurrency: {most: 70}"),
       [](const gateway& g) { return tool(g).concurrency.most == 70; }},
      {"concurrency.queue", rule("concurrency: {queue: 0}"),
       [](const gateway& g) { return tool(g).concurrency.queue == 0U; }},
      {"concurrency.queue_timeout", rule("concurrency: {queue_timeout: 2s}"),
       [](const gateway& g) { return tool(g).concurrency.queue_timeout == 2s; }},
      {"concurrency.principal_share", rule("concurrency: {principal_share: 25%}"),
       [](const gateway& g) { return tool(g).concurrency.principal_share == 0.25; }},
      {"tool.error_text", rule("error_text: [quota]"),
       [](const gateway& g) { return tool(g).error_text == list{"quota"}; }},
      {"tool.note", rule("note: false"), [](const gateway& g) { return !tool(g).note; }},
      {"tool.fallback", fallback("cache: {}"), [](const gateway& g) { return tool(g).fallback.uses_cache(); }},
      {"cache_step.max_age", fallback("cache: {max_age: 3m}"),
       [](const gateway& g) { return step<cascade::cache_step>(tool(g)).max_age == 3min; }},
      {"cache_step.fresh_for", fallback("cache: {fresh_for: 3s}"),
       [](const gateway& g) { return step<cascade::cache_step>(tool(g)).fresh_for == 3s; }},
      {"cache_step.share", fallback("cache: {share: all}"),
       [](const gateway& g) { return step<cascade::cache_step>(tool(g)).share == cascade::share::all; }},
      {"tool_step.name", fallback("tool: {name: b__q}"),
       [](const gateway& g) { return step<cascade::tool_step>(tool(g)).name == "b__q"; }},
      {"tool_step.arguments",
       fallback("tool: {name: b__q, arguments: {q: '{{query}}', n: 5, s: '5', f: [true, null, 1.5, x]}}"),
       [](const gateway& g) {
         return step<cascade::tool_step>(tool(g)).arguments ==
                R"({"q":"{{query}}","n":5,"s":"5","f":[true,null,1.5E0,"x"]})";
       }},
      {"tool_step.result", fallback("tool: {name: b__q, result: {text: a}}"),
       [](const gateway& g) { return !step<cascade::tool_step>(tool(g)).result.empty(); }},
      {"tool_step.minimum_time", fallback("tool: {name: b__q, minimum_time: 250ms}"),
       [](const gateway& g) { return step<cascade::tool_step>(tool(g)).minimum_time == 250ms; }},
      {"http_step.method", endpoint("method: PUT"),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).method == cascade::http_step::verb::put; }},
      {"http_step.url", endpoint(""),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).url == "http://h/{{a}}?q={{/b/0}}"; }},
      {"http_step.headers", endpoint("headers: {X-A: b}"),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).headers.at(0).second == "b"; }},
      {"http_step.body", endpoint("method: POST, body: {q: '{{query}}'}"),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).body == R"({"q":"{{query}}"})"; }},
      {"http_step.result", endpoint("result: {text: '{{/a}}'}"),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).result.text == "{{/a}}"; }},
      {"http_step.read_only", endpoint("read_only: true"),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).read_only; }},
      {"http_step.minimum_time", endpoint("minimum_time: 250ms"),
       [](const gateway& g) { return step<cascade::http_step>(tool(g)).minimum_time == 250ms; }},
      {"http_step.breaker", endpoint("breaker: {cooldown: 5s}") + "\nbreaker: {window: 20s}",
       [](const gateway& g) {
         const auto made = step<cascade::http_step>(tool(g)).breaker;
         return made.cooldown == 5s && made.window == 20s && tool(g).step_breaker.cooldown == 30s;
       }},
      {"result.text", fallback("tool: {name: b__q, result: {text: 'a {{/b/0}}'}}"),
       [](const gateway& g) { return step<cascade::tool_step>(tool(g)).result.text == "a {{/b/0}}"; }},
      {"result.structured", fallback("tool: {name: b__q, result: {structured: {n: '{{/b/0}}'}}}"),
       [](const gateway& g) { return step<cascade::tool_step>(tool(g)).result.structured == R"({"n":"{{/b/0}}"})"; }},
      {"fixed_step.text", fallback("static: {text: \"a\\nb\"}"),
       [](const gateway& g) { return step<cascade::fixed_step>(tool(g)).text == "a\nb"; }},
      {"fixed_step.structured", fallback("static: {text: a, structured: {x: 1}}"),
       [](const gateway& g) { return step<cascade::fixed_step>(tool(g)).structured == R"({"x":1})"; }},
  };
}

std::vector<key_case> breaker_cases() {
  const auto of = [](const std::string& name, const std::string& value,
                     std::function<bool(const breaker::settings&)> holds) {
    return key_case{"breaker." + name, "breaker: {" + name + ": " + value + "}",
                    [holds](const gateway& g) { return holds(g.breaker); }};
  };
  using settings = breaker::settings;
  return {
      of("mode", "observe", [](const settings& s) { return s.mode == breaker::mode::observe; }),
      of("error_rate", "20%", [](const settings& s) { return s.error_rate == 0.20; }),
      of("p99", "800ms", [](const settings& s) { return s.p99 == 800ms; }),
      of("window", "30s", [](const settings& s) { return s.window == 30s; }),
      of("minimum_calls", "50", [](const settings& s) { return s.minimum_calls == 50; }),
      of("certainty", "none", [](const settings& s) { return !s.certainty; }),
      of("outage_rate", "90%", [](const settings& s) { return s.outage_rate == 0.90; }),
      of("outage_threshold", "20", [](const settings& s) { return s.outage_threshold == 20; }),
      of("cooldown", "10s", [](const settings& s) { return s.cooldown == 10s; }),
      of("growth", "2.5", [](const settings& s) { return s.growth == 2.5; }),
      of("max_cooldown", "60s", [](const settings& s) { return s.max_cooldown == 60s; }),
      of("jitter", "5%", [](const settings& s) { return s.jitter == 0.05; }),
      of("probe_share", "5%", [](const settings& s) { return s.probe_share == 0.05; }),
      of("probes_in_flight", "7", [](const settings& s) { return s.probes_in_flight == 7; }),
      of("probes_needed", "20", [](const settings& s) { return s.probes_needed == 20; }),
      of("probe_failures_allowed", "1", [](const settings& s) { return s.probe_failures_allowed == 1; }),
      of("probe_timeout", "3s", [](const settings& s) { return s.probe_timeout == 3s; }),
      of("probe_wait", "0", [](const settings& s) { return s.probe_wait == 0s; }),
      of("ramp", "4s", [](const settings& s) { return s.ramp == 4s; }),
      of("is_error", "failure", [](const settings& s) { return s.is_error == breaker::is_error::failure; }),
      of("quorum", "3", [](const settings& s) { return s.quorum == 3; }),
  };
}

std::vector<key_case> all_cases() {
  std::vector<key_case> all = top_level_cases();
  for (auto more : {upstream_cases(), tool_cases(), breaker_cases()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

template <class Target>
void add_names(const std::string& table, const keys<Target>& from, std::set<std::string>& to) {
  for (const key<Target>& each : from) to.insert(table + '.' + each.name);
}

TEST(every_key, changes_what_it_names) {
  for (const key_case& each : all_cases()) {
    const reading made = read(each.text);
    ASSERT_TRUE(made.gateway) << each.key << "\n" << test::joined(test::lines(made.errors));
    EXPECT_TRUE(each.holds(*made.gateway)) << each.key;
    // Only `state` has a single value, which is therefore its default as well.
    if (each.key == "top.state" || each.key == "top.upstreams" || each.key.starts_with("upstream.url")) continue;
    const reading preset = read("upstreams: {s: {url: 'http://other'}}");
    bool already = false;
    try {
      already = each.holds(*preset.gateway);
    } catch (const std::exception&) {  // what the test looks at is not there by default
    }
    EXPECT_FALSE(already) << each.key << ": the value of the test is the default, so the test proves nothing";
  }
}

TEST(every_key, is_in_this_test) {
  std::set<std::string> known;
  add_names("top", gateway_keys(), known);
  add_names("limits", limit_keys(), known);
  add_names("sessions", session_keys(), known);
  add_names("cache", cache_keys(), known);
  add_names("redis", redis_keys(), known);
  add_names("breaker", breaker_keys(), known);
  add_names("upstream", upstream_keys(), known);
  add_names("tls", tls_keys(), known);
  add_names("tool", tool_keys(), known);
  add_names("timeout", timeout_keys(), known);
  add_names("retry", retry_keys(), known);
  add_names("hedge", hedge_keys(), known);
  add_names("loop", loop_keys(), known);
  add_names("concurrency", concurrency_keys(), known);
  add_names("cache_step", cache_step_keys(), known);
  add_names("tool_step", tool_step_keys(), known);
  add_names("http_step", http_step_keys(), known);
  add_names("result", result_keys(), known);
  add_names("fixed_step", fixed_step_keys(), known);

  std::set<std::string> tested;
  for (const key_case& each : all_cases()) tested.insert(each.key);

  EXPECT_EQ(tested, known);
}

TEST(every_key, is_refused_with_a_value_of_another_sort) {
  for (const key_case& each : all_cases()) {
    const std::string name = each.key.substr(each.key.find('.') + 1);
    const std::size_t at = each.text.find(name + ':');
    ASSERT_NE(at, std::string::npos) << each.key;
    // A list of lists is right for no key.
    const std::string wrong = each.text.substr(0, at) + name + ": [[x]], " + each.text.substr(at);
    EXPECT_FALSE(read(each.text.starts_with(name) ? name + ": [[x]]" : wrong).errors.empty()) << each.key;
  }
}

TEST(an_empty_file, means_the_defaults) {
  const reading made = read("");
  ASSERT_TRUE(made.gateway);
  EXPECT_EQ(made.gateway->breaker, breaker::settings{});
  EXPECT_EQ(made.gateway->listen.port, 8080);
  EXPECT_EQ(made.gateway->admin.port, 9090);
  EXPECT_EQ(made.gateway->policy_for("x").deadline, 30s);
}

}  // namespace
}  // namespace switchgear::config
