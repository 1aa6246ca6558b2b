-- Settings and what follows from them alone. It holds nothing that could not be worked out again from an exchange's
-- arguments, so it may live outside the keys.

local exact_up_to, most_tables = 4096, 64
local walks, walk_count = {}, 0

-- The exact binomial limit, a table for each pair of share and alpha, filled as far as it was asked.
local function walk_of(p, alpha)
  local name = text(p) .. ' ' .. text(alpha)
  local walk = walks[name]
  if not walk then
    if walk_count == most_tables then walks, walk_count = {}, 0 end
    walk = {tail = 0, edge = 1, k = 1, n = 0, limit = {[0] = 1}}
    walks[name] = walk
    walk_count = walk_count + 1
  end
  return walk
end

local function binomial_limit(n, p, alpha, z, walk)
  local known = walk.limit[n]
  if known then return known end
  if n > exact_up_to then
    local mean = n * p
    local skew = (z * z - 1) / 6 * (1 - 2 * p)
    return min(n + 1, ceil(mean + z * math.sqrt(mean * (1 - p)) + skew + 0.5))
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

local read_settings, read_count, most_settings = {}, 0, 256

local function settings_of(said)
  local known = read_settings[said]
  if known then return known end
  local n = numbers(said)
  local most, least = min(n[6], 0.999), min(n[2], 0.998)
  if read_count == most_settings then read_settings, read_count = {}, 0 end
  read_count = read_count + 1
  local c = {
    mode = n[1], error_rate = n[2], window = n[3], minimum_calls = n[4], alpha = n[5],
    outage_threshold = n[7], p99 = n[8], cooldown_ns = n[9], growth = n[10], max_cooldown_ns = n[11], jitter = n[12],
    probe_share = n[13], probes_in_flight = n[14], probes_needed = n[15], probe_failures_allowed = n[16],
    probe_timeout = n[17], ramp = n[18], error_z = n[19], slow_z = n[20], quorum = n[21],
    slots = floor(n[3] / second),
    failure_weight = math.log(most / least), success_weight = math.log((1 - least) / (1 - most)),
  }
  if c.alpha >= 0 then
    c.error_walk, c.slow_walk = walk_of(c.error_rate, c.alpha), walk_of(p99_share, c.alpha)
  end
  read_settings[said] = c
  return c
end

local function too_many_failures(c, n, count)
  if n < c.minimum_calls or n == 0 then return false end
  if c.alpha >= 0 then return count >= binomial_limit(n, c.error_rate, c.alpha, c.error_z, c.error_walk) end
  return count >= ceil(n * c.error_rate - 1e-9)
end

local function too_many_slow(c, n, count)
  if n < c.minimum_calls or n == 0 then return false end
  if c.alpha >= 0 then return count >= binomial_limit(n, p99_share, c.alpha, c.slow_z, c.slow_walk) end
  return count >= floor(n * p99_share + 1e-9) + 1
end
