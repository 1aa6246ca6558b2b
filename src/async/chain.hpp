// An interrupt that also ends when another one does.
#pragma once

#include "async/interrupt.hpp"

namespace switchgear::async {

/// While it lives, whatever interrupts `whole` interrupts `part` for the same reason, and a pause of `whole` is one of
/// `part`; a pause must begin and end within one chain's life, or outside of it. A part has a deadline of its own and
/// can end without its whole. One part at a time: the inner chain rules until it ends.
class chain {
 public:
  chain(interrupt& whole, interrupt& part)
      : whole_(whole), part_(part), outer_(whole.part_), guard_(whole, &chain::pass_on, this) {
    whole.part_ = &part;
    if (whole.raised()) part.raise(whole.why());
  }
  ~chain() { whole_.part_ = outer_; }
  chain(const chain&) = delete;
  chain& operator=(const chain&) = delete;

 private:
  static void pass_on(void* self) {
    auto& link = *static_cast<chain*>(self);
    link.part_.raise(link.whole_.why());
  }

  interrupt& whole_;
  interrupt& part_;
  interrupt* outer_;
  interrupt::guard guard_;
};

}  // namespace switchgear::async
