#include "config/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <istream>
#include <optional>
#include <streambuf>
#include <utility>

namespace switchgear::config {
namespace {

/// Leaves the parser at once: what follows a problem of this sort is not worth reading.
struct stop : std::exception {
  problem why;
  explicit stop(problem found) : why(std::move(found)) {}
};

[[noreturn]] void refuse(const YAML::Mark& at, std::string what) {
  throw stop({at.line + 1, at.column + 1, {}, std::move(what)});
}

/// Lets the parser read the text in place.
struct view_buffer : std::streambuf {
  explicit view_buffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a streambuf's get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

/// Builds the tree from the parser's events. The nodes being filled are a path from the root, so plain pointers into
/// their parents stay good: a parent grows only after its last child is complete.
class builder : public YAML::EventHandler {
 public:
  explicit builder(node& root) : root_(root) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& at, YAML::anchor_t anchor) override {
    refuse_anchor(at, anchor);
    if (awaits_name()) refuse(at, "a key is missing in front of the colon");
    add(at, node::kind::null);
  }
  void OnAlias(const YAML::Mark& at, YAML::anchor_t) override {
    refuse(at, "aliases (*name) are not supported; write the value out");
  }
  void OnScalar(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    refuse_anchor(at, anchor);
    refuse_tag(at, tag);
    if (awaits_name()) {
      count(at);
      open_.back()->members.push_back({text, at.line + 1, at.column + 1, {}});
      named_ = true;
      return;
    }
    node& made = add(at, node::kind::scalar);
    made.text = text;
    made.quoted = tag == "!";
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(at, anchor);
    open(at, tag, node::kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(at, anchor);
    open(at, tag, node::kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  bool awaits_name() const { return !open_.empty() && open_.back()->what == node::kind::map && !named_; }

  void open(const YAML::Mark& at, const std::string& tag, node::kind what) {
    refuse_tag(at, tag);
    if (awaits_name()) refuse(at, "a key must be a plain text, not a list or a mapping");
    if (open_.size() >= most_levels) refuse(at, "nested more than " + std::to_string(most_levels) + " levels deep");
    open_.push_back(&add(at, what));
    named_ = false;
  }

  void close() {
    open_.pop_back();
    named_ = false;
  }

  node& add(const YAML::Mark& at, node::kind what) {
    count(at);
    node* made = &root_;
    if (!open_.empty()) {
      node& parent = *open_.back();
      made = parent.what == node::kind::list ? &parent.items.emplace_back() : &parent.members.back().value;
      named_ = false;
    }
    made->what = what;
    made->line = at.line + 1;
    made->column = at.column + 1;
    return *made;
  }

  void count(const YAML::Mark& at) {
    if (++values_ > most_values) refuse(at, "more than " + std::to_string(most_values) + " values");
  }

  static void refuse_anchor(const YAML::Mark& at, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      refuse(at, "anchors (&name) are not supported; write the value out where it is used");
  }

  static void refuse_tag(const YAML::Mark& at, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") refuse(at, "tags (!name) are not supported; leave the tag out");
  }

  node& root_;
  std::vector<node*> open_;
  bool named_ = false;  // the innermost mapping has a key that waits for its value
  std::size_t values_ = 0;
};

/// Length of the UTF-8 sequence that starts at `at`, 0 when there is no valid one.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second >= 0x90)) {
    return 0;
  }
  return length;
}

/// The parser guesses UTF-16 and UTF-32 from zero bytes and lets control characters through: it gets neither.
std::optional<problem> refuse_bytes(std::string_view text) {
  int line = 1;
  std::size_t line_start = 0;
  const auto here = [&](std::size_t at, std::string what) {
    return problem{line, static_cast<int>(at - line_start) + 1, {}, std::move(what)};
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n') {
      ++line;
      line_start = at + 1;
    } else if ((byte < 0x20 && byte != '\t' && byte != '\r') || byte == 0x7F) {
      return here(at, "a control character; the file must be plain UTF-8 text");
    }
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return here(at, "not valid UTF-8; the file must be plain UTF-8 text");
    at += length;
  }
  return std::nullopt;
}

std::optional<unsigned> four_hex_digits(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  unsigned value = 0;
  for (const char digit : text.substr(at, 4)) {
    const int n = digit >= '0' && digit <= '9'   ? digit - '0'
                  : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                  : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                 : -1;
    if (n < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(n);
  }
  return value;
}

/// JSON writes a character beyond U+FFFF as two escapes, which YAML does not know; it becomes the character itself.
std::string join_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    if (text[at + 1] == 'u' && text.substr(at + 6, 2) == "\\u") {
      const auto high = four_hex_digits(text, at + 2);
      const auto low = four_hex_digits(text, at + 8);
      if (high && low && *high >= 0xD800 && *high < 0xDC00 && *low >= 0xDC00 && *low < 0xE000) {
        const unsigned point = 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
        out += static_cast<char>(0xF0 | point >> 18);
        out += static_cast<char>(0x80 | (point >> 12 & 0x3F));
        out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (point & 0x3F));
        at += 11;
        continue;
      }
    }
    out += text[at];
    out += text[++at];  // an escaped backslash must not start an escape of its own
  }
  return out;
}

/// The parser's words for the commonest slips, in ours.
std::string explain(const std::string& said) {
  if (said == "end of map flow not found" || said == "end of map not found")
    return "a `{` or mapping is not closed or not separated by commas";
  if (said == "end of sequence flow not found") return "a `[` is not closed or not separated by commas";
  if (said == "illegal map value") return "a colon where no value can stand; quote a text that contains \": \"";
  if (said == "bad file") return "nested too deep";
  if (said == "illegal block entry")
    return "a list item where none can stand; check the indentation (tabs do not count)";
  return said;
}

}  // namespace

const node* node::find(std::string_view name) const {
  for (const member& each : members) {
    if (each.name == name) return &each.value;
  }
  return nullptr;
}

bool parse(std::string_view text, node& root, problem& found) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (text.size() > most_bytes) {
    found = {0, 0, {}, "larger than " + std::to_string(most_bytes / (1024 * 1024)) + " MiB"};
    return false;
  }
  if (auto refused = refuse_bytes(text)) {
    found = std::move(*refused);
    return false;
  }
  std::string joined;
  if (text.substr(0, text.find_first_not_of(" \t\r\n") + 1).ends_with('{') && text.find("\\u") != text.npos) {
    joined = join_surrogates(text);
    text = joined;
  }
  try {
    view_buffer bytes(text);
    std::istream stream(&bytes);
    YAML::Parser parser(stream);
    builder build(root);
    parser.HandleNextDocument(build);
    node second;
    builder more(second);
    if (parser.HandleNextDocument(more)) {
      found = {second.line, 1, {}, "a second document; one file is one configuration"};
      return false;
    }
    return true;
  } catch (const stop& stopped) {
    found = stopped.why;
  } catch (const YAML::Exception& error) {
    found = {error.mark.line + 1, error.mark.column + 1, {}, "not valid YAML or JSON: " + explain(error.msg)};
  }
  return false;
}

}  // namespace switchgear::config
