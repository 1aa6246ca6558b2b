#include "call/page.hpp"

#include "http/media_type.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace switchgear::call {
namespace {

constexpr int most_levels = 128;

std::string essence_of(std::string_view media_type) {
  std::string essence(media_type.substr(0, media_type.find(';')));
  while (essence.ends_with(' ') || essence.ends_with('\t')) essence.pop_back();
  std::ranges::transform(essence, essence.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  // A coding that nobody asked for is said behind a blank: those bytes are no text.
  return essence.find(' ') == std::string::npos ? essence : std::string();
}

bool is_json(std::string_view essence) {
  return essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
}

bool is_text(std::string_view essence) {
  constexpr std::array<std::string_view, 2> others = {"text/html", "text/event-stream"};
  return essence.starts_with("text/") && std::ranges::find(others, essence) == others.end();
}

/// The endpoint took the request and broke: its server is fine.
void refuse(page& made, std::string why) {
  made.what = {{breaker::verdict::failure},
               {breaker::verdict::success},
               cascade::ending::failed,
               cascade::reason::upstream_error};
  made.why = std::move(why);
}

}  // namespace

page read_page(const port::web_reply& got, bool needs_json) {
  page made;
  if (got.reply.fault != port::fault::none) {
    made.what = classify(got.reply, {}, false);
    made.why = got.reply.detail;
    return made;
  }
  made.what = {
      {breaker::verdict::success}, {breaker::verdict::success}, cascade::ending::answered, cascade::reason::none};
  const std::string essence = essence_of(got.media_type);
  made.is_json = is_json(essence);
  if (!made.is_json && (needs_json || !is_text(essence))) {
    refuse(made, (needs_json ? "no JSON: " : "neither JSON nor text: ") + got.reply.detail);
  } else if (got.reply.body.empty()) {
    refuse(made, "an empty answer: " + got.reply.detail);
  } else if (made.is_json) {
    boost::json::parse_options deep;
    deep.max_depth = most_levels;
    error_code error;
    made.json = boost::json::parse(got.reply.body.view(), error, {}, deep);
    if (error) refuse(made, "JSON that cannot be read (" + error.message() + "): " + got.reply.detail);
  }
  return made;
}

}  // namespace switchgear::call
