-- Who takes part, and who sees a fault.

local longest_name, most_in_roster = 200, 200
local row_form, row_size = '>ddddIIIII', 52

local function row_of(stored)
  if not stored or #stored ~= row_size then return nil end
  return {unpack_from(row_form, stored)}
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

-- A row begins anew with the first calls after a window; until they come, it still tells who is at work.
local function has_part(s, c, row) return row[4] == s.gen and s.now - row[3] < 2 * c.window and row[5] + row[7] > 0 end

-- With three instances at work, one alone does not open the breaker for all: it may be the one that is sick.
local function quorum(s, c, keys, ask, mine, why)
  local active, witnesses = 0, 0
  local all, rows = {mine}, call('HGETALL', keys.i)
  for at = 1, #rows, 2 do
    if rows[at] ~= ask.instance then all[#all + 1] = row_of(rows[at + 1]) end
  end
  for _, row in ipairs(all) do
    if has_part(s, c, row) and s.now - row[2] <= active_for then
      active = active + 1
      if witness(c, row, why) then witnesses = witnesses + 1 end
    end
  end
  return active < 3 or witnesses >= min(c.quorum, active)
end

-- Once a second at most: rows of instances that are gone are dropped, the others counted. The keys' time to live is
-- renewed with it.
local function count_active(s, keys)
  if s.counted <= s.now and s.now - s.counted < second then return end
  local active = 0
  local rows = call('HGETALL', keys.i)
  for at = 1, #rows, 2 do
    local row = row_of(rows[at + 1])
    local silent = row and s.now - row[2] or 7 * active_for
    if silent <= active_for then active = active + 1 end
    if silent > 6 * active_for then call('HDEL', keys.i, rows[at]) end
  end
  s.counted, s.active, s.renew = s.now, active, true
end

-- Who told what in this period, after the numbers of an answer.
local function roster(s, c, keys)
  local lines, rows = {}, call('HGETALL', keys.i)
  for at = 1, #rows, 2 do
    local row, name = row_of(rows[at + 1]), rows[at]
    if row and has_part(s, c, row) and #name <= longest_name and #lines < most_in_roster then
      lines[#lines + 1] = pack('>dddddd', max(0, s.now - row[2]), row[5], row[6], row[7], row[8], #name) .. name
    end
  end
  return pack('>d', #lines) .. concat(lines)
end
