-- What this store knows may be less than an instance has seen: writes were lost in a failover, or all keys. Then the
-- instance's word is taken over, and the operator's that it passes on. An instance that went on alone has only raised its generation; the state here, which
-- many keep, stands, above that generation. Also when both got to the same one, each by itself: the leases that it gave
-- itself are none of this period.
local function join(s, c, keys, ask)
  local severity = {[closed] = 0, [half_open] = 1, [open] = 2}
  local behind = ask.seen > s.gen
  local split = ask.seen == s.gen and ask.gen == s.gen and severity[ask.state] > severity[s.state]
  if behind or split then
    s.gen = max(ask.seen, ask.gen)
    tell(s, ask.state, cause.joined, 0)
    s.state, s.since, s.reason = ask.state, s.now, cause.joined
    s['until'] = s.now + ask.remaining
    s.forced, s.observed = ask.forced, ask.observed
    s.hold = ask.hold >= 0 and s.now + ask.hold or -1
    s.token = max(s.token, s.now)  -- tokens of before must not be taken for new ones
    begin_period(s, keys)
    follow_mode(s, c, keys, cause.joined)
  elseif ask.gen > s.gen or ask.gen == s.gen and ask.gen > ask.seen then
    s.gen = ask.gen
    enter(s, keys, s.state, cause.joined)
  end
end

-- The settings of a newer configuration hold, and among equals those that were told last.
local function configure(s, c, keys, ask)
  s.version = ask.version
  if ask.settings == s.settings then return c end
  local other = settings_of(ask.settings)
  s.settings = ask.settings
  if other.window ~= c.window or other.p99 ~= c.p99 then window_clear(s, keys) end
  s.evidence = 0
  follow_mode(s, other, keys, cause.settings)
  return other
end

local function obey(s, c, keys, order, hold)
  local was_forced = s.forced == 1
  s.forced, s.observed = 0, 0
  s.hold = hold > 0 and s.now + hold or -1
  if order == 0 then
    s.forced = 1
    enter(s, keys, open, cause.operator_open)
  elseif order == 1 then
    s.observed = hold > 0 and 1 or 0
    s.streak = 0
    enter(s, keys, closed, cause.operator_close)
  elseif order == 2 then
    s.observed = 1
    follow_mode(s, c, keys, cause.operator_observe)
  else
    s.hold = -1
    if was_forced and mode_of(s, c) == enforce then enter(s, keys, half_open, cause.operator_auto) end
    follow_mode(s, c, keys, cause.operator_auto)
  end
end

local function pass_time(s, c, keys, random)
  if s.hold >= 0 and s.now >= s.hold then
    local was_forced = s.forced == 1
    s.hold, s.observed, s.forced = -1, 0, 0
    if was_forced and mode_of(s, c) == enforce then enter(s, keys, half_open, cause.hold_over) end
    follow_mode(s, c, keys, cause.hold_over)
  end
  if s.state == half_open and take_back_overdue(s, keys) then judge_probes(s, c, keys, cause.probe_lost, random) end
end

local function hear(s, c, keys, ask, row)
  local probes = ask.probes
  if ask.gen == s.gen then
    for at = 1, #probes, 3 do
      if not settle(s, keys, ask.instance, probes[at], probes[at + 1], probes[at + 2]) then s.stale = s.stale + 1 end
    end
    judge_probes(s, c, keys, cause.probes_failed, ask.random)
  else
    s.stale = s.stale + #probes / 3
  end
  if ask.gen == s.gen and s.state == closed and mode_of(s, c) ~= disabled then
    flush(s, c, keys, ask, row)
  else
    s.stale = s.stale + ask.counts[1]
  end
  if s.state ~= closed then offer(s, ask.offered + ask.counts[1]) end
end

local nobody = '\0\0\0\0\0\0\0\0'  -- the number 0
local answer_form = '>ddddddddddddddddddddddddddddd'

local function answer(s, c, keys, ask)
  local mode = mode_of(s, c)
  local quarter = 4
  if s.ramping == 1 and s.state == closed and mode == enforce and c.ramp > 0 then
    quarter = floor((s.now - s.since) * 4 / c.ramp)
  end
  local ramp = quarter < 3 and quarter + 1 or 0
  local watch = (s.state ~= closed or ramp ~= 0 or s.hold >= 0) and 1 or 0
  local retry_after, lease_after = 0, -1
  if s.forced == 1 then
    retry_after = s.hold < 0 and c.cooldown_ns / 1000 or s.hold - s.now
  elseif s.state == open then
    retry_after = max(s['until'] - s.now, 0)
    lease_after = retry_after
  elseif s.state == half_open then
    lease_after = next_lease(s, c, keys)
  end
  local total = s.total
  local said = pack(answer_form, s.gen, s.state, mode, s.forced, ramp, watch, s.now - s.since, retry_after, lease_after,
    s.hold < 0 and -1 or max(0, s.hold - s.now), total[1], total[2], total[3], total[4], total[5], c.outage_threshold > 0 and s.evidence or 0,
    s.state == half_open and call('ZCARD', keys.p) or 0, s.done, s.failed, s.stale, s.reason,
    s.alone, s.active, s.expired, s.settings == ask.settings and 0 or 1, use_within, use_within + c.probe_timeout,
    #s.leases, #s.news / 5)
  for _, token in ipairs(s.leases) do said = said .. pack('>d', token) end
  for _, part in ipairs(s.news) do said = said .. pack('>d', part) end
  return said .. (ask.roster and roster(s, c, keys) or nobody)
end

-- "cb1:{search}:s:search__query" is about search__query, and its news go to "cb1:{search}:ev".
local function publish(s, keys, ask)
  local root, name = match(keys.s, '^(.-}:)s:(.*)$')
  call(ask.sharded and 'SPUBLISH' or 'PUBLISH', root .. 'ev', text(s.gen) .. ' ' .. state_names[s.state] .. ' ' .. name)
end

local ask_form = '>dddddddddddddddddddddd'

-- What an exchange says. ARGV: instance; settings; packed numbers, as read here; probes, three numbers each; order and
-- hold, or nothing.
local function read(ARGV)
  local sequence, version, put, gen, seen, state, remaining, calls, failures, timed, slow, connects, trailing, offered,
    want, is_server, sharded, with_roster, random, forced, observed, hold = unpack_from(ask_form, ARGV[3])
  return {
    instance = ARGV[1], settings = ARGV[2], sequence = sequence, version = version, put = put == 1,
    gen = gen,  -- of the report
    -- Generation heard from here last, and how things stand there.
    seen = seen, state = state, remaining = remaining, forced = forced, observed = observed, hold = hold,
    counts = {calls, failures, timed, slow, connects}, trailing = trailing, offered = offered, want = want,
    is_server = is_server == 1, sharded = sharded == 1, roster = with_roster == 1, random = random,
    probes = numbers(ARGV[4]), order = ARGV[5],
  }
end

-- KEYS: s w i p. ARGV: see read(). A last argument takes the place of the server's time, for tests.
local function exchange(KEYS, ARGV)
  if not floor then begin() end
  local keys = {s = KEYS[1], w = KEYS[2], i = KEYS[3], p = KEYS[4]}
  local ask = read(ARGV)
  local reading = tonumber(ARGV[6])
  if not reading then
    local clock = call('TIME')
    reading = clock[1] * second + clock[2]
  end

  local s = load(keys)
  if s.v > layout then
    return redis.error_reply('SWITCHGEARNEWER ' .. keys.s .. ' has layout ' .. s.v .. ', this library knows ' .. layout)
  end
  s.news, s.leases, s.alone, s.expired = {}, {}, 0, 0
  tick(s, reading)
  -- A key that is somebody else's is found here, before anything is written.
  local row = row_of(call('HGET', keys.i, ask.instance)) or {0, 0, s.now, s.gen, 0, 0, 0, 0, 0}
  call('ZCARD', keys.p)
  if s.settings == '' then s.settings, s.version = ask.settings, ask.version end
  local c = settings_of(s.settings)
  window_load(s, c, keys)
  local before = s.gen

  join(s, c, keys, ask)
  if ask.version > s.version or ask.put and ask.version == s.version then c = configure(s, c, keys, ask) end
  -- A flush that timed out may have landed: the second time it says nothing new.
  local repeated = ask.sequence <= row[1]
  if ask.order ~= '' and not repeated then obey(s, c, keys, unpack(numbers(ask.order))) end
  row[1], row[2] = max(row[1], ask.sequence), s.now
  pass_time(s, c, keys, ask.random)
  if not repeated then hear(s, c, keys, ask, row) end
  if ask.want > 0 and s.forced == 0 then
    if s.state == open and s.now >= s['until'] then enter(s, keys, half_open, cause.cooldown_over) end
    if s.state == half_open then grant(s, c, keys, ask) end
  end

  call('HSET', keys.i, ask.instance, pack(row_form, unpack(row, 1, 9)))
  count_active(s, keys)
  save(s, keys)
  if s.gen ~= before then publish(s, keys, ask) end
  return answer(s, c, keys, ask)
end

redis.register_function('switchgear_v1_exchange', exchange)
