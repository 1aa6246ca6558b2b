// The model step of the cascade: a language model answers in a tool's place.
#pragma once

#include "breaker/gate.hpp"
#include "call/steps.hpp"
#include "port/model.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace switchgear::call {

/// Immutable. Model and gates outlive it.
struct prepared_model {
  port::model* who = nullptr;
  breaker::gate* gate = nullptr;         ///< `model:NAME`, as a tool
  breaker::gate* server_gate = nullptr;  ///< `model:NAME`, as a server
  std::string description;               ///< of the tool in whose place it answers
};

/// `definition` is the tool's as listed. Control thread.
std::shared_ptr<const prepared_model> prepare_model(port::model& who, std::string_view definition,
                                                    const breaker::settings& values, port::breakers& breakers);

/// Asks the model of step `number`, behind its own breaker. As try_step.
boost::asio::awaitable<cascade::event> ask_model(step_context& of, std::size_t number);

}  // namespace switchgear::call
