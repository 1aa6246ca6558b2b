// One tools/call on its way: the primary, then step after step as the cascade says, then the answer.
#pragma once

#include "call/attempt.hpp"
#include "call/explain.hpp"
#include "call/preflight.hpp"
#include "call/steps.hpp"
#include "cascade/machine.hpp"
#include "port/call_handler.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace switchgear::call {

/// Lives in the frame of the coroutine that serves the call; what it is given outlives it.
class course {
 public:
  course(const equipment& with, async::worker& on, const port::incoming_call& call, async::interrupt& interrupt,
         const tool& called, const opened& begun, port::answer& out)
      : with_(with),
        on_(on),
        call_(call),
        interrupt_(interrupt),
        called_(called),
        begun_(begun),
        out_(out),
        machine_(called.policy.fallback, called.entry->name, interrupt.deadline()),
        step_{with, on, call, interrupt, called, machine_} {}

  /// Fills the answer: the primary's own bytes, a marked stand-in, or an isError result that says what is wrong.
  boost::asio::awaitable<void> run(port::event_sink* client);
  const attempt& primary() const { return primary_; }

 private:
  bool give_fresh();
  void pass_on();
  void stand_in();
  void fail();
  void store_answer();
  void give(std::string result);
  void record(cascade::served_by who, bool is_error);
  standing now_standing() const;

  const equipment& with_;
  async::worker& on_;
  const port::incoming_call& call_;
  async::interrupt& interrupt_;
  const tool& called_;
  const opened& begun_;
  port::answer& out_;
  cascade::machine machine_;
  step_context step_;
  attempt primary_;
  bool in_dialogue_ = false;
};

}  // namespace switchgear::call
