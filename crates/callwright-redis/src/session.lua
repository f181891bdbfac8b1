-- One step of one session, on the server: what `session.rs` and `round.rs` do, in the same order and by the same
-- names. `tests/ledger` plays the same conversations on both and compares every reply.
--
-- KEYS[1]  the session: a hash with `head`, `e:FINGERPRINT` per call, `t:TOOL` per tool and `p:NUMBER` per outcome of
--          the round that is not over yet, each as JSON, so that a step reads and writes only what it is about; and the last
--          steps, so that one whose reply was lost is not taken twice: `s:STEP` holds its result, `r:SLOT` its name
-- ARGV     the operation (open, close, withdraw, answer, save, resume), its argument as JSON, the seconds after which a session is forgotten, the
--          name of the step

local key, operation, argument, lifetime, step = KEYS[1], ARGV[1], cjson.decode(ARGV[2]), ARGV[3], ARGV[4]

-- How many steps of a session are remembered. A step is tried again within seconds; a round has fewer calls than this.
local STEPS = 64
-- `MOST_ANSWERS` in `session.rs`.
local MOST_ANSWERS = 100
-- `Moment::FIRST_NAME`.
local FIRST_NAME = '9223372036854775808'

local COUNTERS = {
  'ordinal', 'epoch', 'changes', 'news', 'idle_rounds', 'unknown_rounds', 'refused_rounds', 'refusals', 'calls',
  'steps', 'pending',
}
local ENTRY = {failed = false, streak = 0, epoch = 0, changes = 0, calls = 0, transient = 0, ordinal = 0,
  living = false, waits = false, permitted = false, done = 0, news = 0, waited = 0, last = ''}
local TOOL = {calls = 0, streak = 0, news = 0, last = ''}
local KINDS = {ok = 1, error = 2, refused = 3, unknown = 4}

local function with_defaults(text, defaults)
  local value = text and cjson.decode(text) or {}
  for name, default in pairs(defaults) do
    if value[name] == nil then value[name] = default end
  end
  return value
end

local head, loaded, changed

local function load(text)
  head = text and cjson.decode(text) or {}
  for _, name in ipairs(COUNTERS) do head[name] = head[name] or 0 end
  head.allowed_once = head.allowed_once or {}
  head.allowed_tools = head.allowed_tools or {}
  loaded, changed = {}, {}
end

local function fetch(field, defaults)
  if not loaded[field] then
    loaded[field] = with_defaults(redis.call('HGET', key, field), defaults)
  end
  return loaded[field]
end

local function entry_of(fingerprint) return fetch('e:' .. fingerprint, ENTRY) end
local function tool_of(name) return fetch('t:' .. name, TOOL) end
local function touch(field) changed[field] = true end

local function store()
  for _, list in ipairs({'allowed_once', 'allowed_tools'}) do
    -- An empty table would be written as an object.
    if #head[list] == 0 then head[list] = nil end
  end
  redis.call('HSET', key, 'head', cjson.encode(head))
  for field in pairs(changed) do redis.call('HSET', key, field, cjson.encode(loaded[field])) end
  redis.call('EXPIRE', key, lifetime)
end

local function push_pending(outcome)
  head.pending = head.pending + 1
  redis.call('HSET', key, 'p:' .. head.pending, cjson.encode(outcome))
end

local function take_pending()
  local pending = {}
  for number = 1, head.pending do
    local field = 'p:' .. number
    pending[number] = cjson.decode(redis.call('HGET', key, field))
    redis.call('HDEL', key, field)
  end
  head.pending = 0
  return pending
end

-- Remembers the result of a step in place of the oldest.
local function remember_step(step, result)
  local slot = 'r:' .. head.steps
  head.steps = (head.steps + 1) % STEPS
  local oldest = redis.call('HGET', key, slot)
  if oldest then redis.call('HDEL', key, 's:' .. oldest) end
  redis.call('HSET', key, slot, step, 's:' .. step, result)
end

-- Forgets everything but the last steps.
local function forget()
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local kind = field:sub(1, 2)
    if kind ~= 's:' and kind ~= 'r:' then redis.call('HDEL', key, field) end
  end
  local steps = head.steps
  load(nil)
  head.steps = steps
end

local function contains(list, value)
  for at, item in ipairs(list) do
    if item == value then return at end
  end
  return nil
end

-- The end of a round ------------------------------------------------------------------------------------------------

local function before(one, next)
  if one.fingerprint ~= next.fingerprint then return one.fingerprint < next.fingerprint end
  if one.digest ~= next.digest then return one.digest < next.digest end
  if one.kind ~= next.kind then return KINDS[one.kind] < KINDS[next.kind] end
  if one.changes ~= next.changes then return next.changes end
  if one.waits ~= next.waits then return next.waits end
  if one.tool ~= next.tool then return one.tool < next.tool end
  return one.last < next.last
end

local function groups_of(pending)
  local groups = {}
  for _, outcome in ipairs(pending) do
    local group = groups[#groups]
    if group and group[1].fingerprint == outcome.fingerprint then
      group[#group + 1] = outcome
    else
      groups[#groups + 1] = {outcome}
    end
  end
  return groups
end

local function is_same(entry, group)
  for _, outcome in ipairs(group) do
    if entry.outcome ~= outcome.digest then return false end
  end
  return true
end

local function add(summary, group, entry)
  local same, waits, ran, worked = is_same(entry, group), entry.living, false, false
  for _, outcome in ipairs(group) do
    waits = waits or outcome.waits
    ran = ran or outcome.kind == 'ok' or outcome.kind == 'error'
    worked = worked or outcome.kind == 'ok'
    summary.unknown = summary.unknown or outcome.kind == 'unknown'
  end
  summary.ran = summary.ran or ran
  summary.repeats = summary.repeats or (ran and same and not waits)
  summary.acted = summary.acted or (worked and group[1].changes)
  if ran and not same then
    summary.fresh = true
    summary.news = summary.news or worked
    summary.changed = summary.changed or (worked and group[1].changes)
  end
end

local function count_errors(pending, news)
  local order, by_tool = {}, {}
  for _, outcome in ipairs(pending) do
    if outcome.kind ~= 'unknown' then
      if not by_tool[outcome.tool] then
        by_tool[outcome.tool] = {}
        order[#order + 1] = outcome.tool
      end
      local group = by_tool[outcome.tool]
      group[#group + 1] = outcome
    end
  end
  for _, name in ipairs(order) do
    local group, same_error = by_tool[name], true
    local digest = group[1].digest
    for _, outcome in ipairs(group) do
      same_error = same_error and outcome.kind ~= 'ok' and outcome.digest == digest
    end
    local tool = tool_of(name)
    if not same_error then
      tool.streak = 0
    elseif tool.error == digest and tool.news == head.news and not news then
      tool.streak = tool.streak + 1
    else
      tool.streak = 1
    end
    tool.error = same_error and digest or nil
    tool.last = same_error and group[1].last or ''
    tool.news = head.news + (news and 1 or 0)
    touch('t:' .. name)
  end
end

local function note(entry, group)
  local last = group[#group]
  local known = entry.streak > 0 and entry.epoch == head.epoch
  local failed = last.kind ~= 'ok'
  if is_same(entry, group) then
    entry.streak = known and entry.streak + 1 or 1
  else
    entry.living = entry.living or (known and not failed and not entry.failed)
    if entry.outcome and not failed then entry.calls = #group end
    entry.streak = 1
  end
  entry.outcome = last.digest
  entry.failed = failed
  entry.waits = last.waits and not failed
  for _, outcome in ipairs(group) do
    if outcome.kind == 'ok' then entry.done = entry.done + 1 end
  end
  entry.transient = 0
  entry.ordinal = head.ordinal
  entry.last = last.last
end

local function end_round()
  local pending = take_pending()
  table.sort(pending, before)
  local groups, summary = groups_of(pending), {}
  for _, group in ipairs(groups) do add(summary, group, entry_of(group[1].fingerprint)) end
  if summary.fresh then
    head.idle_rounds = 0
  elseif summary.repeats then
    head.idle_rounds = head.idle_rounds + 1
  end
  if summary.news then
    head.refused_rounds = 0
  elseif head.refused_now then
    head.refused_rounds = head.refused_rounds + 1
  end
  head.refused_now = nil
  if summary.unknown then
    head.unknown_rounds = head.unknown_rounds + 1
  elseif summary.ran then
    head.unknown_rounds = 0
  end
  count_errors(pending, summary.news)
  if summary.news then head.news = head.news + 1 end
  if summary.acted then head.changes = head.changes + 1 end
  local epoch = head.epoch + (summary.changed and 1 or 0)
  for _, group in ipairs(groups) do
    local entry = entry_of(group[1].fingerprint)
    note(entry, group)
    entry.news = head.news
    entry.changes = head.changes
    if summary.changed then entry.streak = 1 end
    entry.epoch = epoch
    touch('e:' .. group[1].fingerprint)
  end
  head.epoch = epoch
end

-- Numbers of 64 bits are texts here: a double would merge them.
local function is_less(one, other)
  if #one ~= #other then return #one < #other end
  return one < other
end

local function begins_turn(new, current)
  if new == nil or new == current then return false end
  if current == nil or is_less(current, new) then return true end
  return not is_less(new, FIRST_NAME)
end

local function enter(at)
  if begins_turn(at.turn, head.turn) then
    if head.ordinal > 0 then
      local ordinal, allowed_once, allowed_tools = head.ordinal, head.allowed_once, head.allowed_tools
      forget()
      head.ordinal, head.allowed_once, head.allowed_tools = ordinal, allowed_once, allowed_tools
    end
    head.turn = at.turn
  end
  if at.round == nil or at.round ~= head.round then
    end_round()
    head.round = at.round
    head.ordinal = head.ordinal + 1
  end
end

-- Decisions ---------------------------------------------------------------------------------------------------------

local function streak_with(fingerprint, digest)
  local entry = entry_of(fingerprint)
  if entry.epoch == head.epoch and entry.outcome == digest then return entry.streak + 1 end
  return 1
end

local function tool_errors(name, digest)
  local tool = tool_of(name)
  if tool.news == head.news and (digest == nil or tool.error == digest) then return tool.streak end
  return 0
end

local function facts(ask)
  local entry = entry_of(ask.fingerprint)
  local ruling = {
    turn = head.turn,
    refused_rounds = head.refused_rounds,
    turn_calls = head.calls + 1,
    tool_calls = tool_of(ask.tool).calls + 1,
    unknown_rounds = head.unknown_rounds + 1,
    error_rounds = tool_errors(ask.tool, ask.refused and ask.refused.digest),
    rounds_ago = 0, failed = false, streak = 0,
  }
  if entry.outcome then
    ruling.rounds_ago = head.ordinal - entry.ordinal
    ruling.failed = entry.failed
    ruling.streak = entry.epoch == head.epoch and entry.streak or 0
  end
  return ruling
end

local function last_bound(limits)
  if head.stopped then return 'stopped', 0 end
  if head.refusals >= limits.most_refusals then return 'refusals', head.refusals end
end

local function is_current(entry, spends)
  local may_be_paid = spends and not entry.failed
  local current = entry.changes == head.changes or may_be_paid
  return current and not (entry.failed and entry.news ~= head.news)
end

local function spent(entry, limits, waits)
  local budget = waits and math.max(limits.budget, limits.polling) or limits.budget
  if limits.spends and entry.done > 0 and entry.done >= budget then return 'budget', entry.done end
  local calls = is_current(entry, limits.spends) and entry.calls or 0
  if entry.epoch == head.epoch and entry.transient >= limits.transient then return 'transient', entry.transient end
  if calls >= budget then return 'budget', calls end
end

local function objection(ask, ruling)
  local limits, entry = ask.limits, entry_of(ask.fingerprint)
  local reason, count = last_bound(limits)
  if reason then return reason, count end
  if ruling.turn_calls > limits.turn_calls then return 'turn_calls', head.calls end
  if contains(head.allowed_tools, ask.tool) or contains(head.allowed_once, ask.fingerprint) then return end
  local waits = limits.poller or ((entry.living or entry.waits) and not limits.once)
  local repeats = limits.repeated_result
  reason = 'repeated_result'
  if ruling.failed then
    reason, repeats = 'repeated_call', limits.repeated_call
  elseif waits then
    repeats = limits.polling
  end
  if ruling.streak > 0 then
    if ruling.streak >= repeats - 1 then return reason, ruling.streak end
    local alone = ruling.streak > head.idle_rounds
    if not waits and not alone and head.idle_rounds >= limits.cycle - 1 then return 'cycle', head.idle_rounds end
  end
  reason, count = spent(entry, limits, waits)
  if reason then return reason, count end
  if ruling.error_rounds > 0 and ruling.error_rounds >= limits.error_streak - 1 then
    return 'error_streak', ruling.error_rounds
  end
  if ruling.tool_calls > limits.tool_calls then return 'tool_calls', ruling.tool_calls - 1 end
end

local function count_refused(ask, ruling)
  local limits, refused = ask.limits, ask.refused
  head.calls = head.calls + 1
  ruling.streak = streak_with(ask.fingerprint, refused.digest)
  if head.calls <= limits.turn_calls then
    push_pending({
      fingerprint = ask.fingerprint, digest = refused.digest, tool = ask.tool, last = '',
      kind = refused.unknown_tool and 'unknown' or 'refused', changes = false, waits = false,
    })
  end
  local reason, count = last_bound(limits)
  if reason then return reason, count end
  if ruling.turn_calls > limits.turn_calls then return 'turn_calls', ruling.turn_calls - 1 end
  if refused.unknown_tool and ruling.unknown_rounds >= limits.unknown_tools then
    return 'unknown_tools', ruling.unknown_rounds
  end
  if ruling.streak >= limits.repeated_refusal then return 'repeated_call', ruling.streak end
  if ruling.error_rounds + 1 >= limits.error_streak then return 'error_streak', ruling.error_rounds + 1 end
end

local function admit(ask)
  head.calls = head.calls + 1
  local once = contains(head.allowed_once, ask.fingerprint)
  if once then table.remove(head.allowed_once, once) end
  local tool, entry = tool_of(ask.tool), entry_of(ask.fingerprint)
  tool.calls = tool.calls + 1
  if not is_current(entry, ask.limits.spends) then entry.calls = 0 end
  if entry.epoch ~= head.epoch then
    entry.epoch, entry.streak, entry.transient = head.epoch, 0, 0
  end
  entry.permitted = once ~= nil
  entry.changes = head.changes
  entry.news = head.news
  entry.calls = entry.calls + 1
  touch('t:' .. ask.tool)
  touch('e:' .. ask.fingerprint)
end

-- Operations --------------------------------------------------------------------------------------------------------

local function open(ask)
  enter(ask.at)
  local ruling = facts(ask)
  local reason, count
  if ask.refused then
    reason, count = count_refused(ask, ruling)
  else
    reason, count = objection(ask, ruling)
  end
  if reason then
    head.refusals = head.refusals + 1
    head.refused_now = true
    ruling.last = (reason == 'error_streak' and tool_of(ask.tool) or entry_of(ask.fingerprint)).last
    ruling.reason, ruling.count = reason, count
    ruling.refused_rounds = ruling.refused_rounds + 1
  elseif not ask.refused then
    admit(ask)
  end
  return ruling
end

local function remember(allowed, new)
  if contains(allowed, new) then return end
  if #allowed >= MOST_ANSWERS then table.remove(allowed, 1) end
  allowed[#allowed + 1] = new
end

local function close(report)
  if report.turn ~= head.turn then return {streak = 0} end
  local streak, entry = streak_with(report.fingerprint, report.digest), entry_of(report.fingerprint)
  if report.success == 'transient' then
    if entry.transient == 0 or entry.waited ~= head.ordinal then
      entry.transient, entry.waited = entry.transient + 1, head.ordinal
    end
    entry.calls = math.max(entry.calls - 1, 0)
    entry.last = report.beginning
    if entry.permitted then
      entry.permitted = false
      remember(head.allowed_once, report.fingerprint)
    end
    touch('e:' .. report.fingerprint)
    return {transient = entry.transient}
  end
  local living, same = entry.living or report.waits, entry.outcome == report.digest
  local failed = report.success == 'error'
  local errors = failed and tool_errors(report.tool, report.digest) + 1 or 0
  push_pending({
    fingerprint = report.fingerprint, digest = report.digest, tool = report.tool, last = report.beginning,
    kind = failed and 'error' or 'ok', changes = report.changes, waits = report.waits,
  })
  return {
    streak = streak,
    idle_rounds = same and not living and head.idle_rounds + 1 or 0,
    error_rounds = errors,
    living = living,
  }
end

-- An `open` that its caller gave up on, and whose call does not run: takes back what it counted, or keeps it from being
-- counted when it comes after all.
local function withdraw(ask)
  local withdrawn = step:match('^(.*)/withdraw$')
  local taken = redis.call('HGET', key, 's:' .. withdrawn)
  if not taken then
    remember_step(withdrawn, '{}')
    return {}
  end
  local ruling = cjson.decode(taken)
  if ruling.reason == nil and ruling.turn == head.turn then
    local tool, entry = tool_of(ask.tool), entry_of(ask.fingerprint)
    head.calls = math.max(head.calls - 1, 0)
    tool.calls = math.max(tool.calls - 1, 0)
    entry.calls = math.max(entry.calls - 1, 0)
    if entry.permitted then
      entry.permitted = false
      remember(head.allowed_once, ask.fingerprint)
    end
    touch('t:' .. ask.tool)
    touch('e:' .. ask.fingerprint)
  end
  return {}
end

local function answer(reply)
  if reply == 'stop' then
    head.stopped = true
  elseif reply.allow_once then
    remember(head.allowed_once, reply.allow_once)
  elseif reply.allow_tool then
    remember(head.allowed_tools, reply.allow_tool)
  end
  return {streak = 0}
end

if operation == 'save' then return redis.call('HGETALL', key) end
if operation == 'resume' then
  redis.call('DEL', key)
  for _, field in ipairs(argument) do redis.call('HSET', key, field[1], field[2]) end
  redis.call('EXPIRE', key, lifetime)
  return 'resumed'
end
local taken = redis.call('HGET', key, 's:' .. step)
if taken then return taken end
load(redis.call('HGET', key, 'head'))
local operations = {open = open, close = close, withdraw = withdraw, answer = answer}
local result = cjson.encode(operations[operation](argument))
remember_step(step, result)
store()
return result
