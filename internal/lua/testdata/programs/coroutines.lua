local function p(...) print(...) end
-- basic
local co = coroutine.create(function(a,b) p('start',a,b) local c=coroutine.yield(a+b) p('got',c) local d,e=coroutine.yield(c*2) p(d,e) return 'end',nil,3 end)
p(coroutine.resume(co,1,2))
p(coroutine.status(co))
p(coroutine.resume(co,10))
p(coroutine.resume(co,'x','y'))
p(coroutine.status(co))
p(coroutine.resume(co))
-- many values
local co=coroutine.wrap(function(...) local n=select('#',...) while true do n=select('#',coroutine.yield(n, ...)) end end)
p(select('#',co(unpack({},1,300))))
p(co())
p((co(1,2,3)))
-- yield in nested lua calls
local function gen(n) return coroutine.wrap(function() local function rec(i) if i>n then return end coroutine.yield(i) rec(i+1) end rec(1) end) end
local s=0 for i in gen(100) do s=s+i end
p(s)
-- tail-call yield
local co=coroutine.wrap(function() return coroutine.yield(1) end)
p(co())
p(co(7,8,9))
p(pcall(co))
-- pcall yield
local co=coroutine.create(function() p(pcall(function() coroutine.yield(1) end)) return 'done' end)
p(coroutine.resume(co))
p(coroutine.resume(co))
-- metamethod yield
local mt={__add=function(a,b) return coroutine.yield('add') end,__index=function(t,k) coroutine.yield(k) end,__newindex=function() coroutine.yield() end,__lt=function() coroutine.yield() end,__eq=function() coroutine.yield() end,__concat=function() coroutine.yield() end,__call=function(self,...) return coroutine.yield('call',...) end,__unm=function() coroutine.yield() end}
local o,o2=setmetatable({},mt),setmetatable({},mt)
for i,f in ipairs{function() return o+1 end,function() return o.x end,function() o.x=1 end,function() return o<o2 end,function() return o==o2 end,function() return o..'x' end,function() return o(5) end,function() return -o end,function() for a in function() coroutine.yield(1) end do end end,function() for a in coroutine.yield do end end,function() table.sort({1,2,3},function() coroutine.yield() end) end,function() table.foreach({1},coroutine.yield) end, function() return pcall(coroutine.yield,1) end,function() return xpcall(coroutine.yield,print) end, function() return load(function() coroutine.yield() end) end,function() return tostring(setmetatable({},{__tostring=function() coroutine.yield() end})) end} do
 local c=coroutine.create(f) p(i,coroutine.resume(c)) p(coroutine.status(c)) p(coroutine.resume(c,'again'))
end
-- error in coroutine
local co=coroutine.create(function() local x=nil; x.y=1 end)
p(coroutine.resume(co))
p(coroutine.status(co))
p(coroutine.resume(co))
local co=coroutine.create(function() coroutine.yield() error({1}) end)
p(coroutine.resume(co))
local ok,e=coroutine.resume(co)
p(ok,type(e),e[1])
local co=coroutine.create(function() pcall(error,'x') coroutine.yield(1) error('after',2) end)
p(coroutine.resume(co))
p(coroutine.resume(co))
-- wrap inside wrap
local function perm(a,n) n=n or #a if n<=1 then coroutine.yield(a) else for i=1,n do a[n],a[i]=a[i],a[n] perm(a,n-1) a[n],a[i]=a[i],a[n] end end end
for a in coroutine.wrap(function() perm{1,2,3} end) do p(table.concat(a,' ')) end
-- resume self, normal
local co co=coroutine.create(function() p(coroutine.resume(co)) p(coroutine.status(co)) local c2=coroutine.create(function() p(coroutine.status(co)) p(coroutine.resume(co)) end) coroutine.resume(c2) end) coroutine.resume(co)
-- running
p(coroutine.running()) coroutine.wrap(function() p(type(coroutine.running())) end)()
-- upvalues across yield
local function counter() local i=0 return coroutine.wrap(function() while true do i=i+1 coroutine.yield(function() i=i+10 return i end) end end) end
local c=counter()
local f=c()
p(f())
local g=c()
p(g(),f())
-- closures keep after death
local fs={}
local co=coroutine.create(function() local a,b=1,2 fs[1]=function() a=a+1 return a,b end coroutine.yield() b=5 error('die') end)
coroutine.resume(co)
p(fs[1]())
p(coroutine.resume(co))
p(fs[1]())
-- deep nesting of coroutines
local function nest(n) local c=coroutine.wrap(function() return nest(n+1) end) local ok,e=pcall(c) if not ok then return n..' '..tostring(e) end return e end
local r=nest(1)
p(#r, r:sub(1,200))
local function nest(n) local c=coroutine.create(function() return nest(n+1) end) local ok,e=coroutine.resume(c) if not ok then return n..' '..tostring(e) end return e end
p(nest(1))
-- yield across dofile-like loops
local co=coroutine.wrap(function() for i=1,3 do for k,v in pairs{a=1} do for j,w in ipairs{1,2} do coroutine.yield(i,k,v,j,w) end end end end)
for i=1,6 do p(co()) end
p(pcall(co))
p(pcall(co))
-- varargs resumed
local co=coroutine.create(function(...) p('n',select('#',...)) p(coroutine.yield(...)) end)
p(coroutine.resume(co,nil,nil))
p(coroutine.resume(co,nil,nil,nil))
-- error with levels in coroutine
local co=coroutine.create(function() local function f() error('lvl2',2) end f() end)
p(coroutine.resume(co))
local co=coroutine.create(function() local function f() error('lvl3',3) end f() end)
p(coroutine.resume(co))
-- wrap as iterator with error
p(pcall(function() for x in coroutine.wrap(function() coroutine.yield(1) error('itererr') end) do p(x) end end))
p(pcall(function() for x in coroutine.wrap(function() coroutine.yield(1) error({}) end) do end end))
-- resume from different coroutine
local a=coroutine.create(function() coroutine.yield(1) coroutine.yield(2) end)
local b=coroutine.create(function() p(coroutine.resume(a)) coroutine.yield() p(coroutine.resume(a)) end)
coroutine.resume(b)
p(coroutine.resume(a)) coroutine.resume(b)
p(coroutine.status(a),coroutine.status(b))
-- pcall in coroutine after yield
local co=coroutine.wrap(function() local r={} for i=1,3 do local ok,e=pcall(function() if i==2 then error('two',0) end return i end) r[#r+1]=tostring(ok)..tostring(e) coroutine.yield(i) end return table.concat(r,',') end)
p(co())
p(co())
p(co())
p(co())
-- coroutine with xpcall handler
local co=coroutine.wrap(function() return xpcall(function() error('E') end,function(m) return 'H:'..m end) end)
p(co())
local co=coroutine.wrap(function() return xpcall(function() error('E') end,function(m) coroutine.yield(1) end) end)
p(co())
p(coroutine.resume(coroutine.create(function() error() end)))
p(pcall(coroutine.wrap(function() error() end)))
p(pcall(coroutine.wrap(function() error(nil) end)))
p(pcall(coroutine.wrap(function() error(12) end)))
p(select('#',coroutine.resume(coroutine.create(function() return end))))
local co=coroutine.create(function() return unpack({},1,5) end)
p(select('#',coroutine.resume(co)))
