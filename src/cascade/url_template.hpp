// The URL of an http step: https://api.example.com/items/{{id}}?q={{query}}.
#pragma once

#include "base/result.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::cascade {

/// A URL with placeholders (cascade/placeholder.hpp) in its path and query. Scheme, host and port are the operator's
/// alone: no caller can send a request elsewhere, nor out of its place in the path. Immutable; thread-safe.
class url_template {
 public:
  static constexpr std::size_t longest_target = 8 * 1024;

  /// `url` is http://host[:port][/path][?query], or https://. Errors: bad_placeholder, bad_pointer,
  /// misplaced_placeholder.
  static result<url_template> compile(std::string_view url);

  /// "https://api.example.com:8443"
  std::string_view origin() const { return std::string_view(url_).substr(0, target_); }
  /// "api.example.com:8443"
  std::string_view authority() const { return std::string_view(url_).substr(authority_, target_ - authority_); }
  /// "/items/{{id}}", as it was written
  std::string_view path() const { return std::string_view(url_).substr(target_, query_ - target_); }

  /// What the breaker of requests with this method is called: "http:GET api.example.com:8443/items/{{id}}". It is of
  /// the template, not of what fills it: callers cannot make breakers.
  std::string breaker_name(std::string_view method) const;

  /// Path and query, with every value percent-encoded. Errors: unknown_argument, with *missing the path that led
  /// nowhere; unusable_argument for a value that would make a path segment empty, `.` or `..`, or a target that is too
  /// long.
  result<std::string> fill(const boost::json::value& from, std::string* missing = nullptr) const;

  /// The paths of all its placeholders.
  std::vector<std::string> paths() const;

 private:
  url_template() = default;

  std::string url_;
  std::size_t authority_ = 0, target_ = 0, query_ = 0;  // where each begins
};

/// The place in a URL that compile() takes: "api.example.com:8443".
std::string_view authority_of(std::string_view url);

}  // namespace switchgear::cascade
