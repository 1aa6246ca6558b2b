// What was asked, by whom, of which tool: the key under which an answer is stored and found again.
#pragma once

#include "call/directory.hpp"
#include "cascade/answer_cache.hpp"
#include "port/call_handler.hpp"

#include <optional>

namespace switchgear::call {

/// The key, or none if the arguments have no canonical form. Two principals have one only of `share::all`. A tool that
/// is listed with another definition is another tool.
std::optional<cascade::answer_key> question(const tool& asked, const port::incoming_call& call, cascade::share whose);

}  // namespace switchgear::call
