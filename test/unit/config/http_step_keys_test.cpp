// What an http step may say.
#include "config/effective.hpp"
#include "reading.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

using test::errors_of;
using test::joined;
using test::lines;
using test::read;

std::string rules(const std::string& step) {
  return "tools:\n  s__q:\n    fallback:\n      - http: {" + step + "}\n";
}

std::string said(const std::string& step) {
  return joined(errors_of(rules(step)));
}

std::string warned(const std::string& text, std::map<std::string, std::string, std::less<>> variables = {}) {
  const reading made = read(text + "\nupstreams: {s: {url: 'http://h'}}\n", std::move(variables));
  return joined(lines(made.errors)) + joined(lines(made.warnings));
}

TEST(the_url_of_an_endpoint, is_the_operators_but_for_path_and_query) {
  EXPECT_EQ(
      said("url: 'http://{{host}}/x'"),
      "test.yaml:4:21: tools.s__q.fallback[1].http.url: a placeholder may stand in the path and the query of a URL, "
      "not in its scheme, host or port\n");
  EXPECT_NE(said("url: 'http://h:{{port}}/'").find("not in its scheme, host or port"), std::string::npos);
  EXPECT_NE(said("url: 'ftp://h/{{a}}'").find("has the scheme"), std::string::npos);
  EXPECT_NE(said("url: 'http://u:p@h/{{a}}'").find("holds credentials"), std::string::npos);
  EXPECT_NE(said("url: 'http://h/{{a}}#b'").find("has a fragment"), std::string::npos);
  EXPECT_NE(said("url: 'http://h/a b'").find("is not a valid URL"), std::string::npos);
  EXPECT_NE(said("url: 'http://h/{{/a~}}'").find("is no JSON Pointer"), std::string::npos);
  EXPECT_NE(said("method: GET").find("`url` is missing"), std::string::npos);
  EXPECT_EQ(said("url: 'https://[::1]:8443/{{/a/0}}/b?c={{d}}'"), "");
}

TEST(an_http_step, that_cannot_mean_what_it_says_is_an_error) {
  EXPECT_NE(said("url: 'http://h/', body: {a: 1}").find("http.body: is not sent with GET"), std::string::npos);
  EXPECT_NE(said("url: 'http://h/', headers: {X-A: '{{a}}'}").find("http.headers.X-A: holds a placeholder"),
            std::string::npos);
  EXPECT_NE(said("url: 'http://h/', headers: {Host: a}").find("is written by the gateway itself"), std::string::npos);
  EXPECT_NE(said("url: 'http://h/', method: DELETE").find("write GET, POST or PUT"), std::string::npos);
  EXPECT_NE(said("url: 'http://h/', result: {}").find("http.result: is empty"), std::string::npos);
  EXPECT_NE(
      said("url: 'http://h/', breaker: {cooldown: 6m}").find("tools.s__q.fallback[1].http.breaker: `max_cooldown`"),
      std::string::npos);
  EXPECT_EQ(said("url: 'http://h/', method: POST, body: {a: '{{/b/0}}'}, read_only: true"), "");
}

TEST(an_http_step, asks_the_same_endpoint_once) {
  const std::string twice =
      "tools: {s__q: {fallback: [{http: {url: 'http://h/'}}, {http: {url: 'http://h/', headers: {A: b}}}]}}";
  EXPECT_NE(warned(twice).find("fallback[2]: asks what an earlier step asks"), std::string::npos);
  const std::string differs =
      "tools: {s__q: {fallback: [{http: {url: 'http://h/'}}, {http: {url: 'http://h/', method: POST, read_only: "
      "true}}]}}";
  EXPECT_EQ(warned(differs), "");
}

TEST(an_endpoint, has_one_breaker_whatever_rule_names_it) {
  const auto with = [](const std::string& one, const std::string& other) {
    return warned("tools:\n  a: {fallback: [{http: {url: 'http://h/x?a=1'" + one +
                  "}}]}\n  b: {fallback: [{http: {url: "
                  "'http://h/x'" +
                  other + "}}]}\n");
  };
  EXPECT_EQ(with(", breaker: {cooldown: 5s}", ", breaker: {cooldown: 5s}"), "");
  EXPECT_EQ(
      with(", breaker: {cooldown: 5s}", ""),
      "test.yaml:3:18: tools.b.fallback[1]: has another `breaker` than the same endpoint has in tools.a; they share "
      "one\n");
  EXPECT_EQ(with(", breaker: {cooldown: 5s}", ", method: POST"), "");
}

TEST(a_secret_in_the_path_of_an_endpoint, is_warned_of) {
  EXPECT_NE(warned(rules("url: 'http://h/${S}/x'"), {{"S", "hidden1"}}).find("has a variable in its path"),
            std::string::npos);
  EXPECT_EQ(warned(rules("url: 'http://${H}/x?key=${S}'"), {{"S", "hidden1"}, {"H", "h"}}), "");
}

TEST(the_effective_values_of_an_endpoint, hold_no_secret_and_read_back) {
  const std::string step =
      "method: POST, url: 'http://h/${PATH}/{{a}}?q={{b}}&key=hidden1', headers: {A: 'hidden2'}, "
      "body: {k: '${BODY}', q: '{{q}}'}, result: {text: '{{/a}}', structured: {n: '{{/b}}'}}";
  const reading made = read(rules(step), {{"PATH", "hidden3"}, {"BODY", "hidden4"}});
  ASSERT_TRUE(made.gateway) << joined(lines(made.errors));

  const std::string text = effective_yaml(made);

  EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
  EXPECT_NE(text.find("url: \"http://h/${PATH}/{{a}}?q={{b}}&key=***\""), std::string::npos) << text;
  EXPECT_NE(text.find(R"(result: {text: "{{/a}}", structured: {"n":"{{/b}}"}})"), std::string::npos) << text;
  const reading again = read(text, {{"PATH", "hidden3"}, {"BODY", "hidden4"}});
  ASSERT_TRUE(again.gateway) << text << joined(lines(again.errors));
  EXPECT_EQ(effective_yaml(again), text);
}

}  // namespace
}  // namespace switchgear::config
