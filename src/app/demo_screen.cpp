#include "app/demo_screen.hpp"

#include "app/demo_summary.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace switchgear::app {

namespace {

using std::chrono::seconds;

constexpr std::string_view plain = "\x1b[0m";
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view red = "\x1b[31;1m";
constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view yellow = "\x1b[33;1m";
constexpr std::string_view blue = "\x1b[34;1m";

struct answerer {
  std::string_view served_by;
  std::string_view shown;
  char letter;
  std::string_view tint;
};
constexpr std::array<answerer, 4> answerers = {{{"primary", "primary", 'p', green},
                                                {"cache", "cache", 'c', blue},
                                                {"tool", "backup tool", 't', yellow},
                                                {"static", "static", 's', dim}}};

std::string number(const char* form, double value) {
  char text[32];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string percent(double share) {
  return number("%.0f %%", share * 100);
}

std::string clock(duration at) {
  const auto whole = std::chrono::duration_cast<seconds>(at).count();
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(whole / 60),
                static_cast<long long>(whole % 60));
  return text;
}

std::string_view tint_of(std::string_view state) {
  return state == "open" ? red : state == "half_open" ? yellow : green;
}

std::string tinted(std::string_view text, std::string_view tint, bool colour) {
  if (!colour) return std::string(text);
  return std::string(tint) + std::string(text) + std::string(plain);
}

/// Pads before it colours, so that codes do not count as columns.
std::string padded(std::string_view text, std::size_t width) {
  std::string out(text.substr(0, width));
  out.resize(width, ' ');
  return out;
}

std::string answered(const demo_second& in) {
  std::string text;
  for (const answerer& each : answerers) {
    const auto found = in.answered_by.find(std::string(each.served_by));
    if (found == in.answered_by.end()) continue;
    if (!text.empty()) text += ", ";
    text += std::string(each.shown) + " " + std::to_string(found->second);
  }
  if (in.bad > 0) text += (text.empty() ? "" : ", ") + ("without an answer " + std::to_string(in.bad));
  return text.empty() ? "nobody yet" : text;
}

/// The cause of a trip in words; the cause itself for one that the show does not bring about.
std::string_view because(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"outage", "nearly every call failed"},      {"error_rate", "too many calls failed"},
      {"p99", "too many calls were slow"},         {"probes_failed", "the probes failed"},
      {"probe_lost", "a probe did not come back"}, {"unreachable", "nothing connects"},
  };
  for (const auto& [known, text] : words) {
    if (known == reason) return text;
  }
  return reason;
}

std::string breaker_text(const seen_state& look) {
  std::string text;
  if (look.state == "half_open") {
    text = "probing";
  } else if (look.state == "open") {
    text = look.retry_after > duration::zero() ? "next try in " + length_text(look.retry_after) : "trying soon";
    text += ": " + std::string(because(look.reason));
  } else {
    text = "for " + length_text(look.since);
  }
  return look.scope.empty() ? text : text + "   (" + look.scope + ")";
}

std::string figures(const demo_view& view) {
  const tool_figures tool = view.tool();
  std::string text = "asked " + std::to_string(tool.asked) + " of " + std::to_string(tool.offered) + " times";
  if (tool.asked == 0) return text;
  text += ", errors " + percent(static_cast<double>(tool.failed) / tool.asked) + ", p99 " + length_text(tool.p99);
  if (view.look().p99_limit == duration::zero()) return text;
  return text + " (limits " + percent(view.look().error_limit) + ", " + length_text(view.look().p99_limit) + ")";
}

char state_letter(std::string_view state) {
  return state == "open" ? 'O' : state == "half_open" ? 'h' : '.';
}

/// Who answered most in that second; '!' when a call went without.
const answerer* main_answerer(const demo_second& in) {
  const answerer* best = nullptr;
  unsigned most = 0;
  for (const answerer& each : answerers) {
    const auto found = in.answered_by.find(std::string(each.served_by));
    if (found != in.answered_by.end() && found->second > most) {
      most = found->second;
      best = &each;
    }
  }
  return best;
}

std::string state_row(const demo_view& view, bool colour, std::size_t from) {
  std::string row;
  for (std::size_t i = from; i < view.timeline().size(); ++i) {
    const std::string& state = view.timeline()[i].state;
    row += tinted(std::string(1, state_letter(state)), tint_of(state), colour);
  }
  return row;
}

std::string answer_row(const demo_view& view, bool colour, std::size_t from) {
  std::string row;
  for (std::size_t i = from; i < view.timeline().size(); ++i) {
    const demo_second& in = view.timeline()[i];
    if (in.bad > 0) {
      row += tinted("!", red, colour);
    } else if (const answerer* const who = main_answerer(in)) {
      row += tinted(std::string(1, who->letter), who->tint, colour);
    } else {
      row += ' ';
    }
  }
  return row;
}

std::string upper(std::string text) {
  for (char& c : text) c = c == '_' ? ' ' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

}  // namespace

std::vector<std::string> demo_picture(const demo_view& view, bool colour, std::size_t width) {
  const phase& act = demo_phases()[phase_at(view.at)];
  const seen_state& look = view.look();
  const std::size_t shown = width > 12 ? width - 12 : 1;
  const std::size_t from = view.timeline().size() > shown ? view.timeline().size() - shown : 0;
  const std::string_view mood = act.sick() ? red : green;

  std::vector<std::string> lines;
  lines.push_back(tinted(padded("Switchgear demo: 40 calls a second to a tool that fails      " + clock(view.at) +
                                    " of " + clock(demo_length()),
                                width),
                         bold, colour));
  lines.push_back("");
  lines.push_back("fault       " +
                  tinted(padded(std::string(act.title) + ": " + std::string(act.told), shown), mood, colour));
  lines.push_back("breaker     " + tinted(padded(upper(look.state), 10), tint_of(look.state), colour) +
                  padded(breaker_text(look), shown - std::min<std::size_t>(shown, 10)));
  lines.push_back("the tool    " + padded(figures(view), shown));
  lines.push_back("answered by " + padded(answered(view.recent()), shown));
  lines.push_back("last answer " + padded(view.last().answered
                                              ? "\"" + view.last().text + "\" after " + length_text(view.last().took)
                                              : "none",
                                          shown));
  lines.push_back("");
  lines.push_back("breaker     " + state_row(view, colour, from));
  lines.push_back("answers     " + answer_row(view, colour, from));
  lines.push_back(tinted(
      padded("            . closed  O open  h half open    p primary  c cache  t backup tool  s static  ! none", width),
      dim, colour));
  return lines;
}

std::string demo_line(const demo_view& view) {
  const phase& act = demo_phases()[phase_at(view.at)];
  std::string line =
      padded(clock(view.at), 5) + " tool " + padded(act.title, 11) + " breaker " + padded(view.look().state, 10);
  line += " " + figures(view) + " | answered by " + answered(view.recent());
  return line;
}

}  // namespace switchgear::app
