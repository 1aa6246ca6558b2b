-- The authority over one scope, inside Redis: the same rules, in the same order, as src/breaker/authority.cpp, which
-- explains them. test/sim feeds both and compares after each step.
--
-- Keys of a scope, all with the hash tag of its server:
--   s  HASH  the state; TTL a day, renewed by every exchange
--   w  HASH  the window: T = head second and totals, 0..n = the slots
--   i  HASH  a row an instance: what it said last, for quorum and repeats
--   p  ZSET  leases of probes, scored by the moment at which they are taken back
-- Times are microseconds of the server's clock, made monotone for each scope.
--
-- Redis does one thing at a time, so what an exchange of a closed breaker costs is what a fleet may have. Most of it is
-- the interpreter's work: hence lookups that are kept, and text that is read only when it is needed.

-- Redis loads a library without Lua's own, so these are taken when the first function runs.
local call, floor, ceil, max, min, pack, unpack_from, match, format, concat
local small = {}  -- numbers as text

local function begin()
  call = redis.call
  floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
  pack, unpack_from = struct.pack, struct.unpack
  match, format, concat = string.match, string.format, table.concat
  for number = 0, 1023 do small[number] = format('%d', number) end
end

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
local function text(number)
  return small[number] or format(number % 1 == 0 and '%d' or '%.17g', number)
end

local function numbers(from)
  local all = {}
  if from == '' then return all end
  for word in string.gmatch(from, '%S+') do all[#all + 1] = tonumber(word) end
  return all
end

local function joined(list)
  local words = {}
  for at = 1, #list do words[at] = text(list[at]) end
  return concat(words, ' ')
end
