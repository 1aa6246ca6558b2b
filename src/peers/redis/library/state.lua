-- The state of a scope between two exchanges.
--
-- What people may want to read stands in fields of its own, as text, once it is not what it was at first. What changes
-- with every exchange is packed into one field: its text would cost more than all the rest.

local at_first = {
  v = layout, state = closed, gen = 0, since = 0, ['until'] = 0, reason = 0, streak = 0, ramping = 0, quiet = 0,
  forced = 0, observed = 0, hold = -1, connects = '', offered = '', settings = '', version = 0, done = 0, failed = 0,
  slow = 0, neutral = 0, token = 0, issued = '', active = 0,
}
local is_text = {connects = true, offered = true, issued = true, settings = true}
local written_as = {state = state_names, reason = causes}
local read_as = {state = state_numbers, reason = cause}
local always_written = {v = true, gen = true, state = true}
local packed = '>dddddddd'
local packed_size = 64
local unwritten = {__index = at_first}

-- What is set in the result is what the exchange changes; the rest shines through from what was stored, or from what
-- is so at first.
local function load(keys)
  local found = call('HGETALL', keys.s)
  local was = setmetatable({}, unwritten)
  for at = 1, #found, 2 do
    local name, value = found[at], found[at + 1]
    local words = read_as[name]
    if words then
      was[name] = words[value]
    elseif is_text[name] or name == 'x' then
      was[name] = value
    else
      was[name] = tonumber(value)
    end
  end
  local s = setmetatable({}, {__index = was})
  s.was, s.fresh = was, rawget(was, 'gen') == nil
  local x = was.x
  if x and #x == packed_size then
    s.reading, s.now, s.evidence, s.good, s.tenth, s.in_tenth, s.counted, s.stale = unpack_from(packed, x)
  else
    s.reading, s.now, s.evidence, s.good, s.tenth, s.in_tenth, s.counted, s.stale = 0, 0, 0, 0, 0, 0, 0, 0
  end
  return s
end

local function save(s, keys)
  local was = s.was
  if s.fresh then
    for name in pairs(always_written) do s[name] = s[name] end
  end
  local changed = {
    'x', pack(packed, s.reading, s.now, s.evidence, s.good, s.tenth, s.in_tenth, s.counted, s.stale),
  }
  for name, value in pairs(s) do
    if at_first[name] and (value ~= was[name] or s.fresh and always_written[name]) then
      local words = written_as[name]
      changed[#changed + 1] = name
      changed[#changed + 1] = words and words[value] or is_text[name] and value or text(value)
    end
  end
  call('HSET', keys.s, unpack(changed))
  if s.renew then
    call('EXPIRE', keys.s, day)
    call('EXPIRE', keys.i, 600)
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
