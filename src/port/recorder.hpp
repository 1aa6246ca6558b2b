// Seam: what happened, for whoever counts it. Telemetry is written off the call path.
#pragma once

#include "base/time.hpp"
#include "breaker/outcome.hpp"
#include "cascade/terms.hpp"

#include <cstdint>
#include <string_view>

namespace switchgear::port {

/// A finished tools/call.
struct call_record {
  std::uint32_t tool = 0;  ///< from recorder::tool_slot
  cascade::served_by served_by = cascade::served_by::primary;
  cascade::reason reason = cascade::reason::none;
  bool is_error = false;  ///< the answer is a result with isError
  bool refused = false;   ///< a breaker kept the primary from being called
  bool slow = false;
  bool hedged = false;   ///< a second try of the primary ran beside the first
  bool damped = false;   ///< not made, since the same call has failed again and again
  unsigned retries = 0;  ///< tries of the primary beyond the first
  cascade::stored_answer stored = cascade::stored_answer::unasked;  ///< what came of the last look for one
  duration took{};
};

/// A breaker changed its state.
struct transition_record {
  std::string_view scope;             ///< exported tool name, or upstream alias with "server:" before it
  std::string_view from, to, reason;  ///< `to` is "would_open" when the breaker only observes
  std::uint64_t generation = 0;
  std::string_view note;  ///< who asked for it and why, when an operator did
};

/// What listen refused or could not do before a call began.
enum class refusal : std::uint8_t {
  bad_request,  // head, JSON or JSON-RPC
  media_type,   // Accept or Content-Type
  too_large,
  unknown_session,
  host_or_origin,
  version,
  unknown_tool,
  session_limit,
};
inline constexpr unsigned refusal_count = 8;

class recorder {
 public:
  virtual ~recorder() = default;

  /// A slot for a tool's counters; the same for the same name. Control thread.
  virtual std::uint32_t tool_slot(std::string_view exported_name) = 0;

  /// Counters only: no lock, no allocation. `worker` is the calling worker's index.
  virtual void call_finished(unsigned worker, const call_record& record) noexcept = 0;
  virtual void refused(unsigned worker, refusal why) noexcept = 0;
  /// A connection of a client was accepted (+1) or has ended (-1).
  virtual void connections(unsigned worker, int change) noexcept = 0;

  /// Control thread, off the call path; may log.
  virtual void transition(const transition_record& record) = 0;
  /// An upstream's state changed; `reason` is one line, empty when ready. Control thread.
  virtual void upstream_changed(std::string_view alias, bool ready, std::string_view reason) = 0;
  /// An answer of an upstream came too late for its call. Control thread.
  virtual void late_answer(std::string_view /*alias*/) {}
  /// An upstream rejects the operator's credential with `status` (401, 403), or (0) takes it again. Control thread.
  virtual void credential_changed(std::string_view /*alias*/, int /*status*/) {}
  /// The shared board was lost, for `reason`, or is in use (again). Control thread.
  virtual void board_changed(bool /*shared*/, std::string_view /*reason*/) {}
};

}  // namespace switchgear::port
