#include "listen/origin.hpp"

#include "http/media_type.hpp"

#include <algorithm>

namespace switchgear::listen {

namespace {

// The host without its port; "[::1]:8080" gives "[::1]".
std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    return end == std::string_view::npos ? authority : authority.substr(0, end + 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_loopback(std::string_view host) {
  if (http::same_text(host, "localhost") || host == "[::1]") return true;
  // 127.0.0.0/8 written plainly; a name such as 127.evil.example is none.
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool listed(std::string_view value, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed,
                             [&](const std::string& one) { return one == "*" || http::same_text(one, value); });
}

}  // namespace

bool host_allowed(std::string_view host, const std::vector<std::string>& allowed) {
  const std::string_view name = without_port(host);
  return is_loopback(name) || listed(host, allowed) || listed(name, allowed);
}

bool origin_allowed(std::string_view origin, const std::vector<std::string>& allowed) {
  if (origin.empty() || listed(origin, allowed)) return true;
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && is_loopback(without_port(origin.substr(scheme + 3)));
}

}  // namespace switchgear::listen
