// Stand-ins made of what was found: they fit the called tool's outputSchema, or the step says why not.
#pragma once

#include "call/steps.hpp"
#include "cascade/result_template.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string_view>

namespace switchgear::call {

/// Whether this structuredContent (JSON; empty: none) is one that the tool's clients can take.
bool fits(step_context& of, std::size_t number, std::string_view structured);

/// The stand-in is what `how` takes of another's answer. Says what became of the step: hit, unmapped, unfit.
cascade::ending map_answer(step_context& of, std::size_t number, const cascade::result_template& how,
                           const boost::json::value& answer);

/// The stand-in is `said`. hit, or unfit.
cascade::ending take_made(step_context& of, std::size_t number, const cascade::plain_answer& said);

}  // namespace switchgear::call
