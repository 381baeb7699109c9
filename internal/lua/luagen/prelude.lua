local log, fuel = {}, 400
local function cut(v)
  if type(v) == 'string' and #v > 60 then return string.sub(v, 1, 60) end
  return v
end
local function str(v)
  return (string.gsub(tostring(v), '0x%x+', 'ADDR'))
end
local function show(v, deep)
  if type(v) == 'string' then return string.format('%q', v) end
  if type(v) ~= 'table' then return str(v) end
  if deep > 2 then return '{..}' end
  local items, n, blind = {}, 0, false
  for k, e in next, v do
    n = n + 1
    if type(k) ~= 'string' and type(k) ~= 'number' and type(k) ~= 'boolean' then blind = true end
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
