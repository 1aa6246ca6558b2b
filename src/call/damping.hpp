// A call that an agent makes again and again though it fails: it is told so, and the tool is spared.
#pragma once

#include "call/attempt.hpp"
#include "call/directory.hpp"
#include "cascade/loops.hpp"
#include "port/call_handler.hpp"

#include <optional>

namespace switchgear::call {

/// One call's part in a loop; nothing for a tool without a loop policy. Who asks is told apart by the session, in the
/// modern era by the principal; anonymous clients without a session have nothing by which to tell one from another, so
/// that theirs are never taken for a loop. Nor is what goes on with a dialogue. The arguments outlive it.
class damping {
 public:
  damping(const tool& called, const port::incoming_call& call);

  /// It has failed so often that it is not made: `out` is the answer that says so.
  bool stops(port::answer& out) const;

  /// It was made, and `given` is its answer. A failure is whatever the tool had a say in: its error, no answer in time,
  /// an answer that was lost. A refusal of ours, a tool that is not there or wants fewer calls, and a stand-in change
  /// nothing.
  void ended(const attempt& primary, const port::answer& given) const;

 private:
  const tool& called_;
  const port::incoming_call& call_;
  std::optional<cascade::loop_key> key_;
};

}  // namespace switchgear::call
