#include "config/kinds.hpp"

#include "config/nearest_name.hpp"

#include <algorithm>

namespace switchgear::config {
namespace {

std::string in_quotes(const std::string& text) {
  constexpr std::size_t most = 60;
  return '"' + (text.size() > most ? text.substr(0, most) + "..." : text) + '"';
}

std::string between(const std::string& least, const std::string& most) {
  return least + " to " + most;
}

/// A kind whose values are ordered: parsed, then checked against the range.
template <class Value, class Parse, class Write>
kind<Value> ordered(std::string name, std::string example, Value least, Value most, zero may_be, Parse parse,
                    Write write) {
  kind<Value> made{std::move(name), between(write(least), write(most)), {}, write};
  if (may_be == zero::off) made.range += ", or 0";
  made.read = [=, range = made.range](const field& from) -> std::optional<Value> {
    const auto given = from.text();
    if (!given) return std::nullopt;
    const std::optional<Value> value = parse(*given);
    if (!value) {
      from.fail(in_quotes(*given) + " is not a " + example);
      return std::nullopt;
    }
    const bool is_off = may_be == zero::off && *value == Value{};
    if (!is_off && (*value < least || *value > most)) {
      from.fail(in_quotes(*given) + " is out of range; " + range + " is allowed");
      return std::nullopt;
    }
    return value;
  };
  return made;
}

bool has_control(std::string_view text, bool lines_allowed) {
  return std::any_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (lines_allowed && (byte == '\n' || byte == '\t')) return false;
    return byte < 0x20 || byte == 0x7F;
  });
}

std::optional<std::string> checked_text(const field& from, bool lines_allowed) {
  auto text = from.text();
  if (text && has_control(*text, lines_allowed)) {
    from.fail(lines_allowed ? "holds a control character"
                            : "holds a line end or another control character; one line is needed");
    return std::nullopt;
  }
  return text;
}

kind<std::string> text_kind(std::string name, bool lines_allowed) {
  kind<std::string> made{std::move(name), "", {}, {}};
  made.read = [lines_allowed](const field& from) { return checked_text(from, lines_allowed); };
  made.write = [](const std::string& text) { return text.empty() ? std::string() : quote(text); };
  return made;
}

kind<std::vector<std::string>> list_kind(bool may_be_empty, bool may_be_list) {
  kind<std::vector<std::string>> made{may_be_list ? "list of texts" : "text", "", {}, {}};
  const auto one = [may_be_empty](const field& from) {
    auto text = checked_text(from, false);
    if (text && text->empty() && !may_be_empty) {
      from.fail("is empty");
      text.reset();
    }
    return text;
  };
  made.read = [=](const field& from) -> std::optional<std::vector<std::string>> {
    if (from.at().what == node::kind::scalar || !may_be_list) {
      if (auto only = one(from)) return std::vector{*std::move(only)};
      return std::nullopt;
    }
    const auto items = from.items();
    if (!items) return std::nullopt;
    std::vector<std::string> all;
    for (const field& item : *items) {
      if (auto text = one(item)) all.push_back(*std::move(text));
    }
    if (all.size() != items->size()) return std::nullopt;
    return all;
  };
  made.write = [](const std::vector<std::string>& all) {
    std::string text = "[";
    for (const std::string& each : all) text += (text.size() > 1 ? ", " : "") + quote(each);
    return text + ']';
  };
  return made;
}

}  // namespace

kind<duration> a_duration(duration least, duration most, zero may_be) {
  return ordered<duration>("duration", "duration; write it as in 250ms, 5s, 10m or 1h", least, most, may_be,
                           parse_duration, format_duration);
}

kind<double> a_share(double least, double most, zero may_be) {
  return ordered<double>("share", "share; write it with a percent sign, as in 15%", least, most, may_be, parse_share,
                         format_share);
}

kind<std::optional<double>> a_share_or_none(double least, double most) {
  const kind<double> share = a_share(least, most);
  kind<std::optional<double>> made{share.name, share.range + ", or none", {}, {}};
  made.read = [share](const field& from) -> std::optional<std::optional<double>> {
    if (from.at().what == node::kind::scalar && from.at().text == "none") return std::optional<double>();
    const auto value = share.read(from);
    if (!value) return std::nullopt;
    return std::optional<double>(value);
  };
  made.write = [share](const std::optional<double>& value) { return value ? share.write(*value) : "none"; };
  return made;
}

kind<double> a_decimal(double least, double most, zero may_be) {
  return ordered<double>("number", "number; write it as in 1.5", least, most, may_be, parse_decimal, format_decimal);
}

kind<std::uint64_t> a_count(std::uint64_t least, std::uint64_t most) {
  return ordered<std::uint64_t>("count", "whole number", least, most, zero::in_range, parse_count,
                                [](std::uint64_t value) { return std::to_string(value); });
}

kind<std::size_t> a_size(std::size_t least, std::size_t most, zero may_be) {
  return ordered<std::size_t>("size", "size; write it as in 64KiB, 4MiB or a number of bytes", least, most, may_be,
                              parse_size, format_size);
}

kind<bool> a_flag() {
  kind<bool> made{"flag", "true or false", {}, {}};
  made.read = [](const field& from) -> std::optional<bool> {
    const auto given = from.text();
    if (!given) return std::nullopt;
    if (*given == "true") return true;
    if (*given == "false") return false;
    from.fail(in_quotes(*given) + " is not a flag; write true or false");
    return std::nullopt;
  };
  made.write = [](bool value) { return std::string(value ? "true" : "false"); };
  return made;
}

kind<endpoint> an_endpoint() {
  kind<endpoint> made{"address", "IP:PORT, port 0 to 65535", {}, {}};
  made.read = [](const field& from) -> std::optional<endpoint> {
    const auto given = from.text();
    if (!given) return std::nullopt;
    auto parsed = parse_endpoint(*given);
    if (!parsed) {
      from.fail(
          in_quotes(*given) +
          " is not an address to listen on; write IP:PORT with a port up to 65535, as in 127.0.0.1:8080 or [::1]:8080");
    }
    return parsed;
  };
  made.write = [](const endpoint& value) { return quote(format_endpoint(value)); };
  return made;
}

kind<std::string> a_text() {
  return text_kind("text", false);
}

kind<std::string> a_long_text() {
  return text_kind("text", true);
}

kind<std::vector<std::string>> some_texts() {
  return list_kind(false, true);
}

kind<std::vector<std::string>> some_arguments() {
  return list_kind(true, true);
}

kind<std::vector<std::string>> one_word() {
  return list_kind(false, false);
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

void report_choice(const field& from, const std::string& given, const std::vector<std::string_view>& words) {
  std::string what = in_quotes(given) + " is not known; write " + listed(words);
  from.fail(std::move(what));
}

void report_unknown(const field::member& member, const std::vector<std::string_view>& known) {
  if (member.value.into().full()) return;
  const std::string_view meant = nearest_name(member.name, known);
  if (!meant.empty()) {
    member.fail("unknown key; did you mean `" + std::string(meant) + "`?");
  } else {
    member.fail("unknown key; known here: " + listed(known));
  }
}

}  // namespace switchgear::config
