// Answers of the past: which are kept, and where a cache step looks for one.
#pragma once

#include "call/steps.hpp"
#include "cascade/plan.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string_view>

namespace switchgear::call {

/// Whether an answer that a cache step calls fresh is in this gateway's own memory; it is in `found` then. Asks nobody.
bool find_fresh(step_context& of);

/// Step `number`, a cache step: this gateway's memory and, when that has nothing, what other replicas keep. Says hit,
/// miss, unfit or cancelled.
boost::asio::awaitable<cascade::event> find_stored(step_context& of, const cascade::cache_step& step,
                                                   std::size_t number);

/// Keeps `result` (JSON), which is cascade::cacheable and came at `now`, here and for other replicas, under one key for
/// each kind of share that the tool's plan uses. Waits for nobody.
void keep(step_context& of, std::string_view result);

}  // namespace switchgear::call
