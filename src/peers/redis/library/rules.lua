-- R1 to R4: what opens a closed breaker.

local function outage(s, c, counts, trailing)
  local mixed, successes = counts[2] - trailing, counts[1] - counts[2]
  local evidence = max(0, s.evidence + mixed * c.failure_weight - successes * c.success_weight) +
    trailing * c.failure_weight
  if c.outage_threshold > 0 then evidence = min(evidence, c.outage_threshold) end
  s.evidence = evidence
  return c.outage_threshold > 0 and evidence >= c.outage_threshold
end

local function unreachable(s, counts, trailing)
  local needed, span, fresh = 5, 2 * second, counts[5]
  if counts[1] > counts[2] then
    s.connects = ''
    fresh = min(fresh, trailing)
  end
  if fresh == 0 then return false end
  local streak = numbers(s.connects)
  for _ = 1, min(fresh, needed) do
    streak[#streak + 1] = s.now
    if #streak > needed then table.remove(streak, 1) end
  end
  s.connects = joined(streak)
  return #streak == needed and s.now - streak[1] <= span
end

local function judge(s, c, ask)
  local refused = ask.is_server and unreachable(s, ask.counts, ask.trailing)
  local out = outage(s, c, ask.counts, ask.trailing)
  if refused then return cause.unreachable end
  if out then return cause.outage end
  local total = s.total
  if too_many_failures(c, total[1], total[2]) then return cause.error_rate end
  if c.p99 > 0 and too_many_slow(c, total[3], total[4]) then return cause.p99 end
  return cause.none
end

local function flush(s, c, keys, ask, row)
  local counts = ask.counts
  if counts[1] + counts[2] + counts[3] + counts[4] + counts[5] == 0 then return end
  window_add(s, c, keys, counts)
  row_note(s, c, row, counts, ask.trailing)
  s.good = s.good + counts[1] - counts[2]
  if s.good >= c.minimum_calls then s.streak = 0 end
  local why = judge(s, c, ask)
  if why == cause.none then return end
  if not quorum(s, c, keys, ask, row, why) then
    if witness(c, row, why) and mode_of(s, c) == enforce then s.alone = 1 end
    return
  end
  if mode_of(s, c) == enforce then
    open_now(s, c, keys, why, ask.random)
  elseif s.now >= s.quiet then
    s.quiet = s.now + c.cooldown_ns / 1000
    tell(s, open, why, 1)
  end
end
