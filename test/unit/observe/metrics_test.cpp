#include "observe/metrics.hpp"

#include "observe/log.hpp"
#include "support/fixed_breakers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace switchgear::observe {
namespace {

using cascade::reason;
using cascade::served_by;
using std::chrono::milliseconds;

/// Sample lines by their text before the value.
std::map<std::string, std::string> samples_of(const std::string& text) {
  std::map<std::string, std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.rfind(' ');
    EXPECT_TRUE(samples.emplace(line.substr(0, space), line.substr(space + 1)).second) << "twice: " << line;
  }
  return samples;
}

TEST(metrics, show_how_concurrency_limits_stand) {
  const metrics counted(1);
  EXPECT_EQ(counted.expose().find("switchgear_concurrency"), std::string::npos);
  port::limit_figures tool{.name = "search__query", .limit = 64, .in_flight = 60, .waiting = 2};
  tool.refused[static_cast<unsigned>(port::limit_refusal::share)] = 3;
  tool.waits.add(milliseconds(7));
  const port::limit_figures server{.name = "search", .of_server = true, .limit = 100};

  auto samples = samples_of(counted.expose(nullptr, {}, {tool, server}));

  EXPECT_EQ(samples[R"(switchgear_concurrency_limit{tool="search__query"})"], "64");
  EXPECT_EQ(samples[R"(switchgear_concurrency_limit{upstream="search"})"], "100");
  EXPECT_EQ(samples[R"(switchgear_concurrency_in_flight{tool="search__query"})"], "60");
  EXPECT_EQ(samples[R"(switchgear_concurrency_in_flight{upstream="search"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_concurrency_waiting{tool="search__query"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_concurrency_refused_total{tool="search__query",reason="share"})"], "3");
  EXPECT_EQ(samples[R"(switchgear_concurrency_wait_seconds_bucket{tool="search__query",le="0.005"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_concurrency_wait_seconds_bucket{tool="search__query",le="0.01"})"], "1");
}

TEST(metrics, count_calls_by_tool_answerer_and_reason) {
  metrics counted(2);
  const std::uint32_t query = counted.tool_slot("search__query");
  const std::uint32_t fetch = counted.tool_slot("search__fetch");

  counted.call_finished(0, {.tool = query, .took = milliseconds(3)});
  counted.call_finished(1, {.tool = query, .took = milliseconds(4)});
  counted.call_finished(1, {.tool = query, .served_by = served_by::fixed, .reason = reason::open, .refused = true});
  counted.call_finished(0, {.tool = fetch, .is_error = true, .slow = true, .damped = true, .retries = 2});

  auto samples = samples_of(counted.expose());
  EXPECT_EQ(samples[R"(switchgear_calls_total{tool="search__query",served_by="primary",reason="none"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_calls_total{tool="search__query",served_by="static",reason="open"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_breaker_refused_total{tool="search__query"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_is_error_total{tool="search__fetch"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_slow_total{tool="search__fetch"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_retries_total{tool="search__fetch"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_loops_damped_total{tool="search__fetch"})"], "1");
  EXPECT_EQ(counted.answered_by()[static_cast<unsigned>(served_by::primary)], 3u);
  EXPECT_EQ(counted.of_tool("search__query").all_calls(), 3u);
  EXPECT_EQ(counted.of_tool("unknown").all_calls(), 0u);
}

TEST(metrics, show_tools_that_asked_for_fewer_calls) {
  const metrics counted(1);
  auto samples = samples_of(counted.expose(nullptr, {{"a__t", 3, milliseconds(1500)}, {"b__t", 0, milliseconds(0)}}));
  EXPECT_EQ(samples[R"(switchgear_throttled_total{tool="a__t"})"], "3");
  EXPECT_EQ(samples[R"(switchgear_pause_seconds{tool="a__t"})"], "1.5");
  EXPECT_FALSE(samples.contains(R"(switchgear_throttled_total{tool="b__t"})"));
  EXPECT_EQ(samples[R"(switchgear_pause_seconds{tool="b__t"})"], "0");
}

TEST(metrics, show_where_stored_answers_were_found_and_what_is_kept) {
  using cascade::stored_answer;
  metrics counted(2);
  const std::uint32_t query = counted.tool_slot("search__query");
  for (const auto where :
       {stored_answer::fresh, stored_answer::shared, stored_answer::shared, stored_answer::missing}) {
    counted.call_finished(where == stored_answer::fresh ? 0 : 1, {.tool = query, .stored = where});
  }
  counted.call_finished(0, {.tool = query});

  auto samples = samples_of(counted.expose(
      nullptr, {}, {}, {.bytes = 5000, .count = 7, .told = 3, .dropped = 2, .asked = 9, .unanswered = 1}));
  EXPECT_EQ(samples[R"(switchgear_cache_looks_total{tool="search__query",found="fresh"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_cache_looks_total{tool="search__query",found="shared"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_cache_looks_total{tool="search__query",found="missing"})"], "1");
  EXPECT_FALSE(samples.contains(R"(switchgear_cache_looks_total{tool="search__query",found="memory"})"));
  EXPECT_FALSE(samples.contains(R"(switchgear_cache_looks_total{tool="search__query",found="unasked"})"));
  EXPECT_EQ(samples["switchgear_cache_bytes"], "5000");
  EXPECT_EQ(samples["switchgear_cache_answers"], "7");
  EXPECT_EQ(samples[R"(switchgear_cache_shared_total{event="told"})"], "3");
  EXPECT_EQ(samples[R"(switchgear_cache_shared_total{event="dropped"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_cache_shared_total{event="asked"})"], "9");
  EXPECT_EQ(samples[R"(switchgear_cache_shared_total{event="unanswered"})"], "1");
}

TEST(metrics, leave_out_series_that_never_counted) {
  metrics counted(1);
  counted.tool_slot("search__query");

  const std::string text = counted.expose();

  EXPECT_EQ(text.find("search__query"), std::string::npos);
  EXPECT_EQ(text.find("switchgear_refused_total"), std::string::npos);
}

TEST(metrics, write_the_histogram_cumulatively_up_to_infinity) {
  metrics counted(1);
  const std::uint32_t tool = counted.tool_slot("t");
  counted.call_finished(0, {.tool = tool, .took = milliseconds(1)});
  counted.call_finished(0, {.tool = tool, .took = milliseconds(1500)});
  counted.call_finished(0, {.tool = tool, .took = std::chrono::minutes(2)});

  auto samples = samples_of(counted.expose());

  EXPECT_EQ(samples[R"(switchgear_call_seconds_bucket{tool="t",le="0.0005"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_call_seconds_bucket{tool="t",le="0.001"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_call_seconds_bucket{tool="t",le="1.5"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_call_seconds_bucket{tool="t",le="60"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_call_seconds_bucket{tool="t",le="+Inf"})"], "3");
  EXPECT_EQ(samples[R"(switchgear_call_seconds_count{tool="t"})"], "3");
  EXPECT_NEAR(std::stod(samples[R"(switchgear_call_seconds_sum{tool="t"})"]), 121.501, 1e-9);
}

TEST(metrics, give_a_tool_the_same_slot_each_time) {
  metrics counted(1);

  const std::uint32_t first = counted.tool_slot("a");

  EXPECT_NE(counted.tool_slot("b"), first);
  EXPECT_EQ(counted.tool_slot("a"), first);
}

TEST(metrics, put_tools_beyond_the_limit_into_one_slot) {
  metrics counted(1);
  std::set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < metrics::most_tools + 500; ++i)
    slots.insert(counted.tool_slot("t" + std::to_string(i)));

  EXPECT_EQ(slots.size(), metrics::most_tools);
  EXPECT_EQ(counted.tool_slot("yet another"), metrics::most_tools - 1);
  counted.call_finished(0, {.tool = counted.tool_slot("yet another")});
  EXPECT_NE(counted.expose().find("tool=\"_other\""), std::string::npos);
}

TEST(metrics, ignore_a_slot_that_was_never_given) {
  metrics counted(1);

  counted.call_finished(0, {.tool = 7});
  counted.call_finished(0, {.tool = 4'000'000'000u});

  EXPECT_EQ(counted.expose().find("switchgear_calls_total"), std::string::npos);
}

TEST(metrics, escape_names_that_upstreams_chose) {
  metrics counted(1);
  counted.call_finished(0, {.tool = counted.tool_slot("we\"ird\\na\nme")});

  const std::string text = counted.expose();

  EXPECT_NE(text.find(R"(tool="we\"ird\\na\nme")"), std::string::npos) << text;
}

TEST(metrics, count_connections_and_refusals_over_all_workers) {
  metrics counted(2);
  counted.connections(0, +1);
  counted.connections(0, +1);
  counted.connections(1, +1);
  counted.connections(0, -1);
  counted.refused(0, port::refusal::too_large);
  counted.refused(1, port::refusal::too_large);

  auto samples = samples_of(counted.expose());

  EXPECT_EQ(samples["switchgear_connections"], "2");
  EXPECT_EQ(samples[R"(switchgear_refused_total{reason="too_large"})"], "2");
}

TEST(metrics, show_transitions_upstreams_and_breakers) {
  metrics counted(1);
  counted.transition({.scope = "t", .from = "closed", .to = "open", .reason = "outage", .generation = 1});
  counted.upstream_changed("search", true, "");
  counted.upstream_changed("files", false, "connection refused");
  counted.credential_changed("files", 401);
  test::fixed_breakers breakers;
  breakers.circuits.resize(1);
  breakers.circuits[0].name = "t";
  breakers.circuits[0].state = breaker::state::open;
  breakers.circuits[0].generation = 1;
  breakers.circuits[0].stale = 3;

  auto samples = samples_of(counted.expose(&breakers));

  EXPECT_EQ(samples[R"(switchgear_transitions_total{scope="t",from="closed",to="open",reason="outage"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_upstream_ready{upstream="search"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_upstream_ready{upstream="files"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_upstream_credential_rejected{upstream="search"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_upstream_credential_rejected{upstream="files"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_breaker_state{scope="t",kind="tool"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_breaker_generation{scope="t",kind="tool"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_stale_results_total{scope="t",kind="tool"})"], "3");
}

port::board_figures busy_board() {
  port::board_figures figures;
  figures.shared = true;
  figures.flushes = 3;
  figures.missed = 1;
  for (const duration took :
       {duration(milliseconds(1)), duration(milliseconds(3)), duration(std::chrono::seconds(2))}) {
    figures.took.add(took);
  }
  figures.leases_granted = 5;
  figures.leases_returned = 2;
  figures.leases_expired = 1;
  figures.losses = 4;
  figures.replicas = 8;
  return figures;
}

TEST(metrics, show_what_the_shared_board_does) {
  test::fixed_breakers breakers;
  breakers.figures = busy_board();

  auto samples = samples_of(metrics(1).expose(&breakers));

  EXPECT_EQ(samples[R"(switchgear_board_mode{mode="shared"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_board_mode{mode="local"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_board_flushes_total{result="answered"})"], "3");
  EXPECT_EQ(samples[R"(switchgear_board_flushes_total{result="missed"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_board_flush_seconds_bucket{le="0.0005"})"], "0");
  EXPECT_EQ(samples[R"(switchgear_board_flush_seconds_bucket{le="0.001"})"], "1");
  EXPECT_EQ(samples[R"(switchgear_board_flush_seconds_bucket{le="0.005"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_board_flush_seconds_bucket{le="1"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_board_flush_seconds_bucket{le="+Inf"})"], "3");
  EXPECT_EQ(samples["switchgear_board_flush_seconds_count"], "3");
  EXPECT_EQ(samples["switchgear_board_flush_seconds_sum"], "2.004");
  EXPECT_EQ(samples[R"(switchgear_board_leases_total{event="granted"})"], "5");
  EXPECT_EQ(samples[R"(switchgear_board_leases_total{event="returned"})"], "2");
  EXPECT_EQ(samples[R"(switchgear_board_leases_total{event="expired"})"], "1");
  EXPECT_EQ(samples["switchgear_board_losses_total"], "4");
  EXPECT_EQ(samples["switchgear_board_replicas"], "8");
}

TEST(metrics, say_nothing_of_exchanges_when_the_board_is_in_this_process) {
  test::fixed_breakers breakers;

  const std::string text = metrics(1).expose(&breakers);

  EXPECT_NE(text.find(R"(switchgear_board_mode{mode="local"} 1)"), std::string::npos);
  EXPECT_EQ(text.find("switchgear_board_flush"), std::string::npos);
  EXPECT_EQ(text.find("switchgear_board_replicas"), std::string::npos);
}

TEST(metrics, tell_what_process_this_is) {
  auto samples = samples_of(metrics(1).expose());

  EXPECT_EQ(samples.count(R"(switchgear_build_info{version="0.1.0"})"), 1u);
  EXPECT_GT(std::stod(samples["process_start_time_seconds"]), 1.5e9);
  EXPECT_GT(std::stod(samples["process_resident_memory_bytes"]), 1e5);
}

TEST(metrics, give_every_family_a_type_before_its_samples) {
  metrics counted(1);
  counted.call_finished(0, {.tool = counted.tool_slot("t"), .took = milliseconds(2)});
  std::istringstream lines(counted.expose());
  std::set<std::string> types;

  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      const std::string rest = line.substr(7);
      EXPECT_TRUE(types.insert(rest.substr(0, rest.find(' '))).second) << line;
    } else if (!line.starts_with('#')) {
      std::string name = line.substr(0, line.find_first_of("{ "));
      for (const char* suffix : {"_bucket", "_sum", "_count"}) {
        if (name.ends_with(suffix) && !types.contains(name)) name.resize(name.size() - std::string(suffix).size());
      }
      EXPECT_TRUE(types.contains(name)) << line;
    }
  }
}

TEST(metrics, log_an_upstream_that_stays_down_once) {
  const auto path = std::filesystem::temp_directory_path() / ("switchgear_metrics_test_" + std::to_string(getpid()));
  {
    log events(level::info, path.string());
    metrics counted(1, &events);
    for (int i = 0; i < 5; ++i) counted.upstream_changed("search", false, "connection refused");
    counted.upstream_changed("search", true, "");
    for (const int status : {403, 401, 0, 0}) counted.credential_changed("search", status);
    counted.transition({.scope = "t", .from = "closed", .to = "open", .reason = "outage", .generation = 3});
  }

  std::ifstream file(path);
  std::vector<std::string> events;
  for (std::string line; std::getline(file, line);) events.push_back(line.substr(line.find(' ') + 1));
  std::filesystem::remove(path);
  EXPECT_EQ(events, (std::vector<std::string>{
                        "warning upstream_degraded upstream=search reason=\"connection refused\"",
                        "info upstream_ready upstream=search",
                        "warning credential_rejected upstream=search status=403",
                        "info credential_accepted upstream=search",
                        "warning transition scope=t from=closed to=open reason=outage generation=3",
                    }));
}

TEST(metrics, satisfy_promtool) {
  if (std::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "promtool is not installed";
  metrics counted(1);
  counted.call_finished(0, {.tool = counted.tool_slot("t\"\\x"), .took = milliseconds(2)});
  counted.refused(0, port::refusal::version);
  counted.transition({.scope = "t", .from = "closed", .to = "open", .reason = "outage", .generation = 1});
  counted.upstream_changed("search", true, "");
  test::fixed_breakers breakers;
  breakers.circuits.resize(1);
  breakers.circuits[0].stale = 1;
  breakers.figures = busy_board();

  std::FILE* const tool = popen("promtool check metrics", "w");
  ASSERT_NE(tool, nullptr);
  const std::string text = counted.expose(&breakers);
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), tool), text.size());
  EXPECT_EQ(pclose(tool), 0) << text;
}

TEST(metrics, lose_nothing_when_workers_count_while_tools_are_added_and_scraped) {
  constexpr unsigned workers = 2;
  constexpr std::uint32_t calls = 20'000;
  metrics counted(workers);
  counted.tool_slot("t0");
  std::atomic<std::uint32_t> newest{0};
  std::vector<std::thread> threads;

  for (unsigned w = 0; w < workers; ++w) {
    threads.emplace_back([&counted, &newest, w] {
      for (std::uint32_t i = 0; i < calls; ++i) {
        counted.call_finished(w, {.tool = newest.load(std::memory_order_relaxed), .took = milliseconds(1)});
      }
    });
  }
  for (int i = 1; i < 100; ++i) {
    newest.store(counted.tool_slot("t" + std::to_string(i)), std::memory_order_relaxed);
    if (i % 10 == 0) (void)counted.expose();
  }
  for (std::thread& each : threads) each.join();

  EXPECT_EQ(counted.answered_by()[static_cast<unsigned>(served_by::primary)], workers * calls);
}

}  // namespace
}  // namespace switchgear::observe
