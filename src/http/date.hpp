// The dates of HTTP fields. Source: RFC 9110 sections 5.6.7 and 10.2.3.
#pragma once

#include "base/time.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace switchgear::http {

/// A date in one of the three forms that a recipient has to know: "Sun, 06 Nov 1994 08:49:37 GMT" and the two obsolete
/// ones. The name of the day is not compared with the date. Nothing for any other text.
std::optional<std::chrono::sys_seconds> read_date(std::string_view text);

/// How long a Retry-After asks to wait: a number of seconds, or a date, which counts from `now`. Nothing for a text
/// that is neither. A date that has passed gives no less than zero, and no value more than a day.
std::optional<duration> read_retry_after(std::string_view text, std::chrono::sys_seconds now);

}  // namespace switchgear::http
