// The sorts of values that keys take.
#pragma once

#include "base/time.hpp"
#include "config/schema.hpp"
#include "config/values.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::config {

/// Whether a value may be `0` (or the word in its place) although that lies outside its range.
enum class zero : std::uint8_t { in_range, off };

kind<duration> a_duration(duration least, duration most, zero may_be = zero::in_range);
kind<double> a_share(double least, double most, zero may_be = zero::in_range);
kind<double> a_decimal(double least, double most, zero may_be = zero::in_range);
/// A share or `none`.
kind<std::optional<double>> a_share_or_none(double least, double most);
kind<std::uint64_t> a_count(std::uint64_t least, std::uint64_t most);
kind<std::size_t> a_size(std::size_t least, std::size_t most, zero may_be = zero::in_range);
kind<bool> a_flag();
kind<endpoint> an_endpoint();

/// A text of one line, without control characters.
kind<std::string> a_text();
/// A text that may have several lines.
kind<std::string> a_long_text();
/// A list of texts, none of them empty; a single text stands for a list of one.
kind<std::vector<std::string>> some_texts();
/// The same, but with room for empty texts, as a program's arguments need it.
kind<std::vector<std::string>> some_arguments();
/// A list of exactly one text, written as the text.
kind<std::vector<std::string>> one_word();

/// One of a few words.
template <class Choice>
kind<Choice> one_of(std::vector<std::pair<std::string_view, Choice>> choices);

/// A value that may be absent: not set unless the key is there.
template <class Value>
kind<std::optional<Value>> maybe(kind<Value> of) {
  kind<std::optional<Value>> made{of.name, of.range, {}, {}};
  made.read = [read = of.read](const field& from) -> std::optional<std::optional<Value>> {
    auto value = read(from);
    if (!value) return std::nullopt;
    return std::optional<Value>(*std::move(value));
  };
  made.write = [write = of.write](const std::optional<Value>& value) { return value ? write(*value) : std::string(); };
  return made;
}

/// "a, b or c"
std::string listed(const std::vector<std::string_view>& words);
void report_choice(const field& from, const std::string& given, const std::vector<std::string_view>& words);

template <class Choice>
kind<Choice> one_of(std::vector<std::pair<std::string_view, Choice>> choices) {
  std::vector<std::string_view> words;
  for (const auto& [word, choice] : choices) words.push_back(word);
  kind<Choice> made{"word", listed(words), {}, {}};
  made.read = [choices, words](const field& from) -> std::optional<Choice> {
    const auto given = from.text();
    if (!given) return std::nullopt;
    for (const auto& [word, choice] : choices) {
      if (*given == word) return choice;
    }
    report_choice(from, *given, words);
    return std::nullopt;
  };
  made.write = [choices](const Choice& value) {
    for (const auto& [word, choice] : choices) {
      if (choice == value) return std::string(word);
    }
    return std::string();
  };
  return made;
}

}  // namespace switchgear::config
