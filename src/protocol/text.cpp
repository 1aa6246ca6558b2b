#include "protocol/text.hpp"

#include "protocol/errc.hpp"
#include "protocol/scan.hpp"

#include <simdjson.h>

#include <cstdint>
#include <cstring>

namespace switchgear::protocol {

namespace {

constexpr unsigned replacement = 0xfffd;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Takes four hex digits from the front. -1 if they are not there.
int take_hex4(std::string_view& from) {
  if (from.size() < 4) return -1;
  int value = 0;
  for (char c : from.substr(0, 4)) {
    const int digit = hex_value(c);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  from.remove_prefix(4);
  return value;
}

void append_utf8(std::string& out, unsigned point) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

// What stands behind "\u" at the front of `from`.
bool append_code_point(std::string& out, std::string_view& from) {
  const int first = take_hex4(from);
  if (first < 0) return false;
  unsigned point = static_cast<unsigned>(first);
  if ((point & 0xf800) == 0xd800) {
    std::string_view behind = from;
    int second = -1;
    if (point < 0xdc00 && behind.substr(0, 2) == "\\u") {
      behind.remove_prefix(2);
      second = take_hex4(behind);
    }
    if ((second & 0xfc00) == 0xdc00 && second >= 0) {
      point = 0x10000 + ((point & 0x3ff) << 10) + (static_cast<unsigned>(second) & 0x3ff);
      from = behind;
    } else {
      point = replacement;
    }
  }
  append_utf8(out, point);
  return true;
}

bool append_unescaped(std::string& out, std::string_view inside) {
  for (;;) {
    const std::size_t plain = inside.find('\\');
    out.append(inside.substr(0, plain));
    if (plain == std::string_view::npos) return true;
    if (plain + 1 == inside.size()) return false;
    const char kind = inside[plain + 1];
    inside.remove_prefix(plain + 2);
    switch (kind) {
      case '"':
      case '\\':
      case '/':
        out += kind;
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        if (!append_code_point(out, inside)) return false;
        break;
      default:
        return false;
    }
  }
}

// How many bytes at the front of `text` are one UTF-8 sequence; 0 if they are none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies above U+10FFFF.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) >= 0xa0) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
    case '\\':
      out += '\\';
      out += c;
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default: {
      constexpr char hex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
}

bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

bool has_line_break(std::string_view text) {
  return text.find('\n') != std::string_view::npos || text.find('\r') != std::string_view::npos;
}

void append_one_line(std::string& out, std::string_view json) {
  while (!json.empty()) {
    const std::size_t plain = json.find_first_of("\r\n");
    out.append(json.substr(0, plain));
    if (plain == std::string_view::npos) return;
    json.remove_prefix(plain + 1);
  }
}

}  // namespace

bool text_of(std::string_view raw, std::string& space, std::string_view& text) {
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (inside.find('\\') == std::string_view::npos) {
    text = inside;
    return true;
  }
  space.clear();
  if (!append_unescaped(space, inside)) return false;
  text = space;
  return true;
}

void append_escaped(std::string& out, std::string_view text) {
  const bool sound = simdjson::validate_utf8(text.data(), text.size());
  std::size_t begin = 0;  // of what can be copied as it is
  for (std::size_t at = 0; at < text.size();) {
    if (needs_escape(text[at])) {
      out.append(text.substr(begin, at - begin));
      append_escape(out, text[at]);
      begin = ++at;
      continue;
    }
    const std::size_t length = sound ? 1 : sequence_length(text.substr(at));
    if (length == 0) {
      out.append(text.substr(begin, at - begin));
      append_utf8(out, replacement);
      begin = ++at;
    } else {
      at += length;
    }
  }
  out.append(text.substr(begin));
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

result<std::string> unquoted(std::string_view token) {
  token_index index;
  scanner in(token, index);
  std::string_view raw, text;
  std::string space;
  if (!in.string(raw) || !in.finish() || !text_of(raw, space, text)) return errc::not_json;
  return text.data() == space.data() ? std::move(space) : std::string(text);
}

std::string_view one_line(std::string_view json, std::string& space) {
  if (!has_line_break(json)) return json;
  space.clear();
  append_one_line(space, json);
  return space;
}

void one_line(parts& pieces, std::string& space) {
  bool broken = false;
  for (std::string_view piece : pieces) broken = broken || has_line_break(piece);
  if (!broken) return;
  space.clear();
  for (std::string_view piece : pieces) append_one_line(space, piece);
  pieces.clear();
  pieces.push_back(space);
}

std::string_view head(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  // Back to the start of the sequence that the limit would cut; a sequence has at most three bytes behind its first.
  while (end != 0 && limit - end < 3 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace switchgear::protocol
