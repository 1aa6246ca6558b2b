// What an upstream tells the rest of the gateway about itself, on the control thread.
#pragma once

#include "async/interrupt.hpp"
#include "port/upstream.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::upstream {

/// What one server offers, as it said itself. Each list is its pages' `result` objects, whole, in order; a kind that
/// the server does not have has no page.
struct listing {
  protocol::era era = protocol::era::legacy;
  std::string capabilities;  ///< the server's `capabilities` object
  std::string instructions;  ///< plain text; may be empty
  std::vector<std::string> tools, prompts, resources, templates;

  bool operator==(const listing&) const = default;
};

/// Called on the control worker only; must not block. Outlives every upstream. `upstream` is the index it was made
/// with.
class observer {
 public:
  /// A complete listing arrived (all pages of all kinds), at the beginning, after a change, or at a refresh.
  virtual void listed(unsigned upstream, listing offer) = 0;
  /// The state or its reason changed; also after the first attempt, successful or not.
  virtual void state_changed(unsigned upstream, const port::upstream_status& status) = 0;
  /// The server rejects the operator's credential with `status` (401, 403), or (0) takes it again.
  virtual void credential_changed(unsigned /*upstream*/, int /*status*/) {}
  /// A line that a child wrote on stderr, or a protocol oddity worth one log line. Rate-limited by the upstream.
  virtual void remark(unsigned upstream, std::string_view line) = 0;

  /// An answer came after its call had been given up.
  virtual void late_answer(unsigned /*upstream*/) {}
  /// A notification that belongs to no request of ours, unless it says that a list changed: that is followed by
  /// listed().
  virtual void notified(unsigned /*upstream*/, std::string_view /*text*/, const protocol::message& /*seen*/) {}
  /// A request of the server that belongs to no request of ours; `ping` excepted, which the upstream answers. Gives a
  /// whole response with the request's id, by `until` at the latest. `text` lives until it has completed.
  virtual boost::asio::awaitable<std::string> asked(unsigned upstream, std::string_view text,
                                                    const protocol::message& seen, async::interrupt& until);

 protected:
  ~observer() = default;
};

/// Tells `to` that a resource changed, as if the server had said so.
void notify_updated(observer& to, unsigned upstream, std::string_view uri);

}  // namespace switchgear::upstream
