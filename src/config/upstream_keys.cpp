#include "config/upstream_keys.hpp"

#include "config/breaker_keys.hpp"
#include "config/concurrency_keys.hpp"
#include "config/http_values.hpp"
#include "config/kinds.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t MiB = std::size_t{1024} * 1024;

/// A mapping of variable names to values for a child process; shown with the values masked.
kind<std::map<std::string, std::string>> some_variables() {
  using variables = std::map<std::string, std::string>;
  kind<variables> made{"mapping of texts", "", {}, {}};
  made.read = [](const field& from) -> std::optional<variables> {
    const auto members = from.members();
    if (!members) return std::nullopt;
    variables all;
    bool good = true;
    for (const field::member& member : *members) {
      const bool named = !member.name.empty() && member.name.find('=') == std::string::npos;
      if (!named) member.fail("is not the name of an environment variable");
      const auto value = member.value.text();
      good = good && named && value;
      if (good) all.emplace(member.name, *value);
    }
    if (!good) return std::nullopt;
    return all;
  };
  made.write = [](const variables& all) {
    if (all.empty()) return std::string();
    std::string text = "{";
    for (const auto& [name, value] : all) text += (text.size() > 1 ? ", " : "") + quote(name) + ": " + quote(masked);
    return text + '}';
  };
  return made;
}

/// The program and its arguments make one list, whether they are written as one key or, as desktop clients do, as two.
key<upstream> command_key(kind<std::vector<std::string>> of, std::string meaning) {
  key<upstream> made{"command", of.name, of.range, std::move(meaning), {}, {}};
  made.read = [read = of.read](const field& from) -> change<upstream> {
    auto words = read(from);
    if (words && words->empty())
      from.fail("is empty; write the program and its arguments, as in [npx, -y, some-server]");
    if (!words || words->empty()) return {};
    return [words = *std::move(words)](upstream& to) {
      to.link.is_stdio = true;
      to.link.stdio.command.insert(to.link.stdio.command.begin(), words.begin(), words.end());
    };
  };
  made.show = [write = of.write](const upstream& from) -> std::optional<shown> {
    if (!from.link.is_stdio) return std::nullopt;
    return shown{"command", write(from.link.stdio.command), {}};
  };
  return made;
}

key<upstream> args_key(std::string meaning) {
  const auto of = some_arguments();
  key<upstream> made{"args", of.name, of.range, std::move(meaning), {}, {}};
  made.read = [read = of.read](const field& from) -> change<upstream> {
    auto words = read(from);
    if (!words) return {};
    return [words = *std::move(words)](upstream& to) {
      auto& all = to.link.stdio.command;
      all.insert(all.end(), words.begin(), words.end());
    };
  };
  made.show = [](const upstream&) { return std::nullopt; };  // shown as a part of the command
  return made;
}

/// Leaves a key out of the effective values of a child process, for which it would be an error.
key<upstream> http_only(key<upstream> of) {
  of.show = [show = of.show](const upstream& from) { return from.link.is_stdio ? std::nullopt : show(from); };
  return of;
}

/// Leaves a key out of the effective values of a server that is reached by URL.
key<upstream> stdio_only(key<upstream> of) {
  of.show = [show = of.show](const upstream& from) { return from.link.is_stdio ? show(from) : std::nullopt; };
  return of;
}

const auto memory_of = [](auto& to) -> auto& { return to.link.stdio.memory_limit; };
const auto files_of = [](auto& to) -> auto& { return to.link.stdio.open_files; };
const auto url_of = [](auto& to) -> auto& { return to.link.http.url; };
const auto forward_of = [](auto& to) -> auto& { return to.link.http.forward; };
const auto headers_of = [](auto& to) -> auto& { return to.link.http.headers; };
const auto environment_of = [](auto& to) -> auto& { return to.link.stdio.environment; };
const auto directory_of = [](auto& to) -> auto& { return to.link.stdio.directory; };
const auto itself = [](auto& to) -> auto& { return to; };

}  // namespace

const keys<upstream>& tls_keys() {
  static const keys<upstream> table{
      value_key<upstream>(
          "ca", a_text(), [](auto& to) -> auto& { return to.link.http.ca_file; },
          "PEM file of the certificate authorities to trust instead of the system's."),
  };
  return table;
}

const keys<upstream>& upstream_keys() {
  static const keys<upstream> table{
      value_key<upstream>("url", a_url(), url_of,
                          "Where the server's Streamable HTTP endpoint is. Either this or `command`."),
      value_key<upstream>(
          "headers", some_headers(), headers_of,
          "Sent with every request, for example `{Authorization: \"Bearer ${TOKEN}\"}`. Only with `url`."),
      http_only(value_key<upstream>(
          "forward", some_forwarded(), forward_of,
          "Headers of the caller that go to this server as they came with each request, as in `[authorization]`, in "
          "the place of configured ones. Each principal then has a session of its own with the server. Only with "
          "`url`.")),
      http_only(value_key<upstream>(
          "sse", a_flag(), [](auto& to) -> auto& { return to.link.http.sse; },
          "The server speaks HTTP with SSE (2024-11-05), and nothing else is tried. Without it that is tried when "
          "Streamable HTTP is refused. Only with `url`.")),
      section_key<upstream>("tls", tls_keys(), itself, "How an https server is verified. Only with `url`."),
      command_key(some_arguments(), "The program to start as a stdio server, and its arguments. Either this or `url`."),
      args_key("More arguments, put after those of `command`."),
      value_key<upstream>("env", some_variables(), environment_of,
                          "Environment variables of the child, added to the gateway's own. Only with `command`."),
      value_key<upstream>("directory", a_text(), directory_of,
                          "Working directory of the child; the gateway's own when not set. Only with `command`."),
      value_key<upstream>(
          "era",
          one_of<std::optional<protocol::era>>(
              {{"auto", std::nullopt}, {"legacy", protocol::era::legacy}, {"modern", protocol::era::modern}}),
          [](auto& to) -> auto& { return to.link.era; },
          "What the server speaks: `legacy` up to 2025-11-25, `modern` from 2026-07-28. `auto`: it is "
          "asked, and one of both eras is spoken to in the modern way."),
      stdio_only(
          value_key<upstream>("memory", a_size(MiB, 1024 * 1024 * MiB, zero::off), memory_of,
                              "Most private memory of each of the child's processes; `0`: any. Only with `command`.")),
      stdio_only(
          value_key<upstream>("open_files", a_count(0, 1'000'000), files_of,
                              "Most descriptors of each of the child's processes; `0`: any. Only with `command`.")),
      stdio_only(value_key<upstream>(
          "probe_timeout", a_duration(10ms, 60s), [](auto& to) -> auto& { return to.link.stdio.probe_timeout; },
          "How long a child may think about being asked for its era; a silent one is then greeted in the legacy way. "
          "Only "
          "with `command`.")),
      value_key<upstream>(
          "connect_timeout", a_duration(10ms, 60s), [](auto& to) -> auto& { return to.link.connect_timeout; },
          "How long name look-up, TCP and TLS may take together."),
      value_key<upstream>(
          "handshake_timeout", a_duration(100ms, 10min), [](auto& to) -> auto& { return to.link.handshake_timeout; },
          "How long `initialize` and each page of `tools/list` may take."),
      value_key<upstream>(
          "refresh", a_duration(1s, 24h), [](auto& to) -> auto& { return to.link.refresh; },
          "How often the server is asked for its tools again."),
      http_only(value_key<upstream>(
          "connections", a_count(1, 65'535), [](auto& to) -> auto& { return to.link.max_connections; },
          "Most connections to the server, for each thread of the gateway. Only with `url`.")),
      http_only(value_key<upstream>(
          "keep_alive", a_duration(10ms, 1h), [](auto& to) -> auto& { return to.link.keep_alive; },
          "How long an unused connection is kept: less than the server keeps it, or now and then a call goes into one "
          "that is "
          "being closed, and of a tool that writes nobody knows whether it arrived. Only with `url`.")),
      value_key<upstream>(
          "own_sessions", a_count(0, 100'000), [](auto& to) -> auto& { return to.link.own_sessions; },
          "Most clients with a session (or child) of their own: those that declare sampling, elicitation or roots, "
          "which a legacy server must know of from the start. Further ones share the common session, in which the "
          "server can ask nothing. `0`: all share. With `forward`: most principals with a session; further ones are "
          "refused."),
      value_key<upstream>(
          "retry_budget", a_share(0, 1), [](auto& to) -> auto& { return to.retry_budget; },
          "Most retries for each call to the server, over all its tools and the whole fleet; ten more may be saved up. "
          "`0%`: none."),
      concurrency_key<upstream>([](auto& to) -> auto& { return to.concurrency; },
                                "How many requests to the server may be under way at once, over all its tools, prompts "
                                "and resources. A number, `adaptive`, or a mapping."),
      section_key<upstream>(
          "breaker", breaker_keys(), [](auto& to) -> auto& { return to.breaker; },
          "The breaker over the server as a whole; what is not set here is taken from the top-level `breaker`."),
  };
  return table;
}

const keys<upstream>& mcp_json_keys() {
  static const keys<upstream> table = [] {
    keys<upstream> made{
        command_key(one_word(), "The program to start."),
        args_key("Its arguments."),
        value_key<upstream>("env", some_variables(), environment_of, "Environment variables of the child."),
        value_key<upstream>("cwd", a_text(), directory_of, "Working directory of the child."),
        value_key<upstream>("headers", some_headers(), headers_of, "Sent with every request."),
    };
    for (const char* name : {"url", "serverUrl", "httpUrl"}) {
      made.push_back(value_key<upstream>(name, a_url(), url_of, "Where the server's Streamable HTTP endpoint is."));
    }
    return made;
  }();
  return table;
}

void check_upstream(const field& at, const upstream& made) {
  if (at.at().find("concurrency") != nullptr) check_concurrency(at.nearest("concurrency"), made.concurrency);
  const bool has_url = !made.link.http.url.empty();
  if (has_url && made.link.is_stdio) {
    at.nearest("command").fail("stands beside a URL; a server is reached by `url` or started by `command`, not both");
    return;
  }
  if (!has_url && !made.link.is_stdio) {
    // A wrong `url` or `command` has been reported at its own place.
    const bool tried = std::any_of(at.at().members.begin(), at.at().members.end(), [](const node::member& each) {
      return each.name == "command" || each.name == "url" || each.name == "serverUrl" || each.name == "httpUrl";
    });
    if (!tried) at.fail("has neither `url` nor `command`; one of them is needed");
    return;
  }
  constexpr std::string_view only_http[] = {"headers", "forward", "sse", "tls", "connections", "keep_alive"};
  constexpr std::string_view only_stdio[] = {"args",   "env",        "directory",    "cwd",
                                             "memory", "open_files", "probe_timeout"};
  if (made.link.is_stdio) {
    for (const std::string_view name : only_http) {
      if (at.at().find(name) != nullptr)
        at.nearest(name).fail("means nothing for a server that is started by `command`");
    }
  } else {
    for (const std::string_view name : only_stdio) {
      if (at.at().find(name) != nullptr) at.nearest(name).fail("means nothing for a server that is reached by `url`");
    }
    if (!made.link.http.forward.empty() && made.link.own_sessions == 0 && made.link.era != protocol::era::modern) {
      at.nearest("own_sessions").fail("is 0, and `forward` needs a session for each principal; write how many");
    }
    if (!made.link.http.ca_file.empty() && made.link.http.url.starts_with("http:")) {
      at.nearest("tls").warn("means nothing for an http: URL");
    }
  }
}

std::string alias_fault(std::string_view alias) {
  constexpr std::size_t longest = 32;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool good = !alias.empty() && alias.size() <= longest && is_letter(alias[0]) &&
                    std::all_of(alias.begin(), alias.end(),
                                [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
  if (!good) return "is not an alias; write a letter a-z, then up to 31 of a-z, 0-9, _ and -";
  if (alias.find("__") != alias.npos || alias.back() == '_') {
    return "is not an alias; `__` is what separates an alias from a tool's name";
  }
  return {};
}

}  // namespace switchgear::config
