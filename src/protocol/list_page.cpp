#include "protocol/list_page.hpp"

#include "protocol/text.hpp"

namespace switchgear::protocol {

errc read_list_page(std::string_view result, std::string_view member, std::string& next_cursor,
                    const std::function<void(std::string_view element)>& take) {
  token_index index;
  scanner in(result, index);
  if (!in.ok()) return in.why();
  if (in.next() != '{') return errc::bad_list;

  std::string space;
  bool listed = false;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view key, value;
    if (!key_of(in, space, key)) return errc::not_json;
    if (key == member) {
      if (listed || in.next() != '[') return errc::bad_list;
      listed = true;
      for (bool another = in.open('['); another; another = in.another(']')) {
        if (!in.skip(value)) return in.why();
        take(value);
      }
    } else if (key == "nextCursor") {
      if (!in.skip(value)) return in.why();
      // Some servers mark their last page with an empty cursor.
      if (value.starts_with('"') && value != R"("")") next_cursor = value;
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return in.why();
  return listed ? errc{} : errc::bad_list;
}

bool key_of(scanner& in, std::string& space, std::string_view& key) {
  std::string_view raw;
  return in.key(raw) && text_of(raw, space, key);
}

span span_of(std::string_view part, std::string_view text) {
  return {static_cast<std::uint32_t>(part.data() - text.data()), static_cast<std::uint32_t>(part.size())};
}

std::string left_out(std::string_view what, std::size_t position, std::string_view name, std::string_view why) {
  constexpr std::size_t longest_echo = 128;
  std::string line = std::string(what) + " " + std::to_string(position);
  if (!name.empty()) line.append(" (").append(head(name, longest_echo)).append(")");
  return line.append(" is left out: ").append(why);
}

std::string with_name(std::string_view definition, span token, std::string_view name) {
  std::string out;
  out.reserve(definition.size() + name.size());
  out.append(definition.substr(0, token.offset));
  append_quoted(out, name);
  out.append(definition.substr(std::size_t{token.offset} + token.size));
  return out;
}

}  // namespace switchgear::protocol
