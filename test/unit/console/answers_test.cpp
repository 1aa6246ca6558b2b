#include "console/answers.hpp"

#include "support/fixed_breakers.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <stdexcept>

namespace switchgear::console {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

class admin_answers : public testing::Test {
 protected:
  admin_answers() {
    sources_.metrics = [] { return std::string("switchgear_connections 1\n"); };
    sources_.ready = [this] { return ready_; };
    sources_.upstreams = [this] { return upstreams_; };
    sources_.breakers = &breakers_;
  }

  reply get(std::string_view target) { return answer({.method = "GET", .target = target}, {}, sources_); }

  readiness ready_{true, ""};
  std::vector<upstream_row> upstreams_;
  test::fixed_breakers breakers_;
  admin_sources sources_;
};

TEST_F(admin_answers, say_alive_whatever_the_state_is) {
  ready_ = {false, "nothing works"};

  EXPECT_EQ(get("/healthz").status, 200u);
}

TEST_F(admin_answers, say_ready_with_the_state_of_each_upstream) {
  upstreams_ = {{"search", {port::upstream_state::ready, "", "2025-06-18", "searcher"}, 3},
                {"files", {port::upstream_state::degraded, "connection refused", "", "", 401}, 0}};

  const reply said = get("/readyz");

  EXPECT_EQ(said.status, 200u);
  EXPECT_EQ(json::parse(said.body), json::parse(R"({"ready": true, "reason": "", "upstreams": [
      {"alias": "search", "state": "ready", "reason": "", "credential_rejected": false, "protocol": "2025-06-18",
       "server": "searcher", "tools": 3},
      {"alias": "files", "state": "degraded", "reason": "connection refused", "credential_rejected": true,
       "protocol": "", "server": "", "tools": 0}
    ]})"));
}

TEST_F(admin_answers, say_503_and_why_before_the_catalogue_was_tried) {
  ready_ = {false, "the catalogue was not tried yet"};

  const reply said = get("/readyz");

  EXPECT_EQ(said.status, 503u);
  EXPECT_EQ(json::parse(said.body).at("reason").as_string(), "the catalogue was not tried yet");
}

TEST_F(admin_answers, pass_the_metrics_on) {
  const reply said = get("/metrics?x=1");

  EXPECT_EQ(said.status, 200u);
  EXPECT_EQ(said.media_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(said.body, "switchgear_connections 1\n");
}

TEST_F(admin_answers, describe_a_circuit_by_the_documented_members) {
  upstreams_.push_back({"search", {}, 1});
  port::circuit open;
  open.name = "search__query";
  open.state = breaker::state::open;
  open.generation = 7;
  open.since = async::worker::now() - milliseconds(1500);
  open.retry_after = milliseconds(28'500);
  open.figures.counts = {.calls = 40, .failures = 12, .timed = 40, .slow = 2};
  open.figures.failures_to_trip = 11;
  open.figures.slow_to_trip = 6;
  open.figures.last_cause = breaker::cause::error_rate;
  open.error_rate = 0.3;
  open.p99 = milliseconds(1200);
  breakers_.circuits.push_back(open);

  const json::value said = json::parse(circuits_json(sources_));

  const json::object& circuit = said.at("circuits").as_array().at(0).as_object();
  EXPECT_EQ(circuit.at("name").as_string(), "search__query");
  EXPECT_EQ(circuit.at("kind").as_string(), "tool");
  EXPECT_EQ(circuit.at("upstream").as_string(), "search");
  EXPECT_EQ(circuit.at("state").as_string(), "open");
  EXPECT_EQ(circuit.at("mode").as_string(), "enforce");
  EXPECT_EQ(circuit.at("generation").to_number<int>(), 7);
  EXPECT_EQ(circuit.at("calls").to_number<int>(), 40);
  EXPECT_EQ(circuit.at("failures").to_number<int>(), 12);
  EXPECT_EQ(circuit.at("slow").to_number<int>(), 2);
  EXPECT_DOUBLE_EQ(circuit.at("error_rate").to_number<double>(), 0.3);
  EXPECT_DOUBLE_EQ(circuit.at("p99_ms").to_number<double>(), 1200);
  EXPECT_EQ(circuit.at("limit"), json::parse(R"({"error_rate": 0.15, "p99_ms": 1500, "minimum_calls": 20})"));
  EXPECT_EQ(circuit.at("needed"), json::parse(R"({"failures": 11, "slow": 6})"));
  EXPECT_GE(circuit.at("since_ms").to_number<int>(), 1500);
  EXPECT_EQ(circuit.at("retry_after_ms").to_number<int>(), 28'500);
  EXPECT_EQ(circuit.at("reason").as_string(), "error_rate");
}

TEST_F(admin_answers, tell_who_contributed_and_whose_thresholds_hold) {
  port::circuit shared;
  shared.name = "search__query";
  shared.other_settings = true;
  shared.contributions.push_back({"host-1", {.calls = 9, .failures = 4, .timed = 9, .slow = 1}, milliseconds(120)});
  breakers_.circuits = {shared, port::circuit{}};

  const json::value said = json::parse(circuits_json(sources_));

  const json::array& circuits = said.at("circuits").as_array();
  EXPECT_EQ(circuits.at(0).at("contributors"), json::parse(R"([
      {"replica": "host-1", "calls": 9, "failures": 4, "slow": 1, "heard_ms": 120}])"));
  EXPECT_EQ(circuits.at(0).at("thresholds").as_string(), "of a newer configuration");
  EXPECT_EQ(circuits.at(1).at("contributors"), json::array());
  EXPECT_EQ(circuits.at(1).at("thresholds").as_string(), "own");
}

TEST_F(admin_answers, find_the_upstream_behind_each_kind_of_name) {
  upstreams_ = {{"a", {}, 0}, {"a__b", {}, 0}};
  breakers_.circuits.resize(5);
  breakers_.circuits[0].name = "a__b__tool";
  breakers_.circuits[1].name = "a__tool";
  breakers_.circuits[2].name = "server:a";
  breakers_.circuits[2].scope = breaker::scope::server;
  breakers_.circuits[3].name = "stranger";
  breakers_.circuits[4].name = "a__b:prompts/get";

  const json::value said = json::parse(circuits_json(sources_));

  const json::array& circuits = said.at("circuits").as_array();
  EXPECT_EQ(circuits.at(0).at("upstream").as_string(), "a__b");
  EXPECT_EQ(circuits.at(1).at("upstream").as_string(), "a");
  EXPECT_EQ(circuits.at(2).at("upstream").as_string(), "a");
  EXPECT_EQ(circuits.at(3).at("upstream").as_string(), "");
  EXPECT_EQ(circuits.at(4).at("upstream").as_string(), "a__b");
}

TEST_F(admin_answers, find_the_only_upstream_when_names_are_plain) {
  upstreams_ = {{"only", {}, 1}};
  breakers_.circuits.resize(1);
  breakers_.circuits[0].name = "query";

  EXPECT_EQ(json::parse(circuits_json(sources_)).at("circuits").at(0).at("upstream").as_string(), "only");
}

TEST_F(admin_answers, find_no_upstream_behind_an_endpoint) {
  upstreams_ = {{"http", {}, 1}};
  breakers_.circuits.resize(2);
  breakers_.circuits[0].name = "http:GET api.example.com/items";
  breakers_.circuits[1].name = "http:prompts/get";

  const json::value shown = json::parse(circuits_json(sources_));
  EXPECT_EQ(shown.at("circuits").at(0).at("upstream").as_string(), "");
  EXPECT_EQ(shown.at("circuits").at(1).at("upstream").as_string(), "http");
}

TEST_F(admin_answers, show_a_page_that_needs_nothing_from_elsewhere) {
  const reply said = get("/");

  EXPECT_EQ(said.status, 200u);
  EXPECT_EQ(said.media_type, "text/html; charset=utf-8");
  EXPECT_EQ(said.body.find("://"), std::string::npos);
  EXPECT_EQ(said.body.find("innerHTML"), std::string::npos);
}

TEST_F(admin_answers, refuse_unknown_paths_and_other_methods) {
  EXPECT_EQ(get("/nothing").status, 404u);
  EXPECT_TRUE(json::parse(get("/nothing").body).at("error").is_string());
  for (const char* method : {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"}) {
    EXPECT_EQ(answer({.method = method, .target = "/healthz"}, {}, sources_).status, 405u) << method;
  }
}

TEST_F(admin_answers, refuse_names_that_a_web_page_could_have_rebound) {
  EXPECT_EQ(answer({.method = "GET", .target = "/metrics", .host = "evil.example"}, {}, sources_).status, 421u);
  EXPECT_EQ(answer({.method = "GET", .target = "/metrics", .host = "localhost", .origin = "http://evil.example"}, {},
                   sources_)
                .status,
            403u);
  EXPECT_EQ(answer({.method = "GET", .target = "/metrics", .host = "gate.example"}, {.allowed_hosts = {"gate.example"}},
                   sources_)
                .status,
            200u);
}

TEST_F(admin_answers, turn_a_failing_source_into_a_500) {
  sources_.metrics = []() -> std::string { throw std::runtime_error("no memory"); };

  const reply said = get("/metrics");

  EXPECT_EQ(said.status, 500u);
  EXPECT_EQ(json::parse(said.body).at("error").as_string(), "no memory");
}

TEST_F(admin_answers, work_without_any_source) {
  sources_ = {};

  EXPECT_EQ(get("/readyz").status, 200u);
  EXPECT_EQ(json::parse(get("/api/circuits").body), json::parse(R"({"circuits": [], "upstreams": []})"));
  EXPECT_EQ(get("/metrics").status, 200u);
}

}  // namespace
}  // namespace switchgear::console
