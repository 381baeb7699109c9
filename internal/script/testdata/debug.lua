local a = 1
local t = {1,2,x='y',{3}}
local function f(n)
  local z = n * 2
  redis.debug('in f', z, t)
  return z
end
local r = f(a)
redis.call('get', KEYS[1])
if a == 1 then redis.breakpoint() end
local last = 'end'
return {r}
