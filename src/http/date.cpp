#include "http/date.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace switchgear::http {
namespace {

using std::chrono::sys_seconds;

constexpr duration longest = std::chrono::hours(24);

std::optional<long long> number(std::string_view text) {
  long long value = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!digits || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// All three forms are the same words with other marks between them, but for the place of the year.
struct words {
  std::array<std::string_view, 6> each;
  std::size_t count = 0;

  explicit words(std::string_view text) {
    constexpr std::string_view marks = " ,-";
    while (true) {
      text.remove_prefix(std::min(text.find_first_not_of(marks), text.size()));
      if (text.empty()) return;
      if (count == each.size()) {
        count = 0;
        return;
      }
      each[count] = text.substr(0, text.find_first_of(marks));
      text.remove_prefix(each[count++].size());
    }
  }
};

std::optional<unsigned> month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<unsigned>(found - names.begin()) + 1;
}

std::optional<int> year_of(std::string_view text) {
  const auto value = number(text);
  if (!value || (text.size() != 4 && text.size() != 2)) return std::nullopt;
  if (text.size() == 4) return static_cast<int>(*value);
  return static_cast<int>(*value) + (*value < 70 ? 2000 : 1900);
}

std::optional<std::chrono::seconds> time_of_day(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hours = number(text.substr(0, 2)), minutes = number(text.substr(3, 2)), seconds = number(text.substr(6));
  // A leap second has the number 60.
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  return std::chrono::hours(*hours) + std::chrono::minutes(*minutes) + std::chrono::seconds(*seconds);
}

}  // namespace

std::optional<sys_seconds> read_date(std::string_view text) {
  const words found(text);
  const bool year_last = found.count == 5;
  if (!year_last && (found.count != 6 || found.each[5] != "GMT")) return std::nullopt;
  const auto day = number(found.each[year_last ? 2 : 1]);
  const auto month = month_of(found.each[year_last ? 1 : 2]);
  const auto year = year_of(found.each[year_last ? 4 : 3]);
  const auto time = time_of_day(found.each[year_last ? 3 : 4]);
  if (!day || *day > 31 || !month || !year || !time) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + *time;
}

std::optional<duration> read_retry_after(std::string_view text, sys_seconds now) {
  constexpr auto most = std::chrono::duration_cast<std::chrono::seconds>(longest);
  if (text.find_first_not_of("0123456789") == std::string_view::npos && !text.empty()) {
    // More digits than a number can have are a long time, too.
    return std::min(std::chrono::seconds(number(text).value_or(most.count())), most);
  }
  const auto date = read_date(text);
  if (!date) return std::nullopt;
  return std::clamp(*date - now, std::chrono::seconds(0), most);
}

}  // namespace switchgear::http
