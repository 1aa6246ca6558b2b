-- Counts of a window, in seconds, with their running total.

local parts = 5  -- calls, failures, timed, slow, connects

local slot_form, slot_size = '>IIIII', 20
local total_form, total_size = '>dddddd', 48

local function write_total(s)
  local total = s.total
  return pack(total_form, s.head, total[1], total[2], total[3], total[4], total[5])
end

local function slot_of(stored)
  if not stored or #stored ~= slot_size then return 0, 0, 0, 0, 0 end
  return unpack_from(slot_form, stored)
end

-- Drops the seconds that have left the window between `from` and now.
local function window_turn(s, c, keys, from)
  local old, total = {}, s.total
  for at = from + 1, s.head do old[#old + 1] = at % c.slots end
  for _, slot in ipairs(call('HMGET', keys.w, unpack(old))) do
    if slot then
      local held = {slot_of(slot)}
      for part = 1, parts do total[part] = total[part] - held[part] end
    end
  end
  call('HDEL', keys.w, unpack(old))
  call('HSET', keys.w, 'T', write_total(s))
  s.slot = false
end

local function window_load(s, c, keys)
  s.head = floor(s.now / second)
  s.total = {0, 0, 0, 0, 0}
  local stored = call('HMGET', keys.w, 'T', s.head % c.slots)
  local totals = stored[1]
  s.slot = stored[2]
  if not totals or #totals ~= total_size then return end
  local from, calls, failures, timed, slow, connects = unpack_from(total_form, totals)
  if s.head - from >= c.slots then
    call('DEL', keys.w)
    s.slot = false
    return
  end
  s.total = {calls, failures, timed, slow, connects}
  if s.head > from then window_turn(s, c, keys, from) end
end

local function window_add(s, c, keys, counts)
  local stored, total = s.slot, s.total
  local calls, failures, timed, slow, connects = slot_of(stored)
  for part = 1, parts do total[part] = total[part] + counts[part] end
  s.slot = pack(slot_form, calls + counts[1], failures + counts[2], timed + counts[3], slow + counts[4],
    connects + counts[5])
  call('HSET', keys.w, 'T', write_total(s), s.head % c.slots, s.slot)
  if not stored then call('EXPIRE', keys.w, ceil(2 * c.window / second)) end
end

local function window_clear(s, keys)
  call('DEL', keys.w)
  s.total = {0, 0, 0, 0, 0}
  s.slot = false
end

-- Calls offered in the last second, by its tenths: the present one, and pairs of an earlier one and its calls. They are
-- looked at while probes are handed out, so until then they are only written down.
local longest_offered = 400

local function offered_in_second(s)
  local to, sum, kept = floor(s.now / tenth), 0, {}
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
  local to = floor(s.now / tenth)
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
