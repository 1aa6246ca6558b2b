#include "cascade/url_template.hpp"

#include "cascade/errc.hpp"
#include "cascade/placeholder.hpp"

#include <boost/json/value.hpp>

#include <algorithm>

namespace switchgear::cascade {
namespace {

constexpr std::string_view scheme_end = "://";

/// Where the authority begins, and where it ends.
std::size_t authority_begin(std::string_view url) {
  const auto at = url.find(scheme_end);
  return at == std::string_view::npos ? 0 : at + scheme_end.size();
}
std::size_t authority_end(std::string_view url) {
  return std::min(url.find_first_of("/?#", authority_begin(url)), url.size());
}

// Everything but the unreserved characters of RFC 3986, 2.3.
void append_encoded(std::string& out, std::string_view value) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char each : value) {
    const auto byte = static_cast<unsigned char>(each);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       byte == '-' || byte == '.' || byte == '_' || byte == '~';
    if (plain) {
      out += each;
    } else {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
}

/// Puts a path together and sees to it that values stay in their segments.
class path_writer {
 public:
  explicit path_writer(std::string& out) : out_(out) {}

  bool literal(std::string_view text) {
    for (const char each : text) {
      if (each == '/' && !end_segment()) return false;
      out_ += each;
      if (each == '/') begin_ = out_.size();
    }
    return true;
  }
  void value(std::string_view text) {
    append_encoded(out_, text);
    filled_ = true;
  }
  bool end_segment() {
    const std::string_view segment = std::string_view(out_).substr(begin_);
    const bool good = !filled_ || (!segment.empty() && segment != "." && segment != "..");
    filled_ = false;
    return good;
  }

 private:
  std::string& out_;
  std::size_t begin_ = 0;
  bool filled_ = false;
};

}  // namespace

std::string_view authority_of(std::string_view url) {
  const std::size_t begin = authority_begin(url);
  return url.substr(begin, authority_end(url) - begin);
}

result<url_template> url_template::compile(std::string_view url) {
  if (const error_code wrong = check_placeholders(url)) return wrong;
  const auto first = next_placeholder(url, 0);
  url_template made;
  made.url_ = url;
  made.authority_ = authority_begin(url);
  made.target_ = authority_end(url);
  if (*first && (*first)->begin < made.target_) return errc::misplaced_placeholder;
  // A pointer may hold a `?`, so it is looked for between the placeholders.
  std::size_t from = made.target_;
  made.query_ = url.size();
  for (bool more = true; more;) {
    const auto next = next_placeholder(url, from);
    more = next->has_value();
    const std::size_t end = more ? (*next)->begin : url.size();
    if (const auto mark = url.substr(0, end).find('?', from); mark != std::string_view::npos) {
      made.query_ = mark;
      break;
    }
    if (more) from = (*next)->end;
  }
  return made;
}

std::string url_template::breaker_name(std::string_view method) const {
  std::string made("http:");
  made.append(method).append(" ").append(authority());
  return made.append(path().empty() ? "/" : path());
}

result<std::string> url_template::fill(const boost::json::value& from, std::string* missing) const {
  const std::string_view url = url_;
  std::string out;
  if (path().empty()) out = "/";
  path_writer path(out);
  std::size_t done = target_;
  for (;;) {
    const auto found = next_placeholder(url, done);
    const std::size_t end = *found ? (*found)->begin : url.size();
    const std::size_t path_end = std::clamp(query_, done, end);
    if (!path.literal(url.substr(done, path_end - done))) return errc::unusable_argument;
    if (path_end == query_ && path_end < end && !path.end_segment()) return errc::unusable_argument;
    out += url.substr(path_end, end - path_end);
    if (!*found) break;

    const boost::json::value* value = find_value(from, (*found)->path);
    if (value == nullptr) {
      if (missing != nullptr) *missing = (*found)->path;
      return errc::unknown_argument;
    }
    const std::string text = as_text(*value);
    if (text.size() > longest_target) return errc::unusable_argument;
    if ((*found)->begin < query_) {
      path.value(text);
    } else {
      append_encoded(out, text);
    }
    done = (*found)->end;
  }
  if (query_ == url.size() && !path.end_segment()) return errc::unusable_argument;
  if (out.size() > longest_target) return errc::unusable_argument;
  return out;
}

std::vector<std::string> url_template::paths() const {
  std::vector<std::string> all;
  for (auto found = next_placeholder(url_, 0); found && *found; found = next_placeholder(url_, (*found)->end)) {
    all.emplace_back((*found)->path);
  }
  return all;
}

}  // namespace switchgear::cascade
