#include "app/demo_screen.hpp"

#include "app/demo_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchgear::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

demo_view some_view() {
  demo_view view;
  for (int i = 0; i < 10; ++i) {
    view.add({.sent = milliseconds(7000 + i),
              .took = milliseconds(12),
              .answered = true,
              .served_by = "cache",
              .refused = true,
              .text = "Oslo: 7 degrees"});
  }
  view.add({.sent = milliseconds(8100),
            .took = milliseconds(30),
            .answered = true,
            .served_by = "tool",
            .text = "Lima: about 19 degrees"});
  seen_state look;
  look.at = milliseconds(8200);
  look.state = "open";
  look.scope = "weather__now";
  look.retry_after = milliseconds(1300);
  look.reason = "outage";
  look.error_limit = 0.15;
  look.p99_limit = milliseconds(300);
  view.add(look);
  return view;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(demo_picture, tells_phase_breaker_figures_and_who_answers) {
  const std::string text = joined(demo_picture(some_view(), false, 100));

  for (const char* part :
       {"0:08", "errors: the weather tool answers HTTP 500", "OPEN", "next try in 1.3 s: nearly every call failed",
        "weather__now", "asked 1 of 11 times, errors 100 %, p99 30 ms (limits 15 %, 300 ms)", "cache 10",
        "\"Lima: about 19 degrees\" after 30 ms"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(demo_picture, has_no_colour_codes_unless_asked_for) {
  EXPECT_EQ(joined(demo_picture(some_view(), false, 100)).find('\x1b'), std::string::npos);
  EXPECT_NE(joined(demo_picture(some_view(), true, 100)).find('\x1b'), std::string::npos);
}

TEST(demo_picture, keeps_its_height_and_its_width) {
  const std::size_t height = demo_picture(demo_view(), false, 80).size();
  demo_view long_show = some_view();
  long_show.add({.sent = demo_length(),
                 .took = seconds(1),
                 .answered = true,
                 .served_by = "primary",
                 .text = std::string(500, 'x')});

  for (const demo_view& view : {demo_view(), some_view(), long_show}) {
    const auto lines = demo_picture(view, false, 80);
    EXPECT_EQ(lines.size(), height);
    for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(demo_picture, marks_seconds_in_which_a_call_went_without_an_answer) {
  demo_view view = some_view();
  view.add({.sent = milliseconds(8000), .took = milliseconds(500)});

  EXPECT_NE(demo_picture(view, false, 100)[9].find('!'), std::string::npos);
}

TEST(demo_picture, takes_moments_far_outside_the_show) {
  demo_view view;

  view.add({.sent = std::chrono::hours(1000), .took = seconds(1), .answered = true, .served_by = "primary"});
  view.add({.sent = -seconds(5), .took = seconds(1), .answered = true, .served_by = "primary"});

  EXPECT_LT(view.timeline().size(), 100u);
}

TEST(demo_view, forgets_calls_that_ended_more_than_three_seconds_ago) {
  demo_view view;
  view.add({.sent = seconds(1), .took = seconds(1), .answered = true, .served_by = "cache"});
  view.add({.sent = seconds(4), .took = milliseconds(20), .answered = true, .served_by = "primary"});
  EXPECT_EQ(view.tool().failed, 1u);

  view.add({.sent = milliseconds(5100), .took = milliseconds(30), .answered = true, .served_by = "primary"});

  EXPECT_EQ(view.tool().offered, 2u);
  EXPECT_EQ(view.tool().failed, 0u);
}

TEST(demo_line, is_one_line_without_colour) {
  const std::string line = demo_line(some_view());

  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find("breaker open"), std::string::npos) << line;
}

TEST(demo_summary, has_a_row_a_phase) {
  demo_story story;
  story.add({.sent = phase_start(1), .took = milliseconds(40), .answered = true, .served_by = "static"});

  const std::string text = demo_summary(story);

  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), demo_phases().size() + 1);
  EXPECT_NE(text.find("40 ms"), std::string::npos);
}

TEST(demo_paste, names_the_ports_that_the_gateway_has) {
  const std::string text = demo_paste(18080, 19090);

  EXPECT_NE(text.find("claude mcp add --transport http switchgear http://127.0.0.1:18080/mcp\n"), std::string::npos);
  EXPECT_NE(text.find("langchain_mcp_adapters"), std::string::npos);
  EXPECT_NE(text.find("http://127.0.0.1:19090/api/circuits"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::app
