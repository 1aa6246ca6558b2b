#!lua name=switchgear_v1
-- The authority over one scope, inside Redis: the same rules, in the same order, as src/breaker/authority.cpp, which
-- explains them. test/sim feeds both and compares after each step.
--
-- Keys of a scope, all with the hash tag of its server:
--   s  HASH  the state; TTL a day, renewed by every exchange
--   w  HASH  the window: T = head second and totals, 0..n = the slots
--   i  HASH  a row an instance: what it said last, for quorum and repeats
--   p  ZSET  leases of probes, scored by the moment at which they are taken back
-- Times are microseconds of the server's clock, made monotone for each scope.

local layout = 1  -- of these keys; whoever changes their meaning raises it
local second = 1000000
local tenth = 100000
local use_within = second
local grace = 500000
local neutral_allowed = 3
local p99_share = 0.01
local active_for = 10 * second  -- an instance that was heard from within this takes part
local day = 86400

local closed, open, half_open = 0, 1, 2
local enforce, observe, disabled = 0, 1, 2
local state_names = {[0] = 'closed', 'open', 'half_open'}
local state_numbers = {closed = 0, open = 1, half_open = 2}
local causes = {
  [0] = 'none', 'error_rate', 'outage', 'p99', 'unreachable', 'cooldown_over', 'probes_passed', 'probes_failed',
  'probe_lost', 'operator_open', 'operator_close', 'operator_observe', 'operator_auto', 'hold_over', 'settings',
  'joined',
}
local cause = {}
for number = 0, 15 do cause[causes[number]] = number end

-- Lua's own tostring keeps 14 digits; a microsecond of today has 16.
-- Most numbers here are small and whole, and writing them anew would be most of what an exchange costs.
local small = {}

local function text(number)
  local known = small[number]
  if known then return known end
  if number % 1 ~= 0 then return string.format('%.17g', number) end
  local written = string.format('%.0f', number)
  if number >= 0 and number < 1024 then small[number] = written end
  return written
end

local function numbers(from)
  local all = {}
  if from == '' then return all end
  for word in string.gmatch(from, '%S+') do all[#all + 1] = tonumber(word) end
  return all
end

local function joined(list)
  local words = {}
  for at, number in ipairs(list) do words[at] = text(number) end
  return table.concat(words, ' ')
end

-- The exact binomial limit, a table for each pair of share and alpha, filled as far as it was asked. It holds nothing
-- that could not be worked out again, so it may live outside the keys.
local tables, table_count = {}, 0
local exact_up_to, most_tables = 4096, 64

local function binomial_limit(n, p, alpha, z)
  if n > exact_up_to then
    local mean = n * p
    local skew = (z * z - 1) / 6 * (1 - 2 * p)
    return math.min(n + 1, math.ceil(mean + z * math.sqrt(mean * (1 - p)) + skew + 0.5))
  end
  local name = text(p) .. ' ' .. text(alpha)
  local walk = tables[name]
  if not walk then
    if table_count == most_tables then tables, table_count = {}, 0 end
    walk = {tail = 0, edge = 1, k = 1, n = 0, limit = {[0] = 1}}
    tables[name] = walk
    table_count = table_count + 1
  end
  while walk.n < n do
    local at = walk.n + 1
    walk.tail = walk.tail + p * walk.edge
    walk.edge = walk.edge * (at * (1 - p) / (at + 1 - walk.k))
    while walk.tail > alpha and walk.k <= at do
      walk.edge = walk.edge * ((at - walk.k + 1) / walk.k * p / (1 - p))
      walk.tail = walk.tail - walk.edge
      walk.k = walk.k + 1
    end
    walk.n = at
    walk.limit[at] = walk.k
  end
  return walk.limit[n]
end

-- What a line of settings says depends on nothing else, so it may be remembered outside the keys.
local read_settings, read_count, most_settings = {}, 0, 256

local function settings_of(said)
  local known = read_settings[said]
  if known then return known end
  local n = numbers(said)
  if read_count == most_settings then read_settings, read_count = {}, 0 end
  read_count = read_count + 1
  read_settings[said] = {
    mode = n[1], error_rate = n[2], window = n[3], minimum_calls = n[4], alpha = n[5], outage_rate = n[6],
    outage_threshold = n[7], p99 = n[8], cooldown_ns = n[9], growth = n[10], max_cooldown_ns = n[11], jitter = n[12],
    probe_share = n[13], probes_in_flight = n[14], probes_needed = n[15], probe_failures_allowed = n[16],
    probe_timeout = n[17], ramp = n[18], error_z = n[19], slow_z = n[20],
  }
  return read_settings[said]
end

local function trips(c, n, count, limit, z, reached)
  if n < c.minimum_calls or n == 0 then return false end
  if c.alpha >= 0 then return count >= binomial_limit(n, limit, c.alpha, z) end
  local border = n * limit
  if reached then return count >= math.ceil(border - 1e-9) end
  return count >= math.floor(border + 1e-9) + 1
end

-- State -----------------------------------------------------------------------------------------------------------

-- What people may want to read stands in fields of its own, as text, once it is not what it was at first. What changes
-- with every exchange is packed into one field: its text would cost more than all the rest.
local at_first = {
  v = layout, state = closed, gen = 0, since = 0, ['until'] = 0, reason = 0, streak = 0, ramping = 0, quiet = 0,
  forced = 0, observed = 0, hold = -1, connects = '', offered = '', settings = '', version = 0, done = 0, failed = 0, slow = 0,
  neutral = 0, token = 0, issued = '', active = 0,
}
local is_text = {connects = true, offered = true, issued = true, settings = true}
local is_list = {connects = true, issued = true}
local packed = '>dddddddd'
local packed_size = 64

local function load(keys)
  local found = redis.call('HGETALL', keys.s)
  local s, was = {}, {}
  for at = 1, #found, 2 do
    local name, value = found[at], found[at + 1]
    if name == 'state' then
      value = state_numbers[value] or closed
    elseif name == 'reason' then
      value = cause[value] or 0
    elseif at_first[name] and not is_text[name] then
      value = tonumber(value) or at_first[name]
    end
    s[name], was[name] = value, value
  end
  s.was, s.fresh = was, not was.gen
  for name, value in pairs(at_first) do
    if s[name] == nil then s[name] = value end
  end
  if #(was.x or '') == packed_size then
    s.reading, s.now, s.evidence, s.good, s.tenth, s.in_tenth, s.counted, s.stale = struct.unpack(packed, was.x)
  else
    s.reading, s.now, s.evidence, s.good, s.tenth, s.in_tenth, s.counted, s.stale = 0, 0, 0, 0, 0, 0, 0, 0
  end
  s.connects, s.issued = numbers(s.connects), numbers(s.issued)
  return s
end

local function save(s, keys)
  local was = s.was
  local changed = {
    'x', struct.pack(packed, s.reading, s.now, s.evidence, s.good, s.tenth, s.in_tenth, s.counted, s.stale),
  }
  for name, first in pairs(at_first) do
    local value, before = s[name], was[name]
    if is_list[name] then value = joined(value) end
    if value ~= before and (before ~= nil or value ~= first or name == 'gen' or name == 'state' or name == 'v') then
      if name == 'state' then
        value = state_names[value]
      elseif name == 'reason' then
        value = causes[value]
      elseif not is_text[name] then
        value = text(value)
      end
      changed[#changed + 1] = name
      changed[#changed + 1] = value
    end
  end
  redis.call('HSET', keys.s, unpack(changed))
  if s.renew then
    redis.call('EXPIRE', keys.s, day)
    redis.call('EXPIRE', keys.i, 600)
  end
end

-- Time that never goes back and that a step of the clock cannot stop.
local function tick(s, reading)
  if s.fresh then
    s.reading, s.now, s.since = reading, reading, reading
  elseif reading > s.reading then
    s.now = s.now + reading - s.reading
    s.reading = reading
  elseif s.reading - reading > second then
    s.reading = reading
  end
end

-- Window ----------------------------------------------------------------------------------------------------------

local parts = 5  -- calls, failures, timed, slow, connects

local slot_form, slot_size = '>IIIII', 20
local total_form, total_size = '>dddddd', 48

local function slot_of(stored)
  if #(stored or '') ~= slot_size then return 0, 0, 0, 0, 0 end
  return struct.unpack(slot_form, stored)
end

local function write_total(s) return struct.pack(total_form, s.head, unpack(s.total)) end

local function window_load(s, c, keys)
  local to = math.floor(s.now / second)
  local size = math.floor(c.window / second)
  local stored = redis.call('HGET', keys.w, 'T')
  s.head = to
  s.total = {0, 0, 0, 0, 0}
  if #(stored or '') ~= total_size then return end
  local from, calls, failures, timed, slow, connects = struct.unpack(total_form, stored)
  if to - from >= size then
    redis.call('DEL', keys.w)
    return
  end
  local total = {calls, failures, timed, slow, connects}
  s.total = total
  if to <= from then return end
  local old = {}
  for at = from + 1, to do old[#old + 1] = at % size end
  for _, slot in ipairs(redis.call('HMGET', keys.w, unpack(old))) do
    if slot then
      for part, count in ipairs({slot_of(slot)}) do
        if part <= parts then total[part] = total[part] - count end
      end
    end
  end
  redis.call('HDEL', keys.w, unpack(old))
  redis.call('HSET', keys.w, 'T', write_total(s))
end

local function window_add(s, c, keys, counts)
  local slot = s.head % math.floor(c.window / second)
  local stored = redis.call('HGET', keys.w, slot)
  local held, total = {slot_of(stored)}, s.total
  for part = 1, parts do
    held[part] = held[part] + counts[part]
    total[part] = total[part] + counts[part]
  end
  redis.call('HSET', keys.w, 'T', write_total(s), slot, struct.pack(slot_form, unpack(held, 1, parts)))
  if not stored then redis.call('EXPIRE', keys.w, math.ceil(2 * c.window / second)) end
end

local function window_clear(s, keys)
  redis.call('DEL', keys.w)
  s.total = {0, 0, 0, 0, 0}
end

-- Calls offered in the last second, by its tenths: the present one, and pairs of an earlier one and its calls. They are
-- looked at while probes are handed out, so until then they are only written down.
local longest_offered = 400

local function offered_in_second(s)
  local to, sum, kept = math.floor(s.now / tenth), 0, {}
  local pairs_of = numbers(s.offered)
  for at = 1, #pairs_of, 2 do
    if pairs_of[at] > to - 10 then
      kept[#kept + 1] = pairs_of[at]
      kept[#kept + 1] = pairs_of[at + 1]
      sum = sum + pairs_of[at + 1]
    end
  end
  s.offered = joined(kept)
  return s.tenth > to - 10 and sum + s.in_tenth or sum
end

local function offer(s, events)
  if events == 0 then return end
  local to = math.floor(s.now / tenth)
  if s.tenth == to then
    s.in_tenth = s.in_tenth + events
    return
  end
  if s.in_tenth > 0 then
    s.offered = s.offered .. (s.offered == '' and '' or ' ') .. text(s.tenth) .. ' ' .. text(s.in_tenth)
    if #s.offered > longest_offered then offered_in_second(s) end
  end
  s.tenth, s.in_tenth = to, events
end

-- Transitions -----------------------------------------------------------------------------------------------------

local function mode_of(s, c)
  if s.forced == 1 then return enforce end
  if s.observed == 1 and c.mode == enforce then return observe end
  return c.mode
end

local function tell(s, to, why, would_be)
  for _, part in ipairs({s.state, to, s.gen, why, would_be}) do s.news[#s.news + 1] = part end
end

local function begin_period(s, keys)
  s.good, s.ramping, s.evidence, s.connects = 0, 0, 0, {}
  s.done, s.failed, s.slow, s.neutral = 0, 0, 0, 0
  window_clear(s, keys)
  redis.call('DEL', keys.p)
end

local function enter(s, keys, to, why)
  s.gen = s.gen + 1
  tell(s, to, why, 0)
  s.state, s.since, s.reason = to, s.now, why
  begin_period(s, keys)
end

local function stay(s, c, random)
  local grown = c.cooldown_ns * c.growth ^ s.streak
  local capped = math.min(grown, c.max_cooldown_ns)
  return math.ceil(math.floor(capped * (1 + c.jitter * (2 * random - 1))) / 1000)
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

-- Quorum ----------------------------------------------------------------------------------------------------------

local row_form, row_size = '>ddddIIIII', 52

local function row_of(stored)
  if #(stored or '') ~= row_size then return nil end
  return {struct.unpack(row_form, stored)}
end

-- A row: sequence, heard, begun, generation, calls, failures, timed, slow, trailing failures of the last batch.
local function row_note(s, c, row, counts, trailing)
  if row[4] ~= s.gen or s.now - row[3] >= c.window then
    row[3], row[4], row[5], row[6], row[7], row[8] = s.now, s.gen, 0, 0, 0, 0
  end
  for part = 1, 4 do row[part + 4] = row[part + 4] + counts[part] end
  if counts[1] > 0 then row[9] = trailing end
end

-- Does what this instance saw, taken alone, point the same way? Half a limit is enough: shares of few calls scatter.
local function witness(c, row, why)
  if why == cause.error_rate then return row[6] > 0 and row[6] >= row[5] * c.error_rate / 2 end
  if why == cause.p99 then return row[8] > 0 and row[8] >= row[7] * p99_share / 2 end
  return row[9] > 0
end

-- With three instances at work, one alone cannot open the breaker for all: it may be the one that is sick.
local function quorum(s, c, keys, ask, mine, why)
  local active, witnesses = 0, 0
  local all, rows = {mine}, redis.call('HGETALL', keys.i)
  for at = 1, #rows, 2 do
    if rows[at] ~= ask.instance then all[#all + 1] = row_of(rows[at + 1]) end
  end
  for _, row in ipairs(all) do
    if row[4] == s.gen and s.now - row[2] <= active_for and s.now - row[3] < c.window and row[5] + row[7] > 0 then
      active = active + 1
      if witness(c, row, why) then witnesses = witnesses + 1 end
    end
  end
  return active < 3 or witnesses >= 2
end

-- Once a second at most: rows of instances that are gone are dropped, the others counted. The keys' time to live is
-- renewed with it.
local function count_active(s, keys)
  if s.counted <= s.now and s.now - s.counted < second then return end
  s.counted, s.active, s.renew = s.now, 0, true
  local rows = redis.call('HGETALL', keys.i)
  for at = 1, #rows, 2 do
    local row = row_of(rows[at + 1])
    local silent = row and s.now - row[2] or 7 * active_for
    if silent <= active_for then s.active = s.active + 1 end
    if silent > 6 * active_for then redis.call('HDEL', keys.i, rows[at]) end
  end
end

-- Who told what in this period: a line each, after the numbers of an answer.
local function roster(s, c, keys)
  local lines, rows = {''}, redis.call('HGETALL', keys.i)
  for at = 1, #rows, 2 do
    local row = row_of(rows[at + 1])
    if row and row[4] == s.gen and s.now - row[3] < c.window and row[5] + row[7] > 0 then
      lines[#lines + 1] = rows[at] .. ' ' .. joined({s.now - row[2], row[5], row[6], row[7], row[8]})
    end
  end
  return table.concat(lines, '\n')
end

-- Rules -----------------------------------------------------------------------------------------------------------

local function outage(s, c, counts, trailing)
  local most, least = math.min(c.outage_rate, 0.999), math.min(c.error_rate, 0.998)
  local failure, success = math.log(most / least), math.log((1 - least) / (1 - most))
  local mixed, successes = counts[2] - trailing, counts[1] - counts[2]
  s.evidence = math.max(0, s.evidence + mixed * failure - successes * success) + trailing * failure
  if c.outage_threshold <= 0 then return false end
  s.evidence = math.min(s.evidence, c.outage_threshold)
  return s.evidence >= c.outage_threshold
end

local function unreachable(s, counts, trailing)
  local needed, span, fresh = 5, 2 * second, counts[5]
  if counts[1] > counts[2] then
    s.connects = {}
    fresh = math.min(fresh, trailing)
  end
  for _ = 1, math.min(fresh, needed) do
    s.connects[#s.connects + 1] = s.now
    if #s.connects > needed then table.remove(s.connects, 1) end
  end
  return fresh > 0 and #s.connects == needed and s.now - s.connects[1] <= span
end

local function judge(s, c, ask)
  local refused = ask.kind == 'server' and unreachable(s, ask.counts, ask.trailing)
  local out = outage(s, c, ask.counts, ask.trailing)
  if refused then return cause.unreachable end
  if out then return cause.outage end
  if trips(c, s.total[1], s.total[2], c.error_rate, c.error_z, true) then return cause.error_rate end
  if c.p99 > 0 and trips(c, s.total[3], s.total[4], p99_share, c.slow_z, false) then return cause.p99 end
  return cause.none
end

local function flush(s, c, keys, ask, row)
  local any = 0
  for part = 1, parts do any = any + ask.counts[part] end
  if any == 0 then return end
  window_add(s, c, keys, ask.counts)
  row_note(s, c, row, ask.counts, ask.trailing)
  s.good = s.good + ask.counts[1] - ask.counts[2]
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

-- Probes ----------------------------------------------------------------------------------------------------------

local unused, succeeded, failed, neutral = 1, 2, 3, 4  -- fates; 0 = used

local function member(token, instance, used) return text(token) .. ' ' .. instance .. (used and ' used' or '') end

local function settle(s, keys, instance, token, fate, slow)
  if s.state ~= half_open then return false end
  local was_used = false
  local expires = redis.call('ZSCORE', keys.p, member(token, instance, false))
  if not expires then
    was_used = true
    expires = redis.call('ZSCORE', keys.p, member(token, instance, true))
  end
  if not expires then return false end
  if fate == 0 then
    if not was_used then
      redis.call('ZREM', keys.p, member(token, instance, false))
      redis.call('ZADD', keys.p, expires, member(token, instance, true))
    end
    return true
  end
  redis.call('ZREM', keys.p, member(token, instance, was_used))
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
  local overdue = redis.call('ZRANGEBYSCORE', keys.p, '-inf', text(s.now))
  for _, each in ipairs(overdue) do
    if string.sub(each, -5) == ' used' then lost = lost + 1 end
    redis.call('ZREM', keys.p, each)
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
  local busy = redis.call('ZCARD', keys.p)
  local results = math.max(0, c.probes_needed - s.done)
  return math.max(0, math.min(c.probes_in_flight - busy, results - busy))
end

local function share(s, c) return math.max(1, math.ceil(c.probe_share * offered_in_second(s) - 1e-9)) end

local function grant(s, c, keys, ask)
  local recent = {}
  for _, at in ipairs(s.issued) do
    if at > s.now - second then recent[#recent + 1] = at end
  end
  s.issued = recent
  local number = math.min(ask.want, room(s, c, keys), math.max(0, share(s, c) - #recent))
  for _ = 1, number do
    s.token = s.token + 1
    s.leases[#s.leases + 1] = s.token
    s.issued[#s.issued + 1] = s.now
    redis.call('ZADD', keys.p, text(s.now + use_within + c.probe_timeout + grace),
      member(s.token, ask.instance, false))
  end
  if number > 0 then redis.call('EXPIRE', keys.p, 1200) end
end

local function next_lease(s, c, keys)
  if room(s, c, keys) == 0 then return -1 end
  local in_second, oldest = 0, nil
  for _, at in ipairs(s.issued) do
    if at > s.now - second then
      in_second = in_second + 1
      oldest = oldest or at
    end
  end
  return in_second < share(s, c) and 0 or oldest + second - s.now
end

-- The exchange ----------------------------------------------------------------------------------------------------

-- What this store knows may be less than an instance has seen: writes were lost in a failover, or all keys. Then the
-- instance's word is taken over. An instance that went on alone has only raised its generation; the state here, which
-- many keep, stands, above that generation.
local function join(s, keys, ask)
  local severity = {[closed] = 0, [half_open] = 1, [open] = 2}
  local behind = ask.seen > s.gen
  local split = ask.seen == s.gen and ask.gen == s.gen and severity[ask.state] > severity[s.state]
  if behind or split then
    s.gen = math.max(ask.seen, ask.gen)
    tell(s, ask.state, cause.joined, 0)
    s.state, s.since, s.reason = ask.state, s.now, cause.joined
    s['until'] = s.now + ask.remaining
    s.token = math.max(s.token, s.now)  -- tokens of before must not be taken for new ones
    begin_period(s, keys)
  elseif ask.gen > s.gen then
    s.gen = ask.gen
    enter(s, keys, s.state, cause.joined)
  end
end

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
  if ask.gen == s.gen then
    for at = 1, #ask.probes, 3 do
      if not settle(s, keys, ask.instance, ask.probes[at], ask.probes[at + 1], ask.probes[at + 2]) then
        s.stale = s.stale + 1
      end
    end
    judge_probes(s, c, keys, cause.probes_failed, ask.random)
  else
    s.stale = s.stale + #ask.probes / 3
  end
  if ask.gen == s.gen and s.state == closed and mode_of(s, c) ~= disabled then
    flush(s, c, keys, ask, row)
  else
    s.stale = s.stale + ask.counts[1]
  end
  offer(s, ask.offered + ask.counts[1])
end

local function answer(s, c, keys, ask)
  local mode = mode_of(s, c)
  local quarter = 4
  if s.ramping == 1 and s.state == closed and mode == enforce and c.ramp > 0 then
    quarter = math.floor((s.now - s.since) * 4 / c.ramp)
  end
  local ramp = quarter < 3 and quarter + 1 or 0
  local watch = (s.state ~= closed or ramp ~= 0 or s.hold >= 0) and 1 or 0
  local retry_after, lease_after = 0, -1
  if s.forced == 1 then
    retry_after = s.hold < 0 and c.cooldown_ns / 1000 or s.hold - s.now
  elseif s.state == open then
    retry_after = math.max(s['until'] - s.now, 0)
    lease_after = retry_after
  elseif s.state == half_open then
    lease_after = next_lease(s, c, keys)
  end
  local evidence = c.outage_threshold > 0 and s.evidence or 0
  local said = {
    s.gen, s.state, mode, s.forced, ramp, watch, s.now - s.since, retry_after, lease_after,
    s.total[1], s.total[2], s.total[3], s.total[4], s.total[5], evidence,
    redis.call('ZCARD', keys.p), s.done, s.failed, s.stale, s.reason,
    s.alone, s.active, s.expired, s.settings == ask.settings and 0 or 1, use_within, use_within + c.probe_timeout,
    #s.leases,
  }
  for _, token in ipairs(s.leases) do said[#said + 1] = token end
  for _, part in ipairs(s.news) do said[#said + 1] = part end
  return ask.roster and joined(said) .. roster(s, c, keys) or joined(said)
end

-- KEYS: s w i p. ARGV: instance, sequence; settings, their version, 1 if they are told for the first time; generation
-- of the report; generation last seen here, state and what is left of it as the instance knows them; counts and
-- trailing failures; offered; want; probes; order and hold, or nothing; kind; name; how to publish, and the channel;
-- random number; 1 to hear who contributed. A last argument takes the place of the server's time, for tests.
local function exchange(KEYS, ARGV)
  local keys = {s = KEYS[1], w = KEYS[2], i = KEYS[3], p = KEYS[4]}
  local said, seen = numbers(ARGV[8]), numbers(ARGV[7])
  local ask = {
    instance = ARGV[1], sequence = tonumber(ARGV[2]), settings = ARGV[3], version = tonumber(ARGV[4]),
    put = ARGV[5] == '1', gen = tonumber(ARGV[6]), seen = seen[1], state = seen[2], remaining = seen[3],
    counts = {said[1], said[2], said[3], said[4], said[5]}, trailing = said[6],
    offered = tonumber(ARGV[9]), want = tonumber(ARGV[10]), probes = numbers(ARGV[11]), order = numbers(ARGV[12]),
    kind = ARGV[13], name = ARGV[14], publish = ARGV[15], channel = ARGV[16], random = tonumber(ARGV[17]),
    roster = ARGV[18] == '1',
  }
  local reading
  if ARGV[19] then
    reading = tonumber(ARGV[19])
  else
    local clock = redis.call('TIME')
    reading = tonumber(clock[1]) * second + tonumber(clock[2])
  end

  local s = load(keys)
  if s.v > layout then
    return redis.error_reply('SWITCHGEARNEWER ' .. keys.s .. ' has layout ' .. s.v .. ', this library knows ' .. layout)
  end
  s.news, s.leases, s.alone, s.expired = {}, {}, 0, 0
  tick(s, reading)
  if s.settings == '' then s.settings, s.version = ask.settings, ask.version end
  local c = settings_of(s.settings)
  window_load(s, c, keys)
  local before = s.gen

  join(s, keys, ask)
  if ask.version > s.version or ask.put and ask.version == s.version then c = configure(s, c, keys, ask) end
  local row = row_of(redis.call('HGET', keys.i, ask.instance)) or {0, 0, s.now, s.gen, 0, 0, 0, 0, 0}
  -- A flush that timed out may have landed: the second time it says nothing new.
  local repeated = ask.sequence <= row[1]
  if #ask.order > 0 and not repeated then obey(s, c, keys, ask.order[1], ask.order[2]) end
  row[1], row[2] = math.max(row[1], ask.sequence), s.now
  pass_time(s, c, keys, ask.random)
  if not repeated then hear(s, c, keys, ask, row) end
  if ask.want > 0 and s.forced == 0 then
    if s.state == open and s.now >= s['until'] then enter(s, keys, half_open, cause.cooldown_over) end
    if s.state == half_open then grant(s, c, keys, ask) end
  end

  redis.call('HSET', keys.i, ask.instance, struct.pack(row_form, unpack(row, 1, 9)))
  count_active(s, keys)
  save(s, keys)
  if s.gen ~= before then redis.call(ask.publish, ask.channel, text(s.gen) .. ' ' .. state_names[s.state] .. ' ' .. ask.name) end
  return answer(s, c, keys, ask)
end

redis.register_function('switchgear_v1_exchange', exchange)
