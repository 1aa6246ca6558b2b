// Values that end up in HTTP requests: a URL, and headers.
#pragma once

#include "config/schema.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::config {

/// http:// or https:// with a host; without credentials and fragment.
kind<std::string> a_url();

/// The same with placeholders in path and query (cascade/url_template.hpp). Written with the values of its query
/// masked, but for placeholders.
kind<std::string> a_url_template();

using header_list = std::vector<std::pair<std::string, std::string>>;

/// A mapping of header names to values. Names are tokens (RFC 9110, 5.6.2) other than those that the gateway writes
/// itself; values hold no control characters, so none can end a line. Written with its values masked.
kind<header_list> some_headers();

/// Names, in lower case, of headers that a client's request may bring for a server: none that belong to the connection
/// or to the message, which are the gateway's own on each side.
kind<std::vector<std::string>> some_forwarded();

/// The name of a header that says who calls: none of those either, and none that holds a secret.
kind<std::string> a_naming_header();

/// The text that stands in for a secret.
inline constexpr std::string_view masked = "***";

}  // namespace switchgear::config
