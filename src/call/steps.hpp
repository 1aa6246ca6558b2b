// The steps of the cascade, carried out: one function for each kind.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "call/attempt.hpp"
#include "call/directory.hpp"
#include "call/idempotency.hpp"
#include "call/states.hpp"
#include "cascade/answer_cache.hpp"
#include "cascade/machine.hpp"
#include "port/breakers.hpp"
#include "port/call_handler.hpp"
#include "port/recorder.hpp"

#include <boost/asio/awaitable.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::call {

/// What all calls of a worker use.
struct equipment {
  port::breakers& breakers;
  port::recorder& recorder;
  cascade::answer_cache& answers;
  const states& sealed;
  std::minstd_rand& random;  ///< the worker's own
  key_maker& keys;           ///< the worker's own
};

/// A result that may stand in, and what keeps it alive.
struct found_answer {
  std::string_view result;
  cascade::served_by who = cascade::served_by::none;
  std::optional<duration> age;
  std::shared_ptr<const std::string> stored;  // of a cache step
  buffer body;                                // of a tool step
  std::string made;                           // of another's answer
};

/// One call's steps. What they are given outlives them all; what they find is in `found`.
struct step_context {
  const equipment& with;
  async::worker& on;
  const port::incoming_call& call;
  async::interrupt& whole;
  const tool& called;
  const cascade::machine& machine;

  time_point now{};    ///< when the last action ended
  found_answer found;  ///< after an event `hit`
  /// Why a step ended as it did, for people, by the step's number; short or empty where nobody has more to say.
  std::vector<std::string> details;
  /// Keys of stored answers, by cascade::share, made when first needed.
  std::array<std::optional<std::optional<cascade::answer_key>>, cascade::share_count> keys;
  cascade::stored_answer looked = cascade::stored_answer::unasked;

  void explain(std::size_t number, std::string_view detail);
};

/// Tries step `number` of the called tool's plan; says how that ended, and moves `now` there.
boost::asio::awaitable<cascade::event> try_step(step_context& of, std::size_t number);

/// What an attempt at `target` means for the cascade.
cascade::event event_of(const attempt& tried, const tool& target, bool in_dialogue);

}  // namespace switchgear::call
