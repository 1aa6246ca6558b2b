#include "protocol/message.hpp"

#include "protocol/edits.hpp"
#include "protocol/errc.hpp"
#include "protocol/scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace switchgear::protocol {

namespace {

constexpr std::string_view timeout_key = "dev.switchgear/timeout_ms";
constexpr std::string_view reserved = "io.modelcontextprotocol/";

// The index of a larger text is given back, so that one huge answer does not cost its thread memory for ever.
constexpr std::size_t kept_index = std::size_t{2} * 1024 * 1024;

token_index& index_of_this_thread() {
  thread_local token_index index;
  return index;
}

class reader {
 public:
  reader(std::string_view text, token_index& index, scratch& space) : text_(text), in_(text, index), space_(space) {}

  // Values are judged once the whole text is known to be JSON, so that a broken text is always reported as one.
  result<message> read() {
    const char first = in_.next();
    const bool sound = first == '{' ? members(object::message) : in_.skip();
    if (!sound || !in_.finish()) return in_.ok() ? errc::not_json : in_.why();
    if (first != '{') return first == '[' ? errc::batch : errc::not_object;
    if (twice_) return errc::duplicate_member;
    if (errc why = judge(); why != errc{}) return why;
    return seen_;
  }

 private:
  // The objects that are looked into.
  enum class object : unsigned char { none, message, params, ref, meta, result, error };

  // Where a member goes, and what it is if it is an object.
  struct slot {
    span* place = nullptr;
    object inside = object::none;
  };

  slot slot_of(object where, std::string_view key) {
    switch (where) {
      case object::message:
        if (key == "jsonrpc") return {&version_};
        if (key == "id") return {&seen_.id};
        if (key == "method") return {&method_};
        if (key == "params") return {&seen_.params, object::params};
        if (key == "result") return {&seen_.result, object::result};
        if (key == "error") return {&seen_.error, object::error};
        break;
      case object::params:
        if (key == "name") return {&name_};
        if (key == "arguments") return {&seen_.arguments};
        if (key == "_meta") return {&seen_.meta, object::meta};
        if (key == "progressToken") return {&params_token_};
        if (key == "cursor") return {&seen_.cursor};
        if (key == "requestId") return {&seen_.cancelled_id};
        if (key == "protocolVersion") return {&wanted_version_};
        if (key == "uri") return {&uri_};
        if (key == "ref") return {&ref_, object::ref};
        if (key == "capabilities") return {&seen_.capabilities};
        if (key == "level") return {&seen_.level};
        if (key == "notifications") return {&seen_.notifications};
        if (key == "requestState") return {&seen_.request_state};
        if (key == "inputResponses") return {&seen_.input_responses};
        break;
      case object::ref:
        if (key == "name") return {&ref_name_};
        if (key == "uri") return {&ref_uri_};
        break;
      case object::meta:
        if (key == "progressToken") return {&seen_.progress_token};
        if (key == timeout_key) return {&seen_.meta_timeout};
        if (!key.starts_with(reserved)) break;
        key.remove_prefix(reserved.size());
        if (key == "protocolVersion") return {&seen_.meta_version_token};
        if (key == "clientCapabilities") return {&seen_.meta_capabilities};
        if (key == "logLevel") return {&seen_.meta_log_level};
        break;
      case object::result:
        if (key == "isError") return {&is_error_};
        if (key == "structuredContent") return {&seen_.structured_content};
        if (key == "_meta") return {&seen_.result_meta};
        if (key == "nextCursor") return {&seen_.next_cursor};
        if (key == "resultType") return {&seen_.result_type};
        if (key == "inputRequests") return {&seen_.input_requests};
        if (key == "requestState") return {&seen_.request_state};
        if (key == "ttlMs") return {&seen_.ttl};
        if (key == "cacheScope") return {&seen_.cache_scope};
        break;
      case object::error:
        if (key == "code") return {&seen_.error_code_token};
        if (key == "message") return {&error_message_};
        break;
      case object::none:
        break;
    }
    return {};
  }

  // A name that is written with escapes is the same name.
  slot slot_of_raw(object where, std::string_view raw) {
    const slot found = slot_of(where, raw.substr(1, raw.size() - 2));
    if (found.place != nullptr || raw.find('\\') == std::string_view::npos) return found;
    std::string_view key;
    if (!text_of(raw, key_space_, key)) bad_key_ = true;
    return slot_of(where, key);
  }

  bool members(object where) {
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view raw;
      if (!in_.key(raw)) return false;
      const slot to = slot_of_raw(where, raw);
      if (bad_key_) return false;
      // A second one is refused, since the peer behind us may take the other one.
      const bool again = to.place != nullptr && *to.place;
      if (again) twice_ = true;
      if (to.place == nullptr || again) {
        if (!in_.skip()) return false;
        continue;
      }
      const std::size_t begin = in_.position();
      const bool look = to.inside != object::none && in_.next() == '{';
      if (!(look ? members(to.inside) : in_.skip())) return false;
      *to.place = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(in_.last_end() - begin)};
    }
    return in_.ok();
  }

  errc judge() {
    if (!says(version_, "2.0")) return errc::bad_version;
    if (!method_ && !seen_.result && !seen_.error) return errc::no_kind;
    if ((method_ ? 1 : 0) + (seen_.result ? 1 : 0) + (seen_.error ? 1 : 0) > 1) return errc::mixed_kinds;
    return method_ ? judge_call() : judge_response();
  }

  errc judge_call() {
    if (!string_at(method_, space_.method, seen_.method) || seen_.method.empty()) return errc::bad_method;
    if (seen_.id && !is_id_token(raw(seen_.id))) return errc::bad_id;
    seen_.kind = seen_.id ? kind::request : kind::notification;

    // Some clients write absent params as null.
    if (seen_.params && raw(seen_.params) == "null") seen_.params = {};
    if (seen_.params && first(seen_.params) != '{') return errc::bad_params;
    // A completion names its prompt or template one level further down; nothing else has a `ref`.
    if (first(ref_) == '{' && seen_.method == "completion/complete") {
      name_ = ref_name_;
      uri_ = ref_uri_;
    }
    if (string_at(name_, space_.name, seen_.name_text)) seen_.name = name_;
    if (string_at(uri_, space_.uri, seen_.uri_text)) seen_.uri = uri_;
    if (first(seen_.meta) != '{') seen_.meta = seen_.meta_version_token = seen_.meta_capabilities = {};
    string_at(seen_.meta_version_token, space_.meta_version, seen_.meta_version);
    if (seen_.method == "notifications/progress") seen_.progress_token = params_token_;
    if (!is_id_token(raw(seen_.progress_token))) seen_.progress_token = {};
    if (seen_.method != "notifications/cancelled" || !is_id_token(raw(seen_.cancelled_id))) seen_.cancelled_id = {};
    if (seen_.method == "initialize") string_at(wanted_version_, space_.version, seen_.protocol_version);
    return errc{};
  }

  errc judge_response() {
    seen_.kind = kind::response;
    // Only an error may lack an id: the peer could not read ours (JSON-RPC 2.0 section 5).
    if (!seen_.id && seen_.result) return errc::missing_id;
    if (seen_.id && !is_id_token(raw(seen_.id)) && (seen_.result || raw(seen_.id) != "null")) return errc::bad_id;
    seen_.is_error = raw(is_error_) == "true";
    if (!seen_.error) return errc{};

    const std::string_view number = raw(seen_.error_code_token);
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), seen_.error_code);
    if (fault != std::errc{} || end != number.data() + number.size()) return errc::bad_error;
    string_at(error_message_, space_.error, seen_.error_message);
    return errc{};
  }

  std::string_view raw(span place) const { return place.in(text_); }
  char first(span place) const { return place ? text_[place.offset] : '\0'; }

  bool string_at(span place, std::string& space, std::string_view& text) const {
    return first(place) == '"' && text_of(raw(place), space, text);
  }
  bool says(span place, std::string_view wanted) {
    std::string_view text;
    return string_at(place, key_space_, text) && text == wanted;
  }

  std::string_view text_;
  scanner in_;
  scratch& space_;
  std::string key_space_;  // names with escapes; almost never filled, so it never allocates
  message seen_;
  span version_, method_, name_, uri_, ref_, ref_name_, ref_uri_, params_token_, wanted_version_, is_error_,
      error_message_;
  bool twice_ = false;
  bool bad_key_ = false;
};

}  // namespace

result<message> peek(std::string_view text, scratch& space) {
  token_index& index = index_of_this_thread();
  result<message> seen = reader(text, index, space).read();
  index.shrink(kept_index);
  return seen;
}

void splice(std::string_view text, const message& seen, const replacement& with, parts& out) {
  edits made;
  made.replace(seen.id, with.id);
  made.replace(seen.name, with.name);
  made.replace(seen.progress_token, with.progress_token);
  made.apply(text, out);
}

}  // namespace switchgear::protocol
