#include "cascade/stand_in.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace switchgear::cascade {
namespace {

namespace ondemand = simdjson::ondemand;

std::string json_string(std::string_view text) {
  return boost::json::serialize(text);
}

std::string text_block(std::string_view text) {
  return R"({"type":"text","text":)" + json_string(text) + "}";
}

std::string milliseconds(duration length) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(length).count());
}

/// Where the members of a result lie that change. Views into the text that was parsed.
struct layout {
  std::string_view content, structured, meta;
};

result<layout> parse(const simdjson::padded_string& text) {
  thread_local ondemand::parser parser;
  layout found;
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(text).get(document) || document.get_object().get(object)) return errc::bad_result;
  for (auto member : object) {
    ondemand::raw_json_string key;
    ondemand::value value;
    if (member.key().get(key) || member.value().get(value)) return errc::bad_result;
    ondemand::array array;
    ondemand::object object_value;
    if (key == "content" && !value.get_array().get(array)) {
      if (array.raw_json().get(found.content)) return errc::bad_result;
    } else if (key == "structuredContent" && !value.get_object().get(object_value)) {
      if (object_value.raw_json().get(found.structured)) return errc::bad_result;
    } else if (key == "_meta" && !value.get_object().get(object_value)) {
      if (object_value.raw_json().get(found.meta)) return errc::bad_result;
    }
  }
  // Raw text reaches to the next token, whitespace included.
  found.content = found.content.substr(0, found.content.rfind(']') + 1);
  found.structured = found.structured.substr(0, found.structured.rfind('}') + 1);
  found.meta = found.meta.substr(0, found.meta.rfind('}') + 1);
  return found;
}

bool is_blank(std::string_view inside) {
  return inside.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// An array or object with one more element or member at its end.
void append_with(std::string& out, std::string_view bracketed, std::string_view last) {
  const auto open = bracketed.substr(0, bracketed.size() - 1);
  out += open;
  if (!is_blank(open.substr(1))) out += ',';
  out += last;
  out += bracketed.back();
}

std::string marker_member(std::string_view json) {
  return json_string(marker_key) + ':' + std::string(json);
}

// An upstream that is a Switchgear itself marks its answers too; two members of one name would mean two things.
std::string without_marker(std::string_view meta) {
  error_code error;
  auto parsed = boost::json::parse(meta, error);
  if (error || !parsed.is_object()) return "{}";
  parsed.get_object().erase(marker_key);
  return boost::json::serialize(parsed);
}

}  // namespace

std::string to_json(const marker& what) {
  const auto number = [](std::string& out, std::string_view key, const std::optional<duration>& length) {
    if (length) out.append(key).append(milliseconds(*length));
  };
  // The words are our own: nothing in them needs escaping.
  std::string out;
  out.reserve(384);
  out.append(R"({"degraded":)").append(what.degraded ? "true" : "false");
  out.append(R"(,"served_by":")").append(name(what.served_by)).append(R"(")");
  if (what.reason != reason::none) out.append(R"(,"reason":")").append(name(what.reason)).append(R"(")");
  if (what.timer != timer::none) out.append(R"(,"timer":")").append(name(what.timer)).append(R"(")");
  if (!what.state.empty()) out.append(R"(,"state":")").append(what.state).append(R"(")");
  number(out, R"(,"age_ms":)", what.age);
  number(out, R"(,"since_ms":)", what.since);
  number(out, R"(,"retry_after_ms":)", what.retry_after);
  if (what.outcome_unknown) out += R"(,"outcome":"unknown")";
  if (what.repeated > 0) out.append(R"(,"repeated":)").append(std::to_string(what.repeated));
  if (!what.degraded) return out += '}';
  out += R"(,"steps":[)";
  for (const trail::entry& step : what.steps) {
    if (&step != what.steps.begin()) out += ',';
    out.append(R"(")").append(step.what).append(":").append(name(step.how));
    if (step.tries > 1) out.append(" x").append(std::to_string(step.tries));
    out += '"';
  }
  return out += "]}";
}

std::string plain_result(const plain_answer& said) {
  // Clients that know nothing of structured content read the text block (MCP server/tools, "Structured Content").
  std::string out = R"({"content":[)" + text_block(said.text.empty() ? said.structured : said.text) + ']';
  if (!said.structured.empty()) out += R"(,"structuredContent":)" + said.structured;
  return out + '}';
}

std::string structured_of(std::string_view answer) {
  const simdjson::padded_string text(answer);
  const auto parsed = parse(text);
  return parsed ? std::string(parsed->structured) : std::string();
}

result<std::string> marked(std::string_view answer, const marker& what, std::string_view note) {
  const simdjson::padded_string text(answer);
  const auto parsed = parse(text);
  if (!parsed) return parsed.error();
  const std::string_view all = text;
  const std::string member = marker_member(to_json(what));

  struct change {
    std::string_view place;
    std::string put;
  };
  std::vector<change> changes;
  std::string added;  // members that the result does not have yet
  if (!note.empty()) {
    if (parsed->content.empty()) {
      added += R"(,"content":[)" + text_block(note) + ']';
    } else {
      append_with(changes.emplace_back(parsed->content).put, parsed->content, text_block(note));
    }
  }
  if (parsed->meta.empty()) {
    added += R"(,"_meta":{)" + member + '}';
  } else if (parsed->meta.find(marker_key) == std::string_view::npos) {
    append_with(changes.emplace_back(parsed->meta).put, parsed->meta, member);
  } else {
    append_with(changes.emplace_back(parsed->meta).put, without_marker(parsed->meta), member);
  }
  std::ranges::sort(changes, {}, [](const change& one) { return one.place.data(); });

  std::string out;
  out.reserve(all.size() + member.size() + note.size() + 128);
  const char* done = all.data();
  for (const change& one : changes) {
    out.append(done, one.place.data());
    out += one.put;
    done = one.place.data() + one.place.size();
  }
  const auto close = all.rfind('}');
  out.append(done, all.data() + close);
  if (!added.empty())
    out += is_blank(all.substr(all.find('{') + 1, close - all.find('{') - 1)) ? added.substr(1) : added;
  out += '}';
  return out;
}

std::string failure_result(std::string_view text, const marker& what) {
  std::string out;
  out.reserve(text.size() + 512);
  out.append(R"({"content":[)").append(text_block(text)).append(R"(],"isError":true,"_meta":{)");
  return out.append(marker_member(to_json(what))).append("}}");
}

}  // namespace switchgear::cascade
