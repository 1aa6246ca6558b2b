#include "protocol/mirrored_arguments.hpp"

#include "protocol/header_value.hpp"
#include "protocol/list_page.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <system_error>

namespace switchgear::protocol {

namespace {

constexpr double largest_integer = 9007199254740991;  // 2^53 - 1: up to here every reader has the same number

// The raw values of the mirrored arguments, found in one pass. Of a member that is there twice the last one counts, as
// for the parsers of most servers.
class value_finder {
 public:
  value_finder(const std::vector<mirrored_argument>& mirrored, std::string_view arguments)
      : mirrored_(mirrored), values_(mirrored.size()), in_(arguments, index_) {
    std::vector<std::size_t> all(mirrored.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (in_.ok() && in_.next() == '{') visit(0, all);
    if (!in_.ok()) values_.assign(mirrored.size(), {});
  }

  std::string_view operator[](std::size_t i) const { return values_[i]; }

 private:
  void visit(std::size_t depth, const std::vector<std::size_t>& wanted) {
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key, value;
      if (!key_of(in_, space_, key)) return;
      std::vector<std::size_t> ending, deeper;
      for (std::size_t i : wanted) {
        if (mirrored_[i].path[depth] != key) continue;
        (mirrored_[i].path.size() == depth + 1 ? ending : deeper).push_back(i);
        values_[i] = {};
      }
      if (in_.next() == '{' && !deeper.empty()) {
        visit(depth + 1, deeper);
        continue;
      }
      if (!in_.skip(value)) return;
      for (std::size_t i : ending) values_[i] = value;
    }
  }

  const std::vector<mirrored_argument>& mirrored_;
  std::vector<std::string_view> values_;
  token_index index_;
  scanner in_;
  std::string space_;
};

bool is_number(std::string_view raw) {
  return !raw.empty() && (raw.front() == '-' || (raw.front() >= '0' && raw.front() <= '9'));
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_integer(double value) {
  return std::abs(value) <= largest_integer && std::trunc(value) == value;
}

// What a header says of the value. Nothing if no header can.
std::optional<std::string> text_of_value(std::string_view raw) {
  if (raw == "true" || raw == "false") return std::string(raw);
  if (raw.starts_with('"')) {
    auto text = unquoted(raw);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }
  if (!is_number(raw)) return std::nullopt;
  const std::optional<double> value = number_of(raw);
  if (!value || !is_integer(*value)) return std::nullopt;
  return std::to_string(static_cast<std::int64_t>(*value));
}

std::string difference(const mirrored_argument& one, std::string_view raw, std::optional<std::string_view> field) {
  const std::optional<std::string> expected = text_of_value(raw);
  if (!field) return expected ? one.header + " is missing" : "";
  if (raw.empty() || raw == "null") return one.header + " is there, but its argument is not";
  const std::optional<std::string> said = decode_header_value(*field);
  if (!said) return one.header + " is no valid base64";
  // Two readers need not agree on a number that no header is made for, but neither may it say another one.
  if (is_number(raw)) {
    const std::optional<double> number = number_of(*said);
    if (number && number == number_of(raw)) return {};
  } else if (said == expected) {
    return {};
  }
  return one.header + " differs from its argument";
}

}  // namespace

std::string mirrored_lines(const std::vector<mirrored_argument>& mirrored, std::string_view arguments) {
  std::string lines;
  if (mirrored.empty() || arguments.empty()) return lines;
  const value_finder values(mirrored, arguments);
  for (std::size_t i = 0; i < mirrored.size(); ++i) {
    const std::optional<std::string> text = text_of_value(values[i]);
    if (text) lines.append(mirrored[i].header).append(": ").append(encode_header_value(*text)).append("\r\n");
  }
  return lines;
}

std::string mirrored_difference(const std::vector<mirrored_argument>& mirrored, std::string_view arguments,
                                const field_lookup& field) {
  if (mirrored.empty()) return {};
  const value_finder values(mirrored, arguments.empty() ? "{}" : arguments);
  for (std::size_t i = 0; i < mirrored.size(); ++i) {
    std::string differs = difference(mirrored[i], values[i], field(mirrored[i].header));
    if (!differs.empty()) return differs;
  }
  return {};
}

}  // namespace switchgear::protocol
