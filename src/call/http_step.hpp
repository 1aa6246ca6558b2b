// The http step of the cascade: a plain REST endpoint stands in for a tool.
#pragma once

#include "call/steps.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>

namespace switchgear::call {

/// Asks the endpoint of step `number`, behind its own breaker. As try_step.
boost::asio::awaitable<cascade::event> ask_endpoint(step_context& of, std::size_t number);

}  // namespace switchgear::call
