#include "call/question.hpp"

#include "protocol/canonical.hpp"

namespace switchgear::call {

std::optional<cascade::answer_key> question(const tool& asked, const port::incoming_call& call, cascade::share whose) {
  const std::string_view given = call.seen->arguments.in(call.text);
  const auto arguments = protocol::canonical(given.empty() ? "{}" : given);
  if (!arguments) return std::nullopt;
  const std::string_view fingerprint(reinterpret_cast<const char*>(asked.fingerprint.bytes.data()),
                                     asked.fingerprint.bytes.size());
  const bool shared = whose == cascade::share::all;
  return protocol::digest_of({shared ? "everybody" : "principal", shared ? std::string_view{} : call.client.principal,
                              asked.entry->name, fingerprint, *arguments})
      .bytes;
}

}  // namespace switchgear::call
