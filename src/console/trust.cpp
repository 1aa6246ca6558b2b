#include "console/trust.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>

namespace switchgear::console {

namespace {

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// host[:port] or [v6][:port] without the port and brackets; empty when it is neither.
std::string_view name_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = authority.substr(end + 1);
    if (!rest.empty() && !(rest.starts_with(':') && is_port(rest.substr(1)))) return {};
    return authority.substr(1, end - 1);
  }
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos) return authority;
  return is_port(authority.substr(colon + 1)) ? authority.substr(0, colon) : std::string_view{};
}

bool listed(std::string_view name, const std::vector<std::string>& allowed) {
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](const std::string& entry) { return entry == "*" || same_name(name_of(entry), name); });
}

boost::asio::ip::address address_of(std::string_view name, boost::system::error_code& failed) {
  return boost::asio::ip::make_address(name, failed);
}

}  // namespace

bool host_trusted(std::string_view host, const std::vector<std::string>& allowed) {
  if (host.empty()) return true;
  const std::string_view name = name_of(host);
  if (name.empty()) return false;
  if (same_name(name, "localhost") || listed(name, allowed)) return true;
  boost::system::error_code failed;
  address_of(name, failed);
  return !failed;
}

bool origin_trusted(std::string_view origin, std::string_view host, const std::vector<std::string>& allowed) {
  if (origin.empty()) return true;
  std::string_view authority = origin;
  if (authority.starts_with("http://")) {
    authority.remove_prefix(7);
  } else if (authority.starts_with("https://")) {
    authority.remove_prefix(8);
  } else {
    return false;
  }
  const std::string_view name = name_of(authority);
  if (name.empty()) return false;
  if (same_name(name, "localhost") || same_name(name, name_of(host)) || listed(name, allowed)) return true;
  boost::system::error_code failed;
  const boost::asio::ip::address address = address_of(name, failed);
  return !failed && address.is_loopback();
}

}  // namespace switchgear::console
