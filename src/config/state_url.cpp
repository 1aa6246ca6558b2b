#include "config/state_url.hpp"

#include "config/values.hpp"

#include <boost/url/pct_string_view.hpp>

#include <optional>
#include <utility>

namespace switchgear::config {
namespace {

using shape = port::redis_settings::layout;

struct scheme {
  std::string_view name;
  port::redis_settings::layout layout;
  bool tls;
};
constexpr scheme schemes[] = {
    {"redis", shape::single, false},
    {"rediss", shape::single, true},
    {"redis+sentinel", shape::sentinel, false},
    {"rediss+sentinel", shape::sentinel, true},
    {"redis+cluster", shape::cluster, false},
    {"rediss+cluster", shape::cluster, true},
};

const scheme* scheme_of(std::string_view url) {
  const auto end = url.find("://");
  for (const scheme& each : schemes) {
    if (end != std::string_view::npos && url.substr(0, end) == each.name) return &each;
  }
  return nullptr;
}

std::optional<std::string> decoded(std::string_view text) {
  const auto checked = boost::urls::make_pct_string_view(text);
  if (!checked) return std::nullopt;
  return checked->decode();
}

/// "name", "name:port", "[::1]:port"
std::optional<port::redis_settings::host> parse_host(std::string_view text, std::uint16_t usual_port) {
  port::redis_settings::host made{{}, usual_port};
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    made.name = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return std::nullopt;
  } else {
    const auto colon = text.find(':');
    made.name = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (made.name.empty() || made.name.find_first_of(" ?#@") != std::string::npos) return std::nullopt;
  if (port.empty()) return made;
  const auto number = parse_count(port.substr(1));
  if (!number || *number == 0 || *number > 65535) return std::nullopt;
  made.port = static_cast<std::uint16_t>(*number);
  return made;
}

std::string bad_hosts(std::string_view text, port::redis_settings& into) {
  const std::uint16_t usual_port = into.shape == shape::sentinel ? 26379 : 6379;
  while (true) {
    const auto comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    auto host = parse_host(one, usual_port);
    if (!host) return "\"" + std::string(one) + "\" is no host; write host or host:port";
    into.hosts.push_back(*std::move(host));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (into.shape == shape::single && into.hosts.size() > 1) {
    return "one host is expected; several need redis+sentinel:// or redis+cluster://";
  }
  return {};
}

std::string bad_path(std::string_view path, port::redis_settings& into) {
  switch (into.shape) {
    case shape::sentinel:
      into.master = path;
      if (path.empty() || path.find('/') != std::string_view::npos) {
        return "after the hosts the name of the monitored Redis is missing, as in redis+sentinel://host/mymaster";
      }
      return {};
    case shape::cluster:
      return path.empty() || path == "0" ? std::string()
                                         : "a cluster has no databases; leave out what follows the hosts";
    case shape::single:
      break;
  }
  if (path.empty()) return {};
  const auto number = parse_count(path);
  if (!number || *number > 1'000'000) return "\"" + std::string(path) + "\" is no database; write a number such as 0";
  into.database = static_cast<unsigned>(*number);
  return {};
}

}  // namespace

boost::system::result<port::redis_settings, std::string> parse_redis_url(std::string_view url) {
  const scheme* const kind = scheme_of(url);
  if (kind == nullptr) {
    return std::string(
        "is not known; write memory, or a URL that begins with redis://, rediss://, redis+sentinel:// or "
        "redis+cluster://");
  }
  port::redis_settings made;
  made.shape = kind->layout;
  made.tls = kind->tls;
  std::string_view rest = url.substr(kind->name.size() + 3);
  const auto slash = rest.find('/');
  std::string_view path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  rest = rest.substr(0, slash);
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    const auto colon = who.find(':');
    const auto user = decoded(who.substr(0, colon));
    const auto password = decoded(colon == std::string_view::npos ? std::string_view() : who.substr(colon + 1));
    if (!user || !password) return std::string("has a wrong percent escape in user or password; write % as %25");
    made.user = *user;
    made.password = *password;
  }
  if (std::string fault = bad_hosts(rest, made); !fault.empty()) return fault;
  if (std::string fault = bad_path(path, made); !fault.empty()) return fault;
  return made;
}

std::string shown_state(const std::string& state) {
  const auto begin = state.find("://"), at = state.rfind('@');
  if (begin == std::string::npos || at == std::string::npos) return state;
  const auto colon = state.find(':', begin + 3);
  if (colon == std::string::npos || colon > at) return state;
  return state.substr(0, colon + 1) + "***" + state.substr(at);
}

}  // namespace switchgear::config
