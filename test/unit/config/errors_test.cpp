// What is said about a configuration that is wrong, and where.
#include "config/field.hpp"
#include "reading.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

using test::errors_of;
using test::joined;
using test::lines;
using test::read;

std::string only_error(std::string_view text) {
  const auto all = errors_of(text);
  return all.size() == 1 ? all.front() : "not one error but:\n" + joined(all);
}

TEST(an_error, names_file_line_column_key_and_what_would_be_right) {
  EXPECT_EQ(only_error("drain: 5s\ntools:\n  s__q:\n    deadline: 5\n"),
            "test.yaml:4:15: tools.s__q.deadline: \"5\" is not a duration; write it as in 250ms, 5s, 10m or 1h");
}

TEST(an_unknown_key, is_an_error_with_the_name_that_was_meant) {
  EXPECT_EQ(only_error("brekaer: {}\n"), "test.yaml:1:1: brekaer: unknown key; did you mean `breaker`?");
  EXPECT_EQ(only_error("breaker: {min_calls: 5}\n").substr(0, 48), "test.yaml:1:11: breaker.min_calls: unknown key; ");
  EXPECT_EQ(only_error("tools: {x: {falback: []}}\n"),
            "test.yaml:1:13: tools.x.falback: unknown key; did you mean `fallback`?");
  EXPECT_NE(only_error("zzzzzzzzz: 1\n").find("known here: listen, admin,"), std::string::npos);
}

TEST(an_unknown_key, is_what_a_key_of_a_later_version_is) {
  EXPECT_NE(only_error("principals: {}").find("unknown key"), std::string::npos);
}

TEST(a_key_that_stands_twice, is_an_error_that_names_the_first_line) {
  EXPECT_EQ(only_error("drain: 5s\n\ndrain: 6s\n"), "test.yaml:3:1: drain: stands twice; it is first on line 1");
}

TEST(every_error, is_reported_at_once_in_the_order_of_the_file) {
  const auto all = errors_of(
      "tools:\n  x: {deadline: soon}\nlisten: nowhere\nbreaker: {error_rate: 0.15, window: 5s}\nthreads: many\nfoo: "
      "1\n");
  ASSERT_EQ(all.size(), 6u) << joined(all);
  EXPECT_TRUE(all[0].starts_with("test.yaml:2:17: tools.x.deadline: \"soon\" is not a duration"));
  EXPECT_TRUE(all[1].starts_with("test.yaml:3:9: listen: \"nowhere\" is not an address to listen on"));
  EXPECT_TRUE(
      all[2].starts_with("test.yaml:4:23: breaker.error_rate: \"0.15\" is not a share; write it with a percent sign"));
  EXPECT_TRUE(all[3].starts_with("test.yaml:4:37: breaker.window: \"5s\" is out of range; 10s to 5m is allowed"));
  EXPECT_TRUE(all[4].starts_with("test.yaml:5:10: threads: \"many\" is not a whole number"));
  EXPECT_TRUE(all[5].starts_with("test.yaml:6:1: foo: unknown key"));
}

TEST(a_file_of_garbage, gives_a_bounded_number_of_errors) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "breakre" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(errors_of(text).size(), findings::most);
}

TEST(a_value_of_another_kind, is_an_error) {
  EXPECT_EQ(only_error("- a\n"), "test.yaml:1:1: a mapping of keys is needed, as in `listen: 127.0.0.1:8080`");
  EXPECT_EQ(only_error("listen: [a]\n"), "test.yaml:1:9: listen: is a list; a single value is needed");
  EXPECT_EQ(only_error("breaker: 5\n"),
            "test.yaml:1:10: breaker: is a single value; a mapping is needed, as in {key: value}");
  EXPECT_EQ(only_error("tools: {x: {fallback: {}}}\n"),
            "test.yaml:1:23: tools.x.fallback: is a mapping; a list is needed, as in [a, b]");
  EXPECT_EQ(only_error("tools: {x: {note: yes}}\n"),
            "test.yaml:1:19: tools.x.note: \"yes\" is not a flag; write true or false");
  EXPECT_EQ(only_error("names: short\n"), "test.yaml:1:8: names: \"short\" is not known; write prefix or plain");
}

TEST(a_port, is_in_range) {
  EXPECT_NE(only_error("listen: 127.0.0.1:70000\n").find("a port up to 65535"), std::string::npos);
  EXPECT_NE(only_error("admin: 127.0.0.1:8080\n").find("is the same address as `listen`"), std::string::npos);
}

TEST(a_state, is_checked) {
  const std::string known =
      "write memory, or a URL that begins with redis://, rediss://, redis+sentinel:// or redis+cluster://";
  EXPECT_EQ(only_error("state: disk\n"), "test.yaml:1:8: state: \"disk\" is not known; " + known);
  EXPECT_EQ(only_error("state: etcd://u:geheim@h\n"),
            "test.yaml:1:8: state: \"etcd://u:***@h\" is not known; " + known);
  EXPECT_EQ(only_error("state: redis://h/first\n"),
            "test.yaml:1:8: state: \"first\" is no database; write a number such as 0");
  EXPECT_EQ(only_error("state: redis://a,b\n"),
            "test.yaml:1:8: state: one host is expected; several need redis+sentinel:// or redis+cluster://");
  EXPECT_EQ(only_error("state: redis+sentinel://a\n"),
            "test.yaml:1:8: state: after the hosts the name of the monitored Redis is missing, as in "
            "redis+sentinel://host/mymaster");
}

TEST(the_keys_of_redis, must_have_an_effect) {
  EXPECT_EQ(only_error("state: redis://h\nredis: {ca: /ca.pem}\n"),
            "test.yaml:2:8: redis: names files for TLS; write rediss:// in `state`, or leave them out");
  EXPECT_EQ(only_error("state: rediss://h\nredis: {key: /k.pem}\n"),
            "test.yaml:2:14: redis.key: needs `cert` beside it");
  EXPECT_EQ(only_error("state: redis://h\nredis: {prefix: \"a{b}\"}\n"),
            "test.yaml:2:17: redis.prefix: must be 1 to 64 letters, digits, `.`, `_`, `-` or `:`");
}

TEST(a_url, is_checked) {
  const auto said = [](const std::string& url) { return only_error("upstreams: {s: {url: \"" + url + "\"}}\n"); };
  EXPECT_EQ(said("http://h:99999/"), "test.yaml:1:22: upstreams.s.url: has no valid port; 1 to 65535 is allowed");
  EXPECT_EQ(said("ftp://h/"), "test.yaml:1:22: upstreams.s.url: has the scheme \"ftp\"; http or https is needed");
  EXPECT_NE(said("127.0.0.1:9001/mcp").find("is not a valid URL"), std::string::npos);
  EXPECT_NE(said("http://").find("has no host"), std::string::npos);
  EXPECT_NE(said("http://a b/").find("is not a valid URL"), std::string::npos);
  EXPECT_NE(said("http://user:pw@h/").find("holds credentials"), std::string::npos);
  EXPECT_NE(said("http://h/#x").find("has a fragment"), std::string::npos);
  EXPECT_TRUE(errors_of("upstreams: {s: {url: 'https://[::1]:8443/a?b=c'}}").empty());
}

TEST(a_header, cannot_break_out_of_its_line) {
  const auto said = [](const std::string& header) {
    return only_error("upstreams: {s: {url: 'http://h', headers: {" + header + "}}}\n");
  };
  EXPECT_EQ(said("X-A: \"a\\r\\nX-B: b\""),
            "test.yaml:1:44: upstreams.s.headers.X-A: holds a line end or another control character; a header value is "
            "one line");
  EXPECT_NE(said("\"X A\": b").find("is not a header name"), std::string::npos);
  EXPECT_NE(said("\"X-A\\r\\nX-B\": b").find("is not a header name"), std::string::npos);
  EXPECT_NE(said("Host: other").find("is written by the gateway itself"), std::string::npos);
  EXPECT_NE(said("Content-length: 5").find("is written by the gateway itself"), std::string::npos);
  EXPECT_NE(said("X-A: a, x-a: b").find("stands twice"), std::string::npos);
  EXPECT_NE(said("X-A: ' a'").find("white space"), std::string::npos);
}

TEST(a_header, from_a_variable_cannot_break_out_of_its_line_either) {
  const reading made =
      read("upstreams: {s: {url: 'http://h', headers: {Authorization: 'Bearer ${T}'}}}", {{"T", "x\n"}});
  ASSERT_EQ(made.errors.size(), 1u);
  EXPECT_NE(made.errors[0].what.find("line end"), std::string::npos);
}

TEST(a_forwarded_header, is_one_that_may_go_through) {
  const auto said = [](const std::string& names) {
    return only_error("upstreams: {s: {url: 'http://h', forward: " + names + "}}\n");
  };
  EXPECT_EQ(said("[x-a, Connection]"),
            "test.yaml:1:49: upstreams.s.forward[2]: belongs to one connection, so it does not go through the gateway; "
            "remove it");
  for (const char* wrong : {"Transfer-Encoding", "te", "Host", "Content-Length", "content-type", "Accept",
                            "accept-encoding", "Mcp-Session-Id", "MCP-Anything", "Proxy-Authorization", "user-agent"}) {
    EXPECT_NE(said(wrong).find("does not go through the gateway"), std::string::npos) << wrong;
  }
  EXPECT_NE(said("'X A'").find("is not a header name"), std::string::npos);
  EXPECT_NE(said("[X-A, x-a]").find("stands twice"), std::string::npos);
  EXPECT_NE(said("[a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q]").find("more than 16"), std::string::npos);
  EXPECT_TRUE(errors_of("upstreams: {s: {url: 'http://h', forward: authorization}}").empty());
  EXPECT_NE(only_error("upstreams: {s: {command: [a], forward: [x-a]}}\n").find("means nothing"), std::string::npos);
}

TEST(a_forwarded_header, needs_sessions_for_principals_unless_the_server_has_none) {
  const auto with = [](const std::string& more) {
    return "upstreams: {s: {url: 'http://h', forward: [x-a], own_sessions: 0" + more + "}}\n";
  };
  EXPECT_NE(only_error(with("")).find("upstreams.s.own_sessions: is 0, and `forward` needs"), std::string::npos);
  EXPECT_TRUE(errors_of(with(", era: modern")).empty());
}

TEST(a_principal_header, names_somebody_and_holds_no_secret) {
  EXPECT_EQ(only_error("principal: Authorization\n"),
            "test.yaml:1:12: principal: holds a secret, not a name; write the header in which a proxy says who calls, "
            "as in x-user");
  EXPECT_NE(only_error("principal: host\n").find("does not go through"), std::string::npos);
  EXPECT_NE(only_error("principal: 'a b'\n").find("is not a header name"), std::string::npos);
}

TEST(an_upstream, is_reached_in_exactly_one_way) {
  EXPECT_EQ(only_error("upstreams: {s: {}}\n"),
            "test.yaml:1:16: upstreams.s: has neither `url` nor `command`; one of them is needed");
  EXPECT_NE(only_error("upstreams: {s: {url: 'http://h', command: [a]}}\n").find("not both"), std::string::npos);
  EXPECT_NE(only_error("upstreams: {s: {url: 'http://h', env: {A: b}}}\n").find("means nothing"), std::string::npos);
  EXPECT_NE(only_error("upstreams: {s: {command: [a], headers: {A: b}}}\n").find("means nothing"), std::string::npos);
  EXPECT_NE(only_error("upstreams: {s: {command: []}}\n").find("is empty"), std::string::npos);
}

TEST(an_alias, follows_its_rule) {
  for (const char* wrong : {"Search", "1a", "a__b", "a_", "a.b", "\"\"", "abcdefghijklmnopqrstuvwxyz0123456"}) {
    EXPECT_NE(only_error("upstreams: {" + std::string(wrong) + ": {url: 'http://h'}}\n").find("is not an alias"),
              std::string::npos)
        << wrong;
  }
  EXPECT_TRUE(errors_of("upstreams: {a-b_c9: {url: 'http://h'}}\n").empty());
}

TEST(plain_names, need_a_single_upstream) {
  EXPECT_EQ(only_error("upstreams: {a: {url: 'http://h'}, b: {url: 'http://i'}}\nnames: plain\n"),
            "test.yaml:2:8: names: plain needs exactly one upstream, and there are 2; write prefix");
}

TEST(breaker_knobs_that_contradict_each_other, are_reported_at_the_key) {
  EXPECT_TRUE(only_error("breaker:\n  probes_needed: 2\n  probe_failures_allowed: 2\n").starts_with("test.yaml:"));
  EXPECT_NE(only_error("breaker:\n  probes_needed: 2\n").find("breaker"), std::string::npos);
  EXPECT_NE(only_error("breaker: {error_rate: 85%}\n").find("outage_rate"), std::string::npos);
  // The rule's own value and what it inherits do not go together.
  EXPECT_TRUE(
      only_error("tools:\n  x:\n    breaker:\n      cooldown: 6m\n").starts_with("test.yaml:4:7: tools.x.breaker"));
  EXPECT_TRUE(only_error("upstreams:\n  s: {url: 'http://h', breaker: {cooldown: 6m}}\n").starts_with("test.yaml:2:"));
}

TEST(the_first_pause_of_retries, is_not_over_the_longest) {
  EXPECT_EQ(only_error("tools: {x: {retry: {backoff: 2s}}}\n"),
            "test.yaml:1:30: tools.x.retry.backoff: the first pause of 2s is over `longest_pause`, which is 1s");
  EXPECT_NE(only_error("tools: {x: {retry: {longest_pause: 20ms}}}\n").find("tools.x.retry.longest_pause"),
            std::string::npos);
  EXPECT_TRUE(errors_of("tools: {x: {retry: {backoff: 1s, attempts: 5}}}\n").empty());
  EXPECT_NE(only_error("tools: {x: {retry: {attempts: 6}}}\n").find("1 to 5"), std::string::npos);
}

reading with_a_server(const std::string& text) {
  return read("upstreams: {s: {url: 'http://h'}}\n" + text);
}
/// The only warning about this document, or what there is instead.
std::string only_warning(const std::string& text) {
  const reading made = with_a_server(text);
  EXPECT_TRUE(made.errors.empty()) << joined(lines(made.errors));
  return made.warnings.size() == 1 ? lines(made.warnings)[0] : "not one warning: " + joined(lines(made.warnings));
}

TEST(tries_that_do_not_fit_into_the_deadline, are_warned_of) {
  EXPECT_EQ(only_warning("tools: {x: {deadline: 5s, timeout: {total: 2s}, retry: {attempts: 3}}}\n"),
            "test.yaml:2:67: tools.x.retry.attempts: 3 tries of 2s do not fit into the deadline of 5s");
  EXPECT_NE(only_warning("tools: {x: {retry: {attempts: 2}}}\n").find("takes the whole deadline"), std::string::npos);
  EXPECT_TRUE(with_a_server("tools: {x: {timeout: {total: 2s}, retry: {attempts: 3}}}\n").warnings.empty());
  EXPECT_TRUE(with_a_server("tools: {x: {timeout: {first_byte: 2s}, retry: {attempts: 3}}}\n").warnings.empty());
}

TEST(a_timeout_that_the_deadline_comes_before, is_warned_of) {
  for (const char* name : {"first_byte", "idle", "total"}) {
    const std::string text = "tools: {x: {deadline: 5s, timeout: {" + std::string(name) + ": 5s}}}\n";
    EXPECT_NE(only_warning(text).find("tools.x.timeout." + std::string(name)), std::string::npos) << only_warning(text);
  }
}

TEST(everybodys_answers_of_a_server_that_sees_credentials, are_warned_of) {
  const auto said = [](const std::string& pattern, const std::string& share, const std::string& more = {}) {
    const reading made = read("upstreams: {s: {url: 'http://h', forward: [authorization]}, t: {url: 'http://i'}}\n" +
                              more + "tools: {'" + pattern + "': {fallback: [{cache: {share: " + share + "}}]}}\n");
    return joined(lines(made.warnings));
  };
  EXPECT_NE(said("s__q", "all").find("test.yaml:2:29: tools.s__q.fallback[1]: gives everybody what"), std::string::npos)
      << said("s__q", "all");
  EXPECT_NE(said("*", "all").find("gives everybody"), std::string::npos);
  EXPECT_NE(said("s__q*", "all").find("gives everybody"), std::string::npos);
  EXPECT_EQ(said("s__q", "principal"), "");
  EXPECT_EQ(said("t__*", "all"), "");
  EXPECT_EQ(said("s_x*", "all"), "");
}

TEST(memory_for_answers_in_a_redis_that_is_none, is_warned_of) {
  EXPECT_NE(only_warning("cache: {shared_memory: 64MiB}\n").find("cache.shared_memory: is not used"),
            std::string::npos);
  EXPECT_TRUE(with_a_server("state: redis://h\ncache: {shared_memory: 64MiB}\n").warnings.empty());
  EXPECT_EQ(only_error("cache: {shared_memory: 1MiB}\n").substr(0, 47),
            "test.yaml:1:24: cache.shared_memory: \"1MiB\" is ");
}

TEST(a_second_try_of_a_tool_that_writes, is_warned_of) {
  EXPECT_NE(only_warning("tools: {x: {read_only: false, hedge: {quantile: 95%}}}\n").find("tools.x.hedge"),
            std::string::npos);
}

TEST(a_breaker_that_can_hardly_judge, is_warned_of) {
  EXPECT_NE(only_warning("breaker: {minimum_calls: 2000}\n").find("breaker.minimum_calls: 2000 calls in 1m"),
            std::string::npos)
      << only_warning("breaker: {minimum_calls: 2000}\n");
  EXPECT_TRUE(with_a_server("breaker: {minimum_calls: 200}\n").warnings.empty());
}

TEST(a_cooldown_that_is_none, is_warned_of) {
  EXPECT_NE(only_warning("breaker: {cooldown: 1s}\n").find("breaker.cooldown"), std::string::npos);
  EXPECT_TRUE(with_a_server("breaker: {cooldown: 5s}\n").warnings.empty());
}

TEST(a_loop, is_of_a_bounded_number_of_failures_in_a_bounded_time) {
  EXPECT_NE(only_error("tools: {x: {loop: {failures: 21}}}\n").find("0 to 20"), std::string::npos);
  EXPECT_NE(only_error("tools: {x: {loop: {window: 500ms}}}\n").find("1s to 1h"), std::string::npos);
  EXPECT_TRUE(errors_of("tools: {x: {loop: {failures: 3, window: 30s}}}\n").empty());
}

TEST(a_concurrency_limit, is_a_number_or_adaptive_alone_or_in_a_mapping) {
  for (const char* good :
       {"64", "adaptive", "{limit: 64}", "{limit: adaptive, least: 5, most: 5}", "{queue: 0}", "0"}) {
    EXPECT_TRUE(errors_of("tools: {x: {concurrency: " + std::string(good) + "}}").empty()) << good;
  }
  EXPECT_EQ(only_error("tools: {x: {concurrency: some}}"),
            "test.yaml:1:26: tools.x.concurrency: \"some\" is not a whole number");
  EXPECT_NE(only_error("tools: {x: {concurrency: 100001}}").find("0 to 100000 is allowed"), std::string::npos);
  EXPECT_NE(only_error("upstreams: {s: {url: 'http://h', concurrency: {limit: -1}}}").find("s.concurrency.limit"),
            std::string::npos);
  EXPECT_NE(only_error("tools: {x: {concurrency: {principal_share: 0%}}}").find("1% to 100%"), std::string::npos);
  EXPECT_NE(only_error("tools: {x: {concurrency: {queue_timeout: 0s}}}").find("1ms to 1m"), std::string::npos);
}

TEST(the_bounds_of_an_adaptive_limit, are_a_range) {
  EXPECT_EQ(only_error("tools: {x: {concurrency: {limit: adaptive, least: 2000}}}\n"),
            "test.yaml:1:51: tools.x.concurrency.least: `least` is 2000 and `most` is 1000; write a range");
  EXPECT_NE(only_error("upstreams: {s: {url: 'http://h', concurrency: {most: 3}}}").find("s.concurrency.most"),
            std::string::npos);
}

TEST(a_key_of_sessions, is_too_long_to_be_guessed) {
  EXPECT_EQ(only_error("sessions: {key: short}\n"),
            "test.yaml:1:17: sessions.key: is a secret of 5 characters, which could be guessed; write at least 16");
}

TEST(a_p99_limit, is_below_the_deadline) {
  EXPECT_NE(
      only_error("tools: {x: {deadline: 1s, breaker: {p99: 2s}}}\n").find("tools.x.breaker.p99: the p99 limit of 2s"),
      std::string::npos);
  const reading made = read("tools: {x: {deadline: 1s}}\n");
  EXPECT_TRUE(made.errors.empty());
  EXPECT_NE(joined(lines(made.warnings)).find("the p99 limit of 1500ms is not below the deadline of 1s"),
            std::string::npos);
}

TEST(a_variable, is_replaced_in_any_text) {
  const reading made = read(
      "listen: '127.0.0.1:${PORT}'\nupstreams: {s: {url: 'http://${HOST}/', headers: {A: '${X:-none}', B: '$${X}'}}}",
      {{"PORT", "99"}, {"HOST", "h"}});
  ASSERT_TRUE(made.gateway) << joined(lines(made.errors));
  EXPECT_EQ(made.gateway->listen.port, 99);
  EXPECT_EQ(made.gateway->upstreams[0].link.http.url, "http://h/");
  EXPECT_EQ(made.gateway->upstreams[0].link.http.headers[0].second, "none");
  EXPECT_EQ(made.gateway->upstreams[0].link.http.headers[1].second, "${X}");
}

TEST(a_variable, that_is_not_set_or_badly_written_is_an_error) {
  EXPECT_EQ(only_error("drain: ${D}\n"),
            "test.yaml:1:8: drain: the environment variable D is not set; set it, or write ${D:-default}");
  EXPECT_NE(only_error("drain: \"${D\"\n").find("not closed"), std::string::npos);
  EXPECT_NE(only_error("drain: \"${a-b}\"\n").find("is not the name of an environment variable"), std::string::npos);
  EXPECT_NE(only_error("drain: \"${}\"\n").find("is not the name"), std::string::npos);
}

TEST(a_variable, cannot_smuggle_in_other_variables_or_structure) {
  const reading made = read("upstreams: {s: {command: [prog, '${A}']}}", {{"A", "${B}, x]"}, {"B", "no"}});
  ASSERT_TRUE(made.gateway);
  EXPECT_EQ(made.gateway->upstreams[0].link.stdio.command[1], "${B}, x]");
}

TEST(a_message, is_one_line_whatever_it_quotes) {
  const auto all = errors_of("\"a\\nb\": 1\nlisten: \"x\\n\\e[31my\"\n");
  ASSERT_EQ(all.size(), 2u);
  for (const std::string& line : all) {
    EXPECT_EQ(line.find_first_of("\n\r\x1b"), std::string::npos) << line;
  }
}

TEST(a_file_that_cannot_be_read, is_an_error) {
  EXPECT_EQ(lines(read_file("/nowhere/at/all.yaml").errors),
            std::vector<std::string>{"test.yaml: cannot be read: No such file or directory"});
  EXPECT_EQ(read_file("/").errors.size(), 1u);
}

}  // namespace
}  // namespace switchgear::config
