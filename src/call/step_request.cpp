#include "call/step_request.hpp"

#include <boost/json/value.hpp>

namespace switchgear::call {

error_code step_request::build(const port::incoming_call& call, const cascade::json_template& arguments,
                               std::string* missing) {
  const protocol::message& seen = *call.seen;
  const auto given = cascade::read_arguments(seen.arguments.in(call.text));
  if (!given) return given.error();
  const auto filled = arguments.fill(*given, missing);
  if (!filled) return filled.error();

  const std::string_view id = seen.id.in(call.text);
  const std::string_view name = seen.name.in(call.text);
  const std::string_view meta = seen.meta.in(call.text);
  text_.clear();
  text_.reserve(id.size() + name.size() + meta.size() + filled->size() + 128 + buffer::padding);
  text_.append(R"({"jsonrpc":"2.0","id":)").append(id);
  text_.append(R"(,"method":"tools/call","params":{"name":)").append(name);
  text_.append(R"(,"arguments":)").append(*filled);
  if (!meta.empty()) text_.append(R"(,"_meta":)").append(meta);
  text_.append("}}");

  const auto read = protocol::peek(text_, scratch_);
  if (!read) return read.error();
  seen_ = *read;
  return {};
}

}  // namespace switchgear::call
