local log, fuel = {}, 400
local function cut(v)
  if type(v) == 'string' and #v > 60 then return string.sub(v, 1, 60) end
  return v
end
local function str(v)
  return (string.gsub(tostring(v), '0x%x+', 'ADDR'))
end
local meta = getmetatable
local function getmetatable(v) -- but not that of all strings
  if type(v) == 'string' then return nil end
  return meta(v)
end
local function plain(v) -- Redis's pcall looks for a field err
  if type(v) == 'table' and getmetatable(v) ~= nil then return 'object' end
  return v
end
local function key(v) -- not one that is ordered by its address, or by a hash that Redis changed
  if type(v) == 'string' and #v > 31 then return string.sub(v, 1, 31) end
  if type(v) ~= 'string' and type(v) ~= 'number' and type(v) ~= 'boolean' then return 'key' end
  return v
end
local function ordered(t)
  if type(t) == 'table' then
    for k in next, t do
      if not rawequal(k, key(k)) then return {} end
    end
  end
  return t
end
local function show(v, deep)
  if type(v) == 'string' then
    return string.format('%q', (string.gsub(v, '0x%x%x%x%x%x%x+', 'ADDR')))
  end
  if type(v) ~= 'table' then return str(v) end
  if deep > 2 then return '{..}' end
  local items, n, blind = {}, 0, false
  for k, e in next, v do
    n = n + 1
    if not rawequal(k, key(k)) then blind = true end
    if n <= 12 then items[n] = '[' .. show(k, deep + 1) .. ']=' .. show(e, deep + 1) end
  end
  local body = blind and 'mixed' or table.concat(items, ',')
  local mark = getmetatable(v) and '*' or ''
  return mark .. '{' .. body .. ';' .. n .. ';' .. #v .. '}'
end
local function out(...)
  local line = {}
  for i = 1, select('#', ...) do line[i] = show((select(i, ...)), 0) end
  if #log < 300 then log[#log + 1] = table.concat(line, ' ') end
end
local function tick()
  fuel = fuel - 1
  if fuel < 0 then error('out of fuel', 0) end
  return true
end
local function caught(ok, ...)
  if ok then return ok, ... end
  return ok, (...) -- Redis's pcall adds a nil behind a table
end
local function once(f) -- as the handler of errors, also of its own
  local busy
  return function(...)
    if busy then return 'busy' end
    busy = true
    return f(...)
  end
end
