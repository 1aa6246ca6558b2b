#include "protocol/errc.hpp"
#include "protocol/errors.hpp"
#include "protocol/message.hpp"
#include "targets.hpp"

#include <boost/json/parse.hpp>

#include <string>

namespace switchgear::fuzz {

namespace {

// Boost.JSON is the second opinion on what JSON is. It is stricter on escapes and exponents, so those texts are left
// out.
void compare(std::string_view text, bool known) {
  boost::json::parse_options options;
  options.max_depth = 200;
  boost::system::error_code fault;
  boost::json::parse(text, fault, {}, options);
  if (fault) {
    const bool plain = text.find_first_of("\\eE") == std::string_view::npos;
    must(!known || !plain || fault == boost::json::error::too_deep, "what is no JSON is refused");
  } else {
    must(known, "what is JSON is not called broken");
  }
}

}  // namespace

void peek(std::string_view input) {
  protocol::scratch space, again_space;
  const auto seen = protocol::peek(input, space);
  compare(input, seen.has_value() || seen.error() != protocol::errc::not_json);
  if (!seen) {
    const std::string refusal = protocol::write_refusal(input, seen.error());
    must(protocol::peek(refusal, again_space).has_value(), "a refusal is a message");
    return;
  }

  parts pieces;
  protocol::splice(input, *seen, {.id = "\"new\"", .name = "\"tool\"", .progress_token = "77"}, pieces);
  const std::string spliced = joined(pieces);
  const auto again = protocol::peek(spliced, again_space);
  must(again.has_value(), "a spliced message is a message");
  must(again->kind == seen->kind, "splicing keeps the kind");
  must(again->method == seen->method, "splicing keeps the method");
  if (seen->id) must(again->id.in(spliced) == "\"new\"", "the id is replaced");
  if (seen->name) must(again->name_text == "tool", "the name is replaced");
  if (seen->progress_token) must(again->progress_token.in(spliced) == "77", "the token is replaced");
  must(again->arguments.in(spliced) == seen->arguments.in(input), "arguments stay");
}

}  // namespace switchgear::fuzz
