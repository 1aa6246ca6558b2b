#include "protocol/rewrite.hpp"

#include "base/version.hpp"
#include "protocol/edits.hpp"
#include "protocol/errors.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace switchgear::protocol {

namespace {

constexpr std::string_view reserved = "io.modelcontextprotocol/";
constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";

bool speaks_of_the_client(std::string_view key) {
  if (!key.starts_with(reserved)) return false;
  key.remove_prefix(reserved.size());
  return key == "protocolVersion" || key == "clientInfo" || key == "clientCapabilities" || key == "logLevel";
}

// The members of a client's `_meta` that are no business of the era's, each with a comma behind it.
std::string other_members(std::string_view meta, std::string_view progress_token) {
  std::string out;
  if (meta.empty()) return out;
  token_index index;
  scanner in(meta, index);
  std::string space;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view raw, key, value;
    if (!in.key(raw) || !text_of(raw, space, key)) break;
    const bool is_token = key == "progressToken";
    const bool left_out = speaks_of_the_client(key);
    if (!in.skip(value)) break;
    if (left_out) continue;
    out.append(raw).append(":");
    out.append(is_token && !progress_token.empty() ? progress_token : value).append(",");
  }
  return out;
}

std::string modern_meta(const request_rewriting& with, std::string members) {
  std::string meta = "{" + std::move(members);
  meta.append(R"("io.modelcontextprotocol/protocolVersion":)").append(quoted(modern_version));
  meta.append(R"(,"io.modelcontextprotocol/clientInfo":{"name":"switchgear","version":)").append(quoted(version));
  meta.append(R"(},"io.modelcontextprotocol/clientCapabilities":)").append(write_abilities(with.abilities));
  if (!with.log_level.empty()) meta.append(R"(,"io.modelcontextprotocol/logLevel":)").append(with.log_level);
  return meta + "}";
}

std::string legacy_meta(std::string members) {
  if (!members.empty()) members.pop_back();
  return "{" + std::move(members) + "}";
}

/// Leaves out a member of an object, with the comma that goes with it.
edit without(std::string_view text, std::size_t key, std::size_t end) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t after = text.find_first_not_of(blanks, end);
  if (after != std::string_view::npos && text[after] == ',') return {key, after + 1, {}};
  const std::size_t before = text.find_last_not_of(blanks, key - 1);
  return {before != std::string_view::npos && text[before] == ',' ? before : key, end, {}};
}

/// What to leave out so that the result does not say who served it: the member of `_meta`, or all of `_meta` if it has
/// no other. Found backwards from its value, since what stands before it may be a large result.
std::optional<edit> served_by(std::string_view text, const message& seen) {
  if (!seen.result_meta) return std::nullopt;
  const std::string_view meta = seen.result_meta.in(text);
  token_index index;
  scanner in(meta, index);
  std::string space;
  std::optional<edit> info;
  unsigned members = 0;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    const std::size_t begin = in.position();
    std::string_view raw, key;
    if (!in.key(raw) || !text_of(raw, space, key)) return std::nullopt;
    const bool found = key == server_info;
    if (!in.skip()) return std::nullopt;
    ++members;
    if (found) info = without(text, seen.result_meta.offset + begin, seen.result_meta.offset + in.last_end());
  }
  constexpr std::string_view name = R"("_meta")";
  const std::size_t name_at = text.rfind(name, seen.result_meta.offset);
  if (!info || members != 1 || name_at == std::string_view::npos) return info;
  return without(text, name_at, std::size_t{seen.result_meta.offset} + seen.result_meta.size);
}

}  // namespace

void rewrite_request(std::string_view text, const message& seen, era from, const request_rewriting& with,
                     rewritten& out) {
  // Everything new is written first: pieces of a string that still grows would dangle.
  std::string& fresh = out.fresh;
  fresh.clear();
  std::pair<std::size_t, std::size_t> target, meta, added;
  const auto note = [&](std::string_view piece, std::pair<std::size_t, std::size_t>& where) {
    where = {fresh.size(), piece.size()};
    fresh.append(piece);
  };
  if (!with.target.empty()) note(quoted(with.target), target);
  const bool modern_both = from == era::modern && with.to == era::modern;
  const bool other_era = from == era::modern || with.to == era::modern;
  const bool new_meta = other_era && !modern_both;
  if (new_meta) {
    std::string members = other_members(seen.meta.in(text), with.progress_token);
    note(with.to == era::modern ? modern_meta(with, std::move(members)) : legacy_meta(std::move(members)), meta);
  }
  std::string inserted;
  if (new_meta && !seen.meta) inserted.append(R"("_meta":)").append(fresh, meta.first, meta.second).append(",");
  if (!with.input_responses.empty()) inserted.append(R"("inputResponses":)").append(with.input_responses).append(",");
  if (!with.request_state.empty() && !seen.request_state) {
    inserted.append(R"("requestState":)").append(with.request_state).append(",");
  }
  const std::string_view params = seen.params.in(text);
  const bool empty_params = params.find_first_not_of(" \t\r\n", 1) + 1 == params.size();
  if (!inserted.empty() && (!seen.params || empty_params)) inserted.pop_back();
  if (!inserted.empty() && !seen.params) inserted = R"("params":{)" + inserted + "},";
  note(inserted, added);

  const auto piece = [&](const std::pair<std::size_t, std::size_t>& where) {
    return std::string_view(fresh).substr(where.first, where.second);
  };
  edits made;
  made.replace(seen.id, with.id);
  made.replace(seen.name ? seen.name : seen.uri, piece(target));
  made.replace(seen.request_state, with.request_state);
  if (new_meta) {
    made.replace(seen.meta, piece(meta));
  } else {
    made.replace(seen.progress_token, with.progress_token);
  }
  if (!inserted.empty()) {
    const std::size_t at = (seen.params ? std::size_t{seen.params.offset} : text.find('{')) + 1;
    made.add({at, at, piece(added)});
  }
  made.apply(text, out.pieces);
}

void rewrite_response(std::string_view text, const message& seen, const response_rewriting& with, std::string& fresh,
                      parts& out) {
  constexpr std::int64_t legacy_not_found = -32002;
  static const std::string modern_not_found = std::to_string(code::invalid_params);
  edits made;
  made.replace(seen.id, with.id);
  made.replace(seen.request_state, with.request_state);
  if (with.from == era::legacy && with.to == era::modern) {
    const bool reads = with.method == "resources/read";
    if (seen.error && seen.error_code == legacy_not_found && reads)
      made.replace(seen.error_code_token, modern_not_found);
    const std::string_view result = seen.result.in(text);
    if (result.starts_with('{') && !seen.result_type) {
      fresh = complete_member;
      if (reads && !seen.ttl && !seen.cache_scope) fresh += uncacheable_members;
      if (result.find_first_not_of(" \t\r\n", 1) + 1 == result.size()) fresh.pop_back();
      const std::size_t at = std::size_t{seen.result.offset} + 1;
      made.add({at, at, fresh});
    }
  }
  if (with.from == era::modern && with.to == era::legacy) {
    if (const auto left_out = served_by(text, seen)) made.add(*left_out);
  }
  made.apply(text, out);
}

}  // namespace switchgear::protocol
