#include "config/gateway_keys.hpp"

#include "config/breaker_keys.hpp"
#include "config/http_values.hpp"
#include "config/kinds.hpp"
#include "config/state_url.hpp"
#include "config/tool_keys.hpp"
#include "config/upstream_keys.hpp"

#include <algorithm>
#include <cctype>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;

const auto itself = [](auto& to) -> auto& { return to; };

/// An address and a port are one value in the file and two members in the settings.
template <class Member>
key<gateway> endpoint_key(std::string name, Member member, std::string meaning) {
  const auto of = an_endpoint();
  key<gateway> made{std::move(name), of.name, of.range, std::move(meaning), {}, {}};
  made.read = [read = of.read, member](const field& from) -> change<gateway> {
    auto value = read(from);
    if (!value) return {};
    return [member, value = *std::move(value)](gateway& to) {
      member(to).address = value.address;
      member(to).port = value.port;
    };
  };
  made.show = [called = made.name, write = of.write, member](const gateway& from) -> std::optional<shown> {
    return shown{called, write(endpoint{member(from).address, member(from).port}), {}};
  };
  return made;
}

kind<std::string> a_state() {
  kind<std::string> made{"word or URL", "", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    auto text = from.text();
    if (!text) return std::nullopt;
    if (const std::string fault = state_fault(*text); !fault.empty()) {
      from.fail(fault);
      return std::nullopt;
    }
    return text;
  };
  made.write = [](const std::string& text) { return quote(shown_state(text)); };
  return made;
}

/// A text that is masked when it is shown.
kind<std::string> a_secret() {
  kind<std::string> made = a_text();
  made.write = [](const std::string& text) { return text.empty() ? std::string() : quote(masked); };
  return made;
}

/// A text that is left out of the effective values while it is empty.
kind<std::string> maybe_text() {
  kind<std::string> made = a_text();
  made.write = [write = made.write](const std::string& text) { return text.empty() ? std::string() : write(text); };
  return made;
}

/// Every key of the store begins with it, and a brace in it would decide where a cluster keeps them.
kind<std::string> a_prefix() {
  kind<std::string> made{"text", "letters, digits, `.`, `_`, `-` and `:`", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    auto text = from.text();
    if (!text) return std::nullopt;
    const bool good = !text->empty() && text->size() <= 64 && std::ranges::all_of(*text, [](unsigned char each) {
      return std::isalnum(each) != 0 || each == '.' || each == '_' || each == '-' || each == ':';
    });
    if (good) return text;
    from.fail("must be 1 to 64 letters, digits, `.`, `_`, `-` or `:`");
    return std::nullopt;
  };
  made.write = [](const std::string& text) { return quote(text); };
  return made;
}

change<gateway> read_upstreams(const field& from) {
  const auto members = from.members();
  if (!members) return {};
  struct draft {
    std::string alias;
    field at;
    std::vector<change<upstream>> changes;
  };
  std::vector<draft> drafts;
  for (const field::member& member : *members) {
    if (const std::string fault = alias_fault(member.name); !fault.empty()) member.fail(fault);
    drafts.push_back({member.name, member.value, read_section(member.value, upstream_keys())});
  }
  return [drafts = std::move(drafts)](gateway& to) {
    for (const draft& each : drafts) {
      upstream made = to.new_upstream(each.alias);
      for (const auto& apply : each.changes) apply(made);
      check_upstream(each.at, made);
      // What is wrong at the top level already is reported there alone.
      if (each.at.at().find("breaker") != nullptr && !breaker::check(to.breaker)) {
        check_breaker(each.at.nearest("breaker"), made.breaker);
      }
      to.upstreams.push_back(std::move(made));
    }
  };
}

key<gateway> upstreams_key() {
  key<gateway> made{
      "upstreams",
      "mapping",
      "",
      "The tool servers, by alias. An alias is a letter a-z, then up to 31 of a-z, 0-9, `_` and `-`, without "
      "`__`; it becomes the first part of each tool's exported name.",
      {},
      {}};
  made.read = read_upstreams;
  made.show = [](const gateway& from) -> std::optional<shown> {
    if (from.upstreams.empty()) return std::nullopt;
    shown all{"upstreams", {}, {}};
    for (const upstream& each : from.upstreams) {
      all.members.push_back({each.link.alias, {}, show_section(each, upstream_keys())});
    }
    return all;
  };
  return made;
}

void check_sessions(const field& root, const gateway& made) {
  constexpr std::size_t shortest_key = 16;
  const std::size_t size = made.listen.session_key.size();
  if (size == 0 || size >= shortest_key) return;
  root.nearest("sessions")
      .nearest("key")
      .fail("is a secret of " + std::to_string(size) + " characters, which could be guessed; write at least 16");
}

// Settings that could not have any effect are a misunderstanding.
void check_redis(const field& root, const gateway& made) {
  if (root.at().find("redis") == nullptr) return;
  const field redis = root.nearest("redis");
  const auto shared = made.shared_state();
  if (!shared) {
    redis.warn("is not used while `state` is memory");
    return;
  }
  const bool tls_files = !shared->ca.empty() || !shared->cert.empty() || !shared->key.empty();
  if (tls_files && !shared->tls) redis.fail("names files for TLS; write rediss:// in `state`, or leave them out");
  if (!shared->key.empty() && shared->cert.empty()) redis.nearest("key").fail("needs `cert` beside it");
  if (!shared->password.empty() && !shared->password_file.empty()) {
    redis.nearest("password_file").fail("stands beside a password; write one of them");
  }
}

}  // namespace

const keys<gateway>& limit_keys() {
  static const keys<gateway> table{
      value_key<gateway>(
          "max_request", a_size(KiB, 64 * MiB), [](auto& to) -> auto& { return to.listen.max_request; },
          "Largest body of a client's request; a larger one gets HTTP 413."),
      value_key<gateway>(
          "max_answer", a_size(KiB, 1024 * MiB), [](auto& to) -> auto& { return to.max_answer; },
          "Largest message of a tool server; a larger one fails its call."),
  };
  return table;
}

const keys<gateway>& session_keys() {
  static const keys<gateway> table{
      value_key<gateway>(
          "idle", a_duration(1s, 24h), [](auto& to) -> auto& { return to.listen.session_idle; },
          "A client's session that is unused for this long is forgotten."),
      value_key<gateway>(
          "most", a_count(1, 10'000'000), [](auto& to) -> auto& { return to.listen.max_sessions; },
          "Most sessions at once; a client that would be one more is refused."),
      value_key<gateway>(
          "key", a_secret(), [](auto& to) -> auto& { return to.listen.session_key; },
          "The secret that session ids are sealed with, at least 16 characters; best as `${NAME}`. With it sessions "
          "outlive a restart, and every gateway with the same one serves them. Not set: gateways with one Redis agree "
          "on one there, and a gateway alone makes one up at its start."),
  };
  return table;
}

const keys<gateway>& cache_keys() {
  static const keys<gateway> table{
      value_key<gateway>(
          "memory", a_size(MiB, 64 * 1024 * MiB, zero::off), [](auto& to) -> auto& { return to.cache.memory; },
          "Most memory for last good answers; the least used go first. `0`: none is kept."),
      value_key<gateway>(
          "entry", a_size(KiB, 64 * MiB), [](auto& to) -> auto& { return to.cache.entry; },
          "Largest answer that is kept. Other replicas are told of those up to 1MiB."),
      value_key<gateway>(
          "shared_memory", a_size(32 * MiB, 1024 * 1024 * MiB, zero::off),
          [](auto& to) -> auto& { return to.cache.shared_memory; },
          "With a Redis in `state`: most memory there for answers that replicas keep for each other. Those that expire "
          "first go first. `0`: each replica has its own alone."),
  };
  return table;
}

const keys<port::redis_settings>& redis_keys() {
  static const keys<port::redis_settings> table{
      value_key<port::redis_settings>(
          "user", maybe_text(), [](auto& to) -> auto& { return to.user; }, "The ACL user, unless the URL names one."),
      value_key<port::redis_settings>(
          "password", a_secret(), [](auto& to) -> auto& { return to.password; },
          "Its password, unless the URL has one; best as `${NAME}`."),
      value_key<port::redis_settings>(
          "password_file", maybe_text(), [](auto& to) -> auto& { return to.password_file; },
          "A file with the password. It is read at each connection, so a password can be exchanged without a restart."),
      value_key<port::redis_settings>(
          "ca", maybe_text(), [](auto& to) -> auto& { return to.ca; },
          "With TLS: a file of trusted certificates. Without it the system's are trusted."),
      value_key<port::redis_settings>(
          "cert", maybe_text(), [](auto& to) -> auto& { return to.cert; },
          "With TLS: a file with the gateway's own certificate."),
      value_key<port::redis_settings>(
          "key", maybe_text(), [](auto& to) -> auto& { return to.key; },
          "With TLS: the file of that certificate's key."),
      value_key<port::redis_settings>(
          "timeout", a_duration(5ms, 500ms), [](auto& to) -> auto& { return to.timeout; },
          "Redis must answer an exchange within this. After three that it misses, this replica goes on alone until "
          "Redis is back. No call waits for it."),
      value_key<port::redis_settings>(
          "flush", a_duration(20ms, 1s), [](auto& to) -> auto& { return to.flush; },
          "How often this replica tells what it has counted; failures are told at once. Longer: less work for Redis, "
          "and "
          "p99 and error rate are judged that much later."),
      value_key<port::redis_settings>(
          "prefix", a_prefix(), [](auto& to) -> auto& { return to.prefix; },
          "Begins every key. Gateways with the same prefix in one Redis share their breakers."),
      value_key<port::redis_settings>(
          "settings_version", a_count(0, 1'000'000'000), [](auto& to) -> auto& { return to.settings_version; },
          "Raise it with the thresholds of `breaker`: while replicas with different files run side by side, those of "
          "the highest version hold for all. Among equals, those that were told last."),
  };
  return table;
}

const keys<gateway>& gateway_keys() {
  using route::naming;
  static const keys<gateway> table{
      endpoint_key(
          "listen", [](auto& to) -> auto& { return to.listen; },
          "Where MCP clients connect; the path is `/mcp`. Port `0`: any free one. A host other than a loopback "
          "address opens the gateway to the network, which checks no credentials by itself."),
      endpoint_key(
          "admin", [](auto& to) -> auto& { return to.admin; },
          "Where the console, `/metrics`, `/healthz`, `/readyz` and `/api` are. Port `0`: any free one."),
      value_key<gateway>(
          "state", a_state(), [](auto& to) -> auto& { return to.state; },
          "Where breakers are kept. `memory`: in this process. A URL: in a Redis 7 that replicas share, as in "
          "`redis://host:6379/0`, `rediss://host` (TLS), `redis+sentinel://host,host/name` or "
          "`redis+cluster://host,host`."),
      section_key<gateway>(
          "redis", redis_keys(), [](auto& to) -> auto& { return to.redis; }, "What the URL in `state` does not say."),
      value_key<gateway>(
          "names", one_of<naming>({{"prefix", naming::prefix}, {"plain", naming::plain}}),
          [](auto& to) -> auto& { return to.names; },
          "How tools are named for clients: `prefix` is `alias__tool`; `plain` is the tool's own name, for a "
          "gateway with one upstream."),
      value_key<gateway>(
          "threads", a_count(0, most_threads), [](auto& to) -> auto& { return to.threads; },
          "Threads that serve calls. `0`: as many as the machine has cores."),
      value_key<gateway>(
          "log",
          one_of<std::string>(
              {{"debug", "debug"}, {"info", "info"}, {"warn", "warn"}, {"error", "error"}, {"off", "off"}}),
          [](auto& to) -> auto& { return to.log; }, "The least important lines that are logged."),
      section_key<gateway>("limits", limit_keys(), itself, "Largest messages."),
      value_key<gateway>(
          "allowed_hosts", some_texts(), [](auto& to) -> auto& { return to.listen.allowed_hosts; },
          "Values of `Host` that are accepted besides the loopback names, without port; `\"*\"` accepts all. "
          "Others are refused, so that no web page can reach the gateway under a name of its own."),
      value_key<gateway>(
          "allowed_origins", some_texts(), [](auto& to) -> auto& { return to.listen.allowed_origins; },
          "Values of `Origin` that are accepted besides loopback origins, as in `https://app.example`; `\"*\"` "
          "accepts all."),
      value_key<gateway>(
          "principal", a_naming_header(), [](auto& to) -> auto& { return to.listen.principal; },
          "The request header in which a trusted proxy in front of the gateway says who calls; whoever can reach the "
          "gateway past that proxy can be anybody. Sessions, stored answers and upstream sessions belong to a "
          "principal. A request without it is told apart by the headers that some upstream has forwarded, or is "
          "anonymous."),
      section_key<gateway>("sessions", session_keys(), itself, "Sessions of clients."),
      value_key<gateway>(
          "drain", a_duration(0s, 10min), [](auto& to) -> auto& { return to.listen.drain; },
          "After SIGTERM: how long calls may still finish. `0`: they are cut off."),
      section_key<gateway>("cache", cache_keys(), itself, "The store of last good answers, which `cache` steps read."),
      section_key<gateway>(
          "breaker", breaker_keys(), [](auto& to) -> auto& { return to.breaker; },
          "What every breaker, of a tool or of a server, starts from."),
      upstreams_key(),
      tools_key(),
  };
  return table;
}

void check_cache(const field& root, const gateway& made) {
  const field cache = root.nearest("cache");
  if (made.cache.memory != 0 && made.cache.entry > made.cache.memory) {
    cache.nearest("entry").fail("is larger than `cache.memory`; write a smaller one");
  }
  const node* written = root.at().find("cache");
  if (written != nullptr && written->find("shared_memory") != nullptr && !made.shared_state()) {
    cache.nearest("shared_memory").warn("is not used while `state` is memory");
  }
}

void check_gateway(const field& root, const gateway& made) {
  check_redis(root, made);
  check_sessions(root, made);
  if (root.at().find("breaker") != nullptr) check_breaker(root.nearest("breaker"), made.breaker);
  if (made.names == route::naming::plain && made.upstreams.size() > 1) {
    root.nearest("names").fail("plain needs exactly one upstream, and there are " +
                               std::to_string(made.upstreams.size()) + "; write prefix");
  }
  if (made.listen.port != 0 && made.listen.port == made.admin.port && made.listen.address == made.admin.address) {
    root.nearest("admin").fail("is the same address as `listen`; choose another port");
  }
  check_cache(root, made);
  if (made.upstreams.empty()) root.nearest("upstreams").warn("no upstreams, so the gateway has no tools");
  if (root.at().find("tools") != nullptr) check_tools(root.nearest("tools"), made);
}

}  // namespace switchgear::config
