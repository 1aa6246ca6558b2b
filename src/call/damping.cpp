#include "call/damping.hpp"

#include "call/respond.hpp"
#include "call/rounds.hpp"
#include "cascade/stand_in.hpp"
#include "cascade/wording.hpp"
#include "protocol/canonical.hpp"
#include "protocol/text.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace switchgear::call {
namespace {

using cascade::ending;

// A longer error is counted all the same, but not searched for words.
constexpr std::size_t longest_read = 256 * 1024;

std::optional<cascade::loop_key> key_of(const tool& called, const port::incoming_call& call) {
  const bool has_session = !call.client.session.empty();
  const std::string_view who = has_session ? call.client.session : call.client.principal;
  if (who.empty() || continues(call)) return std::nullopt;
  const std::string_view given = call.seen->arguments.in(call.text);
  const auto arguments = protocol::canonical(given.empty() ? "{}" : given);
  if (!arguments) return std::nullopt;
  return protocol::digest_of({"loop", has_session ? "session" : "principal", who, called.entry->name, *arguments})
      .bytes;
}

std::string_view text_of(const boost::json::value* from) {
  return from != nullptr && from->is_string() ? std::string_view(from->get_string()) : std::string_view();
}

/// The words of an answer that is an error; nothing if it is none.
std::optional<std::string> error_words(const port::answer& given) {
  if (total_size(given.pieces) > longest_read) return std::string();
  error_code failed;
  const auto parsed = boost::json::parse(joined(given.pieces), failed);
  if (failed || !parsed.is_object()) return std::nullopt;
  const boost::json::object& response = parsed.get_object();
  if (const auto* error = response.if_contains("error"); error != nullptr && error->is_object()) {
    return std::string(text_of(error->get_object().if_contains("message")));
  }
  const auto* result = response.if_contains("result");
  if (result == nullptr || !result->is_object()) return std::nullopt;
  const auto* is_error = result->get_object().if_contains("isError");
  if (is_error == nullptr || *is_error != true) return std::nullopt;
  const auto* content = result->get_object().if_contains("content");
  if (content == nullptr || !content->is_array()) return std::string();
  for (const boost::json::value& block : content->get_array()) {
    if (!block.is_object()) continue;
    const std::string_view text = text_of(block.get_object().if_contains("text"));
    if (!text.empty()) return std::string(text);
  }
  return std::string();
}

/// It asks for input, or goes on elsewhere: neither well nor ill.
bool is_unfinished(const attempt& primary, const port::answer& given) {
  const std::string_view type = primary.reply.message.result_type.in(given.body.view());
  return !type.empty() && type != R"("complete")";
}

}  // namespace

damping::damping(const tool& called, const port::incoming_call& call) : called_(called), call_(call) {
  if (called.loops != nullptr) key_ = key_of(called, call);
}

bool damping::stops(port::answer& out) const {
  if (!key_ || called_.loops->empty()) return false;
  const cascade::loop_policy& policy = called_.policy.loop;
  const auto found = called_.loops->find(*key_, policy, call_.arrived);
  if (!found) return false;
  cascade::marker marker;
  marker.repeated = found->failures;
  marker.steps.entries[0] = {"primary", ending::repeated};
  marker.steps.size = 1;
  out.degraded = true;
  const std::string text = cascade::loop_text(called_.entry->name, found->failures, policy.window, found->words);
  respond(call_, cascade::failure_result(text, marker), out);
  return true;
}

void damping::ended(const attempt& primary, const port::answer& given) const {
  if (!key_) return;
  const protocol::message& message = primary.reply.message;
  switch (primary.what.how) {
    case ending::answered:
      if (!message.error && !message.is_error) {
        if (!called_.loops->empty() && !is_unfinished(primary, given)) called_.loops->succeeded(*key_);
        return;
      }
      break;
    case ending::failed:
    case ending::timed_out:
    case ending::denied:
      break;
    default:
      return;
  }
  const auto words = error_words(given);
  if (!words) return;
  called_.loops->failed(*key_, called_.policy.loop, protocol::head(*words, cascade::loops::most_words), primary.ended);
}

}  // namespace switchgear::call
