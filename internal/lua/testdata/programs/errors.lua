local p=print
local function e(f,...) p(pcall(f,...)) end
local t={}
local up={}
local nested={a={b={}}}
e(function() local x x() end)
e(function() x() end)
e(function() t.x() end)
e(function() t.x.y() end)
e(function() t:m() end)
e(function() up.a.b() end)
e(function() nested.a.b.c.d=1 end)
e(function() local a=1 a.b.c=1 end)
e(function() return t+1 end)
e(function() return 1+t end)
e(function() return t.x+1 end)
e(function() return x+1 end)
e(function() return 'a'+1 end)
e(function() local s='a' return s*2 end)
e(function() return -t end)
e(function() return #5 end)
e(function() local n=5 return #n end)
e(function() return #x end)
e(function() return #t.q end)
e(function() return t..'x' end)
e(function() return 'x'..t end)
e(function() return 'x'..t.q end)
e(function() local z return 'a'..'b'..z end)
e(function() local z return z..'b'..'c' end)
e(function() return 1 ..nil end)
e(function() return x..y end)
e(function() return 1<'2' end)
e(function() return t<t end)
e(function() return t<1 end)
e(function() return nil<1 end)
e(function() return t<=t end)
e(function() return 'a'>=1 end)
e(function() return true<false end)
e(function() return print<print end)
e(function() t[nil]=1 end)
e(function() t[0/0]=1 end)
e(function() return t[nil] end)
e(function() return (nil)[1] end)
e(function() local i='k' return up[i][i] end)
e(function() return (1)[2] end)
e(function() local k=5 t[k].z=1 end)
e(function() t[1][2]=3 end)
e(function() for i='a',2 do end end)
e(function() for i=1,{} do end end)
e(function() for i=1,2,'z' do end end)
e(function() for i=1,2,nil do end end)
e(function() for i='1','2' do p(i) end end)
e(function() for k in 5 do end end)
e(function() for k in nil do end end)
e(function() for k in pairs(nil) do end end)
e(function() for k in t do end end)
e(function() local a,b,c=1,2; c.x=1 end)
e(function() local function f() return nil end f().x=1 end)
e(function() (function() end)().x=1 end)
e(function() ('x').y.z=1 end)
e(function() ('x'):nope() end)
e(function() local s='abc' s:nope() end)
e(function() t.a.b:c() end)
e(function() string.nope() end)
e(function() math.floor('x') end)
e(function() ('x'):rep() end)
e(function() local f=math.floor f({}) end)
e(function() t.f=math.floor t.f{} end)
e(function() t.f=math.floor t:f() end)
e(function() t[1]=math.floor t[1]{} end)
e(function() return math.floor{} end)
e(function() error() end)
e(function() error(nil) end)
e(function() error('m',0) end)
e(function() error('m',1) end)
e(function() error('m',2) end)
e(function() error('m',3) end)
e(function() error({}) end)
e(function() error(1) end)
e(function() error(true) end)
local function lvl(n) error('lvl',n) end
local function l1(n) lvl(n) end
local function l2(n) l1(n) end
for i=0,8 do e(l2,i) e(function() l2(i) end) end
local function tl(n) return lvl(n) end
local function tl2(n) return tl(n) end
local function tl3(n) tl2(n) end
for i=0,8 do e(tl3,i) e(function() tl3(i) end) e(function() return tl3(i) end) end
-- multi-line
e(function()
 local x = 1 +
  t
end)
e(function()
  local y = {
   1, 2,
   t.x.y,
  }
end)
e(function()
 t.x(
 1
 )
end)
e(function()
 print(
  1,
  nil + 1
 )
end)
e(function()
 return t.a
   .b
   .c
end)
e(function() local a = t
 [1]
 [2] end)
-- upvalue names
local uv
e(function() uv() end)
e(function() uv.x=1 end)
e(function() return uv+1 end)
e(function() return uv..'x' end)
e(function() return #uv end)
e(function() uv.x.y=1 end)
e(function() return uv<1 end)
-- method/field/const
e(function() t['a b']() end)
e(function() t[1]() end)
e(function() t[1.5]() end)
e(function() t[true]() end)
e(function() local k='z' t[k]() end)
e(function() t.x.y.z() end)
e(function() t[t]() end)
-- and/or
e(function() local a (a or t.b)() end)
e(function() local a=false (a and t)() end)
e(function() return (t.x or t.y).z end)
e(function() return (t.x and t.y).z end)
e(function() local x = t.a or nil; x() end)
e(function() return (not t)() end)
-- call with __call
local c=setmetatable({},{__call=5})
e(function() c() end)
e(c)
e(function() local d=setmetatable({},{__call=setmetatable({},{__call=function() return 1 end})}) d() end)
e(setmetatable({},{__call=function(self,a) return a end}),7)
e(function() return setmetatable({},{__call=function(self,...) return select('#',...) end})(1,nil,nil) end)
-- metamethod errors
e(function() return setmetatable({},{__index=function(t,k) error('idx '..k) end}).foo end)
e(function() return setmetatable({},{__index=5}).foo end)
e(function() setmetatable({},{__newindex=5}).foo=1 end)
e(function() return setmetatable({},{__index=function(t,k) error('idx '..k,2) end}).foo end)
e(function() return setmetatable({},{__add=5})+1 end)
e(function() return setmetatable({},{__concat=5})..1 end)
e(function() return -setmetatable({},{__unm={}}) end)
e(function() return setmetatable({},{__lt=5})<setmetatable({},{__lt=5}) end)
local loop={} setmetatable(loop,{__index=loop})
e(function() return loop.x end)
local l2={} setmetatable(l2,{__newindex=l2})
e(function() l2.x=1 end)
-- xpcall
p(xpcall(function() local x x() end,function(m) return 'H '..m end))
p(xpcall(function() error({}) end,function(m) return type(m) end))
p(xpcall(function() error('a') end,function(m) error('b') end))
p(xpcall(function() error('a') end,error))
p(xpcall(function() error('a') end,pcall))
p(xpcall(function() error('a') end,function(m) return xpcall(error,function(x) return 'inner' end) end))
local n=0
p(xpcall(function() error('a') end,function(m) n=n+1 if n<5 then error('again '..n) end return 'ok '..m..n end))
p(xpcall(function() error('a') end,function() return 1,2,3 end))
p(xpcall(function() error('a') end,function() end))
p(select('#',xpcall(function() error('a') end,function() end)))
p(xpcall(function(...) return select('#',...) end,print,1,2))
p(xpcall(5,function(m) return 'H '..m end))
p(xpcall(nil,function(m) return 'H '..tostring(m) end))
p(xpcall(setmetatable({},{__call=function() return 'called' end}),print))
p(xpcall(function() xpcall(function() error('in') end,function(m) return 'h1 '..m end) error('out') end,function(m) return 'h2 '..m end))
p(pcall(xpcall,error,function(m) return 'nested' end))
p(pcall(pcall,error,'e'))
p(pcall(pcall,pcall,pcall,error,'deep'))
p(pcall(error))
p(pcall(error,nil))
p(pcall(error,'x',0))
p(pcall(error,'x',1))
p(pcall(error,'x',2))
p(select('#',pcall(error)))
p(pcall(function() return 1,nil,3,nil end))
p(select('#',pcall(function() return 1,nil,3,nil end)))
p(pcall(next,{},'nokey'))
p(pcall(ipairs))
p(pcall(rawset,{},nil,1))
p(pcall(setmetatable,1,{}))
p(pcall(string.rep))
p(pcall(string.rep,'x',nil))
-- closing upvalues on error
local fs={} pcall(function() local a=1 fs[1]=function() a=a+1 return a end error('x') end)
p(fs[1](),fs[1]())
local ok,f=xpcall(function() local a=10 fs[2]=function() a=a+1 return a end error('x') end,function() return fs[2]() end)
p(ok,f,fs[2]())
-- stack use after error
for i=1,3 do local a,b,c=i,i*2,i*3 pcall(function() local x,y,z=9,9,9 error('q') end) p(a,b,c) end
local function va(...) local a,b=... pcall(error,'z') return a,b,... end
p(va(1,2,3))

-- a name from before another loop
do
  local co, up = coroutine.create(function() end), 1
  print(pcall(function()
    local h = {nil, nil, {up}}
    for i = 3, 1 do end
    for x in co do end
  end))
end
