local p = print
local function g(...) return ... end
local o = setmetatable({}, {__index = function(t, k) return k .. '!', 'more' end})
p(o.a, g(o.b, g(1, 2)), g(g(1, 2), o.c))
p(select('#', o.x), select('#', g(o.x, o.y)), (g(o.x)))
local t = {o.a, o.b, g(1, 2, 3)}
p(#t, t[1], t[2], t[5])
t = {g(1, 2), o.z, n = o.n}
p(#t, t[2], t.n)
local m = setmetatable({}, {__index = function(t, k)
  return function(self, ...) return k, self == t, select('#', ...) end
end})
p(m:foo(g(1, 2, 3)))
p(m:bar(), m.baz(m, nil))
local none = setmetatable({}, {__index = function() end, __add = function() end,
  __newindex = function() return 1, 2 end})
p(none.x, none + 1, select('#', none.x))
none.x = 5
p(rawget(none, 'x'))
local va = setmetatable({}, {__index = function(...) local a, b = ... return select('#', ...) .. b end,
  __unm = function(...) return select('#', ...) end, __add = function(...) return ... end})
p(va.k, -va, rawequal(va + 1, va), 1 + va)
-- variables captured by and within metamethods
local log = {}
local c = setmetatable({}, {__newindex = function(t, k, v)
  local x = v
  log[#log + 1] = function() x = x + 1 return k .. x end
end})
for i = 1, 3 do local j = i c['k' .. i] = j j = 100 end
p(log[1](), log[1](), log[2](), log[3]())
-- recursion, and values that live across
local fact = setmetatable({}, {__index = function(t, n) if n <= 1 then return 1 end
  local r = n * t[n - 1] rawset(t, n, r) return r end})
p(fact[10], rawget(fact, 5))
local function sum(n) local s = setmetatable({}, {__add = function(a, b)
  if b == 0 then return 0 end return b + (a + (b - 1)) end}) return s + n end
p(sum(10), sum(100))
p(pcall(sum, 300))
-- errors and their levels
p(pcall(function() return setmetatable({}, {__index = function() error('at', 2) end}).x end))
p(pcall(function() return 1 + setmetatable({}, {__add = function() error('at', 2) end}) end))
p(pcall(function()
  setmetatable({}, {__newindex = function() error('at', 3) end}).x = 1
end))
p(pcall(function() return setmetatable({}, {__index = function(t, k) return k.x.y end}).x end))
p(pcall(function() return setmetatable({}, {__index = string.rep}).x end))
p(pcall(function() return setmetatable({}, {__index = pcall}).x end))
p(pcall(function() return setmetatable({}, {__concat = pcall}) .. 1 end))
-- protected calls, coroutines and tail calls within
local prot = setmetatable({}, {__index = function(t, k) return select(2, pcall(error, k, 0)) end})
p(prot.oops, prot.again)
local gen = setmetatable({}, {__index = function(t, k)
  local co = coroutine.wrap(function() coroutine.yield(k) end)
  return co()
end})
p(gen.one, gen.two)
local tail = setmetatable({}, {__index = function(t, k) return g(k, k) end,
  __mul = function(a, b) return math.max(1, 2) end})
p(tail.call, tail * 2)
p(coroutine.wrap(function() return pcall(function() return setmetatable({}, {__index = function()
  coroutine.yield(1) end}).x end) end)())
-- chains
local a = setmetatable({}, {__index = o})
local b = setmetatable({}, {__index = a, __newindex = c})
b.k9 = 8
p(b.chain, log[4](), rawget(b, 'k9'))
for k, v in (setmetatable({}, {__call = function(self, s, i) i = i + 1
  if i < 4 then return i, self.x end end, __index = function() return 'dyn' end})), nil, 0 do
  p(k, v)
end
local cmp = setmetatable({}, {__lt = function() return nil end, __le = function() return 1 end})
local cmp2 = setmetatable({}, getmetatable(cmp))
p(cmp < cmp2, cmp <= cmp2, not (cmp > cmp2))
local s = ('x'):rep(3)
p(s:len(), ('abc').len, #s)
