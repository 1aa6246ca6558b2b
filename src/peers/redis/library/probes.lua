-- Leases of probes, and their verdict.

local unused, succeeded, failed, neutral = 1, 2, 3, 4  -- fates; 0 = used

local function member(token, instance, used) return text(token) .. ' ' .. instance .. (used and ' used' or '') end

local function settle(s, keys, instance, token, fate, slow)
  if s.state ~= half_open then return false end
  local was_used = false
  local expires = call('ZSCORE', keys.p, member(token, instance, false))
  if not expires then
    was_used = true
    expires = call('ZSCORE', keys.p, member(token, instance, true))
  end
  if not expires then return false end
  if fate == 0 then
    if not was_used then
      call('ZREM', keys.p, member(token, instance, false))
      call('ZADD', keys.p, expires, member(token, instance, true))
    end
    return true
  end
  call('ZREM', keys.p, member(token, instance, was_used))
  if fate == unused then return true end
  if fate == neutral and slow == 0 and s.neutral < neutral_allowed then
    s.neutral = s.neutral + 1
    return true
  end
  s.done = s.done + 1
  if fate == failed then s.failed = s.failed + 1 end
  if slow == 1 then s.slow = s.slow + 1 end
  return true
end

local function take_back_overdue(s, keys)
  local lost = 0
  local overdue = call('ZRANGEBYSCORE', keys.p, '-inf', text(s.now))
  for _, each in ipairs(overdue) do
    if string.sub(each, -5) == ' used' then lost = lost + 1 end
    call('ZREM', keys.p, each)
  end
  s.expired = #overdue
  s.done, s.failed = s.done + lost, s.failed + lost
  return lost > 0
end

local function judge_probes(s, c, keys, why, random)
  if s.state ~= half_open then return end
  if s.failed > c.probe_failures_allowed or s.slow > c.probe_failures_allowed then
    open_now(s, c, keys, why, random)
  elseif s.done >= c.probes_needed then
    enter(s, keys, closed, cause.probes_passed)
    if c.ramp > 0 then s.ramping = 1 end
  end
end

local function room(s, c, keys)
  local busy = call('ZCARD', keys.p)
  local results = max(0, c.probes_needed - s.done)
  return max(0, min(c.probes_in_flight - busy, results - busy))
end

local function share(s, c) return max(1, ceil(c.probe_share * offered_in_second(s) - 1e-9)) end

local function issued_in_second(s)
  local recent = {}
  for _, at in ipairs(numbers(s.issued)) do
    if at > s.now - second then recent[#recent + 1] = at end
  end
  return recent
end

local function grant(s, c, keys, ask)
  local recent = issued_in_second(s)
  local number = min(ask.want, room(s, c, keys), max(0, share(s, c) - #recent))
  for _ = 1, number do
    s.token = s.token + 1
    s.leases[#s.leases + 1] = s.token
    recent[#recent + 1] = s.now
    call('ZADD', keys.p, text(s.now + use_within + c.probe_timeout + grace), member(s.token, ask.instance, false))
  end
  s.issued = joined(recent)
  if number > 0 then call('EXPIRE', keys.p, 1200) end
end

local function next_lease(s, c, keys)
  if room(s, c, keys) == 0 then return -1 end
  local recent = issued_in_second(s)
  return #recent < share(s, c) and 0 or recent[1] + second - s.now
end
