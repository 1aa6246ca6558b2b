#include "config/http_values.hpp"

#include "cascade/placeholder.hpp"
#include "cascade/url_template.hpp"
#include "config/kinds.hpp"
#include "config/values.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <array>

namespace switchgear::config {
namespace {

constexpr std::size_t most_headers = 64;
constexpr std::size_t most_forwarded = 16;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || others.find(c) != others.npos;
  });
}

/// What the gateway writes into each request; a second one would contradict it.
constexpr std::array<std::string_view, 10> own_headers{
    "accept",         "connection", "content-length",       "content-type", "host",
    "mcp-session-id", "keep-alive", "mcp-protocol-version", "te",           "transfer-encoding"};

std::string header_fault(std::string_view name, std::string_view value) {
  if (!is_token(name))
    return "is not a header name; letters, digits and - are usual, spaces and colons are not allowed";
  if (std::find(own_headers.begin(), own_headers.end(), lower(name)) != own_headers.end()) {
    return "is written by the gateway itself; remove it";
  }
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7F;
  };
  if (std::any_of(value.begin(), value.end(), is_control)) {
    return "holds a line end or another control character; a header value is one line";
  }
  if (!value.empty() &&
      (value.front() == ' ' || value.back() == ' ' || value.front() == '\t' || value.back() == '\t')) {
    return "begins or ends with white space; remove it";
  }
  return {};
}

/// What no header is that goes through the gateway: the field's role, or empty.
std::string_view role_of(std::string_view name) {
  constexpr std::array<std::string_view, 9> hop_by_hop{"connection",
                                                       "keep-alive",
                                                       "proxy-authenticate",
                                                       "proxy-authorization",
                                                       "proxy-connection",
                                                       "te",
                                                       "trailer",
                                                       "transfer-encoding",
                                                       "upgrade"};
  constexpr std::array<std::string_view, 6> of_message{"expect", "host",  "last-event-id",
                                                       "origin", "range", "user-agent"};
  if (std::ranges::find(hop_by_hop, name) != hop_by_hop.end()) return "belongs to one connection";
  if (name.starts_with("content-") || name.starts_with("accept")) return "describes the body or the answer";
  if (name.starts_with("mcp-")) return "is a part of the protocol";
  if (std::ranges::find(of_message, name) != of_message.end()) return "is about the request to the gateway";
  return {};
}

std::string through_fault(std::string_view name) {
  if (!is_token(name)) return "is not a header name; letters, digits and - are usual";
  const std::string_view role = role_of(lower(name));
  return role.empty() ? std::string() : std::string(role) + ", so it does not go through the gateway; remove it";
}

std::optional<std::string> read_name(const field& from) {
  auto text = from.text();
  if (!text) return std::nullopt;
  if (std::string fault = through_fault(*text); !fault.empty()) {
    from.fail(std::move(fault));
    return std::nullopt;
  }
  return lower(*text);
}

/// What is wrong with a URL, as a sentence; empty when it is good.
std::string url_fault(std::string_view text) {
  const auto parsed = boost::urls::parse_uri(text);
  constexpr std::string_view right = "; write it as in http://127.0.0.1:9001/mcp";
  if (!parsed) return "is not a valid URL" + std::string(right);
  const boost::urls::url_view url = *parsed;
  const std::string scheme = lower(url.scheme());
  if (scheme != "http" && scheme != "https") return "has the scheme \"" + scheme + "\"; http or https is needed";
  if (url.encoded_host().empty()) return "has no host" + std::string(right);
  if (url.has_port()) {
    const auto port = parse_count(std::string_view(url.port().data(), url.port().size()));
    if (!port || *port == 0 || *port > 65535) return "has no valid port; 1 to 65535 is allowed";
  }
  if (url.has_userinfo()) return "holds credentials; put them into `headers`, as in Authorization: Basic ...";
  if (url.has_fragment()) return "has a fragment (#...), which no server gets to see; remove it";
  return {};
}

/// The same URL with a plain letter for each placeholder.
std::string without_placeholders(std::string_view url) {
  std::string out;
  std::size_t done = 0;
  for (auto found = cascade::next_placeholder(url, 0); found && *found; found = cascade::next_placeholder(url, done)) {
    out.append(url.substr(done, (*found)->begin - done)).append("x");
    done = (*found)->end;
  }
  return out.append(url.substr(done));
}

bool has_variable_in_path(std::string_view written) {
  const std::size_t scheme = written.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::size_t path = written.find('/', scheme + 3);
  const std::size_t variable = path == std::string_view::npos ? path : written.find("${", path);
  return variable < written.find('?');
}

std::string with_masked_query(const std::string& url) {
  const std::size_t query = url.find('?');
  if (query == std::string::npos) return url;
  std::string out = url.substr(0, query);
  for (std::size_t at = query; at < url.size();) {
    const std::size_t end = std::min(url.find('&', at + 1), url.size());
    const std::string_view part = std::string_view(url).substr(at, end - at);
    const std::size_t value = part.find('=');
    const bool plain = value == std::string_view::npos || part.find("{{") != std::string_view::npos;
    out.append(plain ? part : part.substr(0, value + 1)).append(plain ? "" : masked);
    at = end;
  }
  return out;
}

}  // namespace

kind<std::string> a_url() {
  kind<std::string> made{"URL", "http:// or https://", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    auto text = from.text();
    if (!text) return std::nullopt;
    if (const std::string fault = url_fault(*text); !fault.empty()) {
      from.fail(fault);
      return std::nullopt;
    }
    return text;
  };
  made.write = [](const std::string& text) { return text.empty() ? std::string() : quote(text); };
  return made;
}

kind<std::string> a_url_template() {
  kind<std::string> made{"URL", "http:// or https://", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    auto text = from.text();
    if (!text) return std::nullopt;
    std::string fault;
    if (const auto compiled = cascade::url_template::compile(*text)) {
      fault = url_fault(without_placeholders(*text));
    } else {
      fault = compiled.error().message();
    }
    if (!fault.empty()) {
      from.fail(fault);
      return std::nullopt;
    }
    if (has_variable_in_path(from.at().text)) {
      from.warn(
          "has a variable in its path, which becomes a part of the breaker's name, for all to see; a secret belongs "
          "into `headers`");
    }
    return text;
  };
  made.write = [](const std::string& text) { return text.empty() ? std::string() : quote(with_masked_query(text)); };
  return made;
}

kind<header_list> some_headers() {
  kind<header_list> made{"mapping of texts", "", {}, {}};
  made.read = [](const field& from) -> std::optional<header_list> {
    const auto members = from.members();
    if (!members) return std::nullopt;
    if (members->size() > most_headers) {
      from.fail("has more than " + std::to_string(most_headers) + " headers");
      return std::nullopt;
    }
    header_list all;
    bool good = true;
    for (const field::member& member : *members) {
      const auto value = member.value.text();
      std::string fault = value ? header_fault(member.name, *value) : std::string();
      for (const auto& [name, unused] : all) {
        if (lower(name) == lower(member.name)) fault = "stands twice; header names do not differ by case";
      }
      if (!fault.empty()) member.fail(std::move(fault));
      good = good && value && fault.empty();
      if (good) all.emplace_back(member.name, *value);
    }
    if (!good) return std::nullopt;
    return all;
  };
  made.write = [](const header_list& all) {
    if (all.empty()) return std::string();
    std::string text = "{";
    for (const auto& [name, value] : all) {
      text += (text.size() > 1 ? ", " : "") + quote(name) + ": " + quote(masked);
    }
    return text + '}';
  };
  return made;
}

kind<std::vector<std::string>> some_forwarded() {
  using names = std::vector<std::string>;
  kind<names> made{"list of header names", "at most 16", {}, {}};
  made.read = [](const field& from) -> std::optional<names> {
    if (from.at().what == node::kind::scalar) {
      auto only = read_name(from);
      if (!only) return std::nullopt;
      return names{*std::move(only)};
    }
    const auto items = from.items();
    if (!items) return std::nullopt;
    if (items->size() > most_forwarded) {
      from.fail("has more than " + std::to_string(most_forwarded) + " headers");
      return std::nullopt;
    }
    names all;
    for (const field& item : *items) {
      auto name = read_name(item);
      if (!name) continue;
      if (std::ranges::find(all, *name) != all.end()) {
        item.fail("stands twice; header names do not differ by case");
      } else {
        all.push_back(*std::move(name));
      }
    }
    if (all.size() != items->size()) return std::nullopt;
    return all;
  };
  made.write = some_texts().write;
  return made;
}

kind<std::string> a_naming_header() {
  kind<std::string> made{"header name", "", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    auto name = read_name(from);
    if (name != "authorization" && name != "cookie") return name;
    from.fail("holds a secret, not a name; write the header in which a proxy says who calls, as in x-user");
    return std::nullopt;
  };
  made.write = [](const std::string& name) { return name.empty() ? std::string() : quote(name); };
  return made;
}

}  // namespace switchgear::config
