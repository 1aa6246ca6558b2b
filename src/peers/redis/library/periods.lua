-- One period follows another: each change of state begins one, under the next generation.

local function mode_of(s, c)
  if s.forced == 1 then return enforce end
  if s.observed == 1 and c.mode == enforce then return observe end
  return c.mode
end

local function tell(s, to, why, would_be)
  for _, part in ipairs({s.state, to, s.gen, why, would_be}) do s.news[#s.news + 1] = part end
end

local function begin_period(s, keys)
  s.good, s.ramping, s.evidence, s.connects = 0, 0, 0, ''
  s.done, s.failed, s.slow, s.neutral = 0, 0, 0, 0
  window_clear(s, keys)
  call('DEL', keys.p)
end

local function enter(s, keys, to, why)
  s.gen = s.gen + 1
  tell(s, to, why, 0)
  s.state, s.since, s.reason = to, s.now, why
  begin_period(s, keys)
end

local function stay(s, c, random)
  local grown = c.cooldown_ns * c.growth ^ s.streak
  local capped = min(grown, c.max_cooldown_ns)
  return ceil(floor(capped * (1 + c.jitter * (2 * random - 1))) / 1000)
end

local function open_now(s, c, keys, why, random)
  local length = stay(s, c, random)
  enter(s, keys, open, why)
  s['until'] = s.now + length
  s.streak = s.streak + 1
end

local function follow_mode(s, c, keys, why)
  if mode_of(s, c) ~= enforce and s.state ~= closed then enter(s, keys, closed, why) end
end
