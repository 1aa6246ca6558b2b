// An interrupt that also ends when another one does.
#pragma once

#include "async/interrupt.hpp"

namespace switchgear::async {

/// While it lives, whatever interrupts `whole` interrupts `part` for the same reason. A part has a deadline of its own
/// and can end without its whole.
class chain {
 public:
  chain(interrupt& whole, interrupt& part) : whole_(whole), part_(part), guard_(whole, &chain::pass_on, this) {
    if (whole.raised()) part.raise(whole.why());
  }

 private:
  static void pass_on(void* self) {
    auto& link = *static_cast<chain*>(self);
    link.part_.raise(link.whole_.why());
  }

  interrupt& whole_;
  interrupt& part_;
  interrupt::guard guard_;
};

}  // namespace switchgear::async
