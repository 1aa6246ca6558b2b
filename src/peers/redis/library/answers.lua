-- Answers that replicas keep for each other. Each question has its place on one of a few shelves.
--
-- Keys of a shelf, all with its own hash tag; they go with the last answer on it:
--   v  HASH    digest of the question -> moment at which the answer was given, a blank, the answer
--   i  ZSET    the digests, scored by the moment at which their answers expire
--   b  STRING  bytes of all answers, with what each costs beside its text
-- Times are milliseconds of the server's clock. Where it was put back, answers from then are not given.

local each_costs = 256
local most_dropped = 256  -- by one call: Redis does one thing at a time

local function clock_ms(given)
  if given then return tonumber(given) end
  local clock = call('TIME')
  return clock[1] * 1000 + floor(clock[2] / 1000)
end

local function moment_of(value)
  local digits, at = match(value, '^(%d+) ()')
  return tonumber(digits), at
end

local function cost_of(keys, digest)
  return call('HSTRLEN', keys.v, digest) + each_costs
end

-- Bytes on the shelf. One of which a key was evicted, or was written by somebody else, is cleared.
local function bytes_on(keys)
  -- A key that is of another sort is somebody else's, and ends the call before anything is written.
  local count, listed, counted = call('HLEN', keys.v), call('ZCARD', keys.i), tonumber(call('GET', keys.b) or 0)
  local sound = counted and counted >= count * each_costs and counted < 2 ^ 53
  if count == listed and sound and (count > 0 or counted == 0) then return counted end
  call('UNLINK', keys.v, keys.i, keys.b)
  return 0
end

local function remove(keys, digest)
  local freed = cost_of(keys, digest)
  call('HDEL', keys.v, digest)
  call('ZREM', keys.i, digest)
  return freed
end

-- What has expired goes, and then what expires first, until there is room. How many bytes that freed, and whether it
-- was enough.
local function make_room(keys, bytes, most, now)
  local freed = 0
  for _ = 1, most_dropped do
    local first = call('ZRANGE', keys.i, 0, 0, 'WITHSCORES')
    local expired = first[2] and tonumber(first[2]) <= now
    if not first[1] or not expired and bytes - freed <= most then break end
    freed = freed + remove(keys, first[1])
  end
  return freed, bytes - freed <= most
end

-- All keys live as long as the answer that expires last.
local function close_shelf(keys, bytes)
  local last = tonumber(call('ZRANGE', keys.i, -1, -1, 'WITHSCORES')[2])
  if not last or last <= 0 or last >= 2 ^ 53 then
    call('UNLINK', keys.v, keys.i, keys.b)
    return
  end
  local at = format('%d', last)
  call('SET', keys.b, format('%d', bytes), 'PXAT', at)
  call('PEXPIREAT', keys.v, at)
  call('PEXPIREAT', keys.i, at)
end

-- KEYS: v i b. ARGV: digest, answer, its age, how long it is to be kept, most bytes of a shelf. A last argument takes
-- the place of the server's time, for tests. 1 if it was put there, else 0.
local function put_answer(KEYS, ARGV)
  if not floor then begin() end
  local keys = {v = KEYS[1], i = KEYS[2], b = KEYS[3]}
  local digest, age, life, most = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  local now = clock_ms(ARGV[6])
  local bytes = bytes_on(keys)
  local before = call('HGET', keys.v, digest)
  if before then
    -- A call that was overtaken must not put its older answer in the place of a newer one.
    local given = moment_of(before)
    if given and given <= now and given > now - age then return 0 end
    bytes = bytes - remove(keys, digest)
  end
  local value = format('%d ', now - age) .. ARGV[2]
  local cost = #value + each_costs
  local wanted = cost <= most and life > 0
  local freed, fits = make_room(keys, bytes, wanted and most - cost or most, now)
  bytes = bytes - freed
  if wanted and fits then
    call('HSET', keys.v, digest, value)
    call('ZADD', keys.i, format('%d', now + life), digest)
    bytes = bytes + cost
  end
  close_shelf(keys, bytes)
  return wanted and fits and 1 or 0
end

-- KEYS: v. ARGV: digest, greatest age. A last argument as above. Age and answer, or nothing.
local function find_answer(KEYS, ARGV)
  if not floor then begin() end
  local value = call('HGET', KEYS[1], ARGV[1])
  if not value then return false end
  local given, at = moment_of(value)
  local age = given and clock_ms(ARGV[3]) - given
  if not age or age < 0 or age > tonumber(ARGV[2]) then return false end
  return {age, string.sub(value, at)}
end

redis.register_function('switchgear_v1_put_answer', put_answer)
redis.register_function{function_name = 'switchgear_v1_find_answer', callback = find_answer, flags = {'no-writes'}}
