#include "protocol/errors.hpp"

#include "protocol/errc.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"
#include "protocol/version.hpp"

namespace switchgear::protocol {

namespace {

// The id of a message that is refused for something else. Two ids, or one of a wrong kind, are as good as none.
std::string_view readable_id(std::string_view text) {
  token_index index;
  scanner in(text, index);
  std::string space;
  std::string_view id;
  unsigned seen = 0;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view raw, key, value;
    if (!in.key(raw) || !text_of(raw, space, key)) return no_id;
    const bool is_id = key == "id";
    if (!in.skip(value)) return no_id;
    if (!is_id) continue;
    id = value;
    ++seen;
  }
  return in.finish() && seen == 1 && is_id_token(id) ? id : no_id;
}

}  // namespace

std::string write_error(std::string_view id, std::int64_t code, std::string_view message, std::string_view data) {
  std::string out;
  out.reserve(96 + id.size() + message.size() + data.size());
  out.append(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"error":{"code":)");
  out.append(std::to_string(code)).append(R"(,"message":)");
  append_quoted(out, message);
  if (!data.empty()) out.append(R"(,"data":)").append(data);
  out.append("}}");
  return out;
}

std::int64_t refusal_code(error_code why) {
  if (why == errc::not_json || why == errc::too_deep) return code::parse_error;
  if (why == errc::too_large) return code::too_large;
  if (why == errc::bad_params) return code::invalid_params;
  return code::invalid_request;
}

std::string write_refusal(std::string_view text, error_code why) {
  const std::int64_t number = refusal_code(why);
  const std::string_view id = number == code::parse_error ? no_id : readable_id(text);
  return write_error(id, number, why.message());
}

std::string write_unsupported_version(std::string_view id, std::string_view requested) {
  std::string data = R"({"supported":[)";
  for (std::string_view version : served_versions) {
    append_quoted(data, version);
    data += ',';
  }
  data.back() = ']';
  data += R"(,"requested":)";
  append_quoted(data, requested);
  data += '}';
  return write_error(id, code::unsupported_version, "Unsupported protocol version", data);
}

}  // namespace switchgear::protocol
