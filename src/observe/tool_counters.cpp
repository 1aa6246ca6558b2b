#include "observe/tool_counters.hpp"

namespace switchgear::observe {

std::uint64_t tool_totals::all_calls() const {
  std::uint64_t sum = 0;
  for (std::uint64_t in_bucket : took) sum += in_bucket;
  return sum;
}

void tool_counters::add(const port::call_record& record) noexcept {
  calls[static_cast<unsigned>(record.served_by)][static_cast<unsigned>(record.reason)].add(1);
  const duration length = std::max(record.took, duration::zero());
  took[bucket_of(length)].add(1);
  took_ns.add(static_cast<std::uint64_t>(length.count()));
  if (record.is_error) is_error.add(1);
  if (record.refused) refused.add(1);
  if (record.slow) slow.add(1);
  if (record.hedged) hedges.add(1);
  if (record.retries > 0) retries.add(record.retries);
  if (record.damped) damped.add(1);
  if (record.stored != cascade::stored_answer::unasked) stored[static_cast<unsigned>(record.stored)].add(1);
}

void tool_counters::add_to(tool_totals& sum) const {
  for (std::size_t who = 0; who < calls.size(); ++who) {
    for (std::size_t why = 0; why < calls[who].size(); ++why) sum.calls[who][why] += calls[who][why].value();
  }
  for (std::size_t i = 0; i < took.size(); ++i) sum.took[i] += took[i].value();
  sum.took_ns += took_ns.value();
  sum.is_error += is_error.value();
  sum.refused += refused.value();
  sum.slow += slow.value();
  sum.retries += retries.value();
  sum.hedges += hedges.value();
  sum.damped += damped.value();
  for (std::size_t i = 0; i < stored.size(); ++i) sum.stored[i] += stored[i].value();
}

}  // namespace switchgear::observe
