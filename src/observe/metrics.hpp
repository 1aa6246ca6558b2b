// What the gateway counts, and how Prometheus reads it. Every name is documented in docs/operations.md.
#pragma once

#include "observe/tool_counters.hpp"
#include "port/answers.hpp"
#include "port/limit_figures.hpp"
#include "port/pauses.hpp"
#include "port/recorder.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::port {
class breakers;
}

namespace switchgear::observe {

class log;

/// Counters that cost the call path a few plain stores: each worker writes only its own cache lines, and a scrape adds
/// them up. A scrape runs on any thread and sees every finished call of the past, each number on its own being exact.
class metrics final : public port::recorder {
 public:
  /// Tools beyond this many share one slot, named "_other": an upstream that invents names cannot fill the memory.
  static constexpr std::uint32_t most_tools = 8192;

  /// `workers`: how many write counters, the control worker included. Transitions and upstream changes are also logged
  /// when `events` is given, which must outlive this.
  explicit metrics(unsigned workers, log* events = nullptr);
  ~metrics() override;

  std::uint32_t tool_slot(std::string_view exported_name) override;
  void call_finished(unsigned worker, const port::call_record& record) noexcept override;
  void refused(unsigned worker, port::refusal why) noexcept override;
  void connections(unsigned worker, int change) noexcept override;
  void transition(const port::transition_record& record) override;
  void late_answer(std::string_view alias) override;
  void upstream_changed(std::string_view alias, bool ready, std::string_view reason) override;
  void credential_changed(std::string_view alias, int status) override;
  void board_changed(bool shared, std::string_view reason) override;

  /// The text exposition (version 0.0.4) of everything counted, with the breakers' states when given, the tools that
  /// asked for fewer calls, the limits, and what is kept of answers. Takes about 10 us a tool: not for a data thread.
  /// Series that never counted are left out.
  std::string expose(const port::breakers* circuits = nullptr, const std::vector<port::throttled_tool>& throttled = {},
                     const std::vector<port::limit_figures>& limits = {},
                     const port::answer_figures& answers = {}) const;

  /// Content-Type of expose().
  static constexpr std::string_view media_type = "text/plain; version=0.0.4; charset=utf-8";

  /// Calls that finished so far, of the tool of that name; all zero when it has no slot.
  tool_totals of_tool(std::string_view exported_name) const;

  /// Calls that finished so far, by who answered, over all tools and workers; for displays and tests.
  std::array<std::uint64_t, cascade::served_by_count> answered_by() const;

 private:
  static constexpr std::uint32_t chunk_tools = 32;
  using chunk = std::array<tool_counters, chunk_tools>;

  /// One worker's own. Chunks are only ever added, by the control thread, and stay until the end.
  struct alignas(64) shard {
    std::array<std::atomic<chunk*>, most_tools / chunk_tools> chunks{};
    std::array<counter, port::refusal_count> refused{};
    counter opened;
    counter ended;
  };

  struct transition_key {
    std::string scope, from, to, reason;
    auto operator<=>(const transition_key&) const = default;
  };

  struct upstream_seen {
    bool ready;
    std::string reason;
    bool operator==(const upstream_seen&) const = default;
  };

  tool_counters* of(const shard& mine, std::uint32_t slot) const noexcept;
  std::uint32_t add_slot(std::string name);
  tool_totals totals(std::uint32_t slot) const;

  std::vector<shard> shards_;
  log* events_;
  double started_;  // seconds of the epoch

  mutable std::mutex mutex_;  // of what only the control thread and scrapes touch
  std::vector<std::unique_ptr<chunk>> owned_;
  std::vector<std::string> names_;  // by slot
  std::map<std::string, std::uint32_t, std::less<>> slots_;
  std::map<transition_key, std::uint64_t> transitions_;
  std::map<std::string, upstream_seen, std::less<>> upstreams_;
  std::map<std::string, std::uint64_t> late_answers_;  // by upstream
  std::set<std::string, std::less<>> rejecting_;       // aliases of those that reject the operator's credential
};

}  // namespace switchgear::observe
