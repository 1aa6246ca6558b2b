#include "config/mcp_json.hpp"

#include "config/kinds.hpp"
#include "config/upstream_keys.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace switchgear::config {
namespace {

constexpr std::size_t longest_alias = 32;

/// Members that tell a client how to treat the server, and mean nothing for a gateway.
constexpr std::array<std::string_view, 10> client_members{"autoApprove", "alwaysAllow", "disabledTools", "timeout",
                                                          "trust",       "description", "name",          "icon",
                                                          "gallery",     "version"};

bool knows(std::string_view name) {
  const auto& table = mcp_json_keys();
  return std::any_of(table.begin(), table.end(), [&](const key<upstream>& each) { return each.name == name; });
}

/// `type` says what `url` and `command` say already, unless it is a transport that we do not speak.
void check_type(const field& type, const upstream& made) {
  const auto text = type.text();
  if (!text) return;
  if (*text == "sse") {
    type.fail(
        "the HTTP+SSE transport of 2024 is not supported in this version; use the server's Streamable HTTP URL and "
        "type http");
  } else if (*text == "stdio" || *text == "local") {
    if (!made.link.http.url.empty()) type.fail("\"" + *text + "\" does not go with a URL; write http");
  } else if (*text == "http" || *text == "streamable-http" || *text == "streamableHttp" || *text == "streamable_http") {
    if (made.link.is_stdio) type.fail("\"" + *text + "\" does not go with a command; write stdio");
  } else {
    type.fail("\"" + *text + "\" is not known; write http or stdio");
  }
}

bool is_disabled(const field& entry) {
  if (const node* flag = entry.at().find("disabled")) {
    return a_flag().read({*flag, entry.key() + ".disabled", entry.into()}).value_or(false);
  }
  if (const node* flag = entry.at().find("enabled")) {
    return !a_flag().read({*flag, entry.key() + ".enabled", entry.into()}).value_or(true);
  }
  return false;
}

void read_entry(const field::member& entry, const std::string& alias, gateway& into) {
  const auto members = entry.value.members();
  if (!members) return;
  upstream made = into.new_upstream(alias);
  for (const key<upstream>& each : mcp_json_keys()) {
    for (const field::member& member : *members) {
      if (member.name != each.name) continue;
      if (const auto apply = each.read(member.value)) apply(made);
    }
  }
  std::vector<std::string_view> addresses;
  for (const field::member& member : *members) {
    if (member.name == "url" || member.name == "serverUrl" || member.name == "httpUrl") {
      if (!addresses.empty())
        member.fail("stands beside `" + std::string(addresses.front()) + "`; one of them is needed");
      addresses.push_back(member.name);
    }
    if (member.name == "type" || member.name == "transport") check_type(member.value, made);
    const bool ours = knows(member.name) || member.name == "type" || member.name == "transport" ||
                      member.name == "disabled" || member.name == "enabled";
    if (ours) continue;
    const bool theirs = std::find(client_members.begin(), client_members.end(), member.name) != client_members.end();
    member.warn(theirs ? "is for the client alone and means nothing here" : "is not known and is left out");
  }
  check_upstream(entry.value, made);
  into.upstreams.push_back(std::move(made));
}

/// Aliases in the order of the entries. Names that are aliases as they stand keep themselves; of the others that come
/// to the same alias the first has it and the next ones get a number.
std::vector<std::string> aliases_for(const std::vector<field::member>& entries) {
  std::set<std::string, std::less<>> taken;
  for (const field::member& entry : entries) {
    if (alias_fault(entry.name).empty()) taken.insert(entry.name);
  }
  std::vector<std::string> aliases;
  for (const field::member& entry : entries) {
    if (alias_fault(entry.name).empty()) {
      aliases.push_back(entry.name);
      continue;
    }
    const std::string wanted = alias_for(entry.name);
    std::string alias = wanted;
    for (int number = 2; !taken.insert(alias).second; ++number) {
      const std::string suffix = '-' + std::to_string(number);
      alias = wanted.substr(0, longest_alias - suffix.size()) + suffix;
    }
    entry.warn("is named `" + alias + "` here, since an alias is made of a-z, 0-9, _ and -");
    aliases.push_back(alias);
  }
  return aliases;
}

}  // namespace

bool is_mcp_json(const node& root) {
  return root.what == node::kind::map && root.find("mcpServers") != nullptr;
}

void read_mcp_json(const field& root, gateway& into) {
  const auto members = root.members();
  if (!members) return;
  for (const field::member& member : *members) {
    if (member.name != "mcpServers") {
      member.warn("is not known beside `mcpServers` and is left out; for the gateway's own settings write a YAML file");
    }
  }
  const auto entries = root.nearest("mcpServers").members();
  if (!entries) return;
  constexpr std::size_t most_servers = 1000;
  if (entries->size() > most_servers) {
    root.nearest("mcpServers").fail("has more than " + std::to_string(most_servers) + " servers");
    return;
  }
  const std::vector<std::string> aliases = aliases_for(*entries);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const field::member& entry = (*entries)[i];
    if (entry.value.at().what == node::kind::map && is_disabled(entry.value)) {
      entry.warn("is disabled and is left out");
    } else {
      read_entry(entry, aliases[i], into);
    }
  }
}

std::string alias_for(std::string_view name) {
  std::string alias;
  for (const char c : name) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (keep) {
      alias += c;
    } else if (c >= 'A' && c <= 'Z') {
      alias += static_cast<char>(c - 'A' + 'a');
    } else if (!alias.empty() && alias.back() != '-' && alias.back() != '_') {
      alias += c == '_' ? '_' : '-';
    }
  }
  if (alias.empty() || alias[0] < 'a') alias.insert(0, alias.empty() ? "server" : "server-");
  alias.resize(std::min(alias.size(), longest_alias));
  while (alias.back() == '-' || alias.back() == '_') alias.pop_back();
  return alias;
}

}  // namespace switchgear::config
