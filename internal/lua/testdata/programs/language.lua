local p=print
-- tail calls
local function loop(n) if n==0 then return 'done' end return loop(n-1) end
p(loop(1000000))
local function a(n) if n==0 then error('tail') end return a(n-1) end
p(pcall(a,10))
local function even(n) if n==0 then return true end return odd(n-1) end function odd(n) if n==0 then return false end return even(n-1) end
p(even(100001))
p(pcall(function(...) return select('#',...) end,unpack({},1,7000)))
local function v(...) return ... end
p(select('#',v(unpack({},1,5000))))
p(select('#',v(v(v(1,nil,nil)))))
local function tv(...) return v(...) end
p(tv(1,2,3))
p((tv(1,2,3)))
local function cnt(...) return select('#',...) end
p(cnt(),cnt(nil),cnt(nil,nil))
p(cnt(v()))
p(cnt(v(),v(),v()))
p(cnt((v())))
local t={v(1,2,3)}
p(#t) t={v(1,2,3),10}
p(#t) t={10,v(1,2,3)}
p(#t) t={v()}
p(#t) t={(v(1,2))}
p(#t) t={v(),v()}
p(#t)
local t={n=1,v(unpack({1,2,3,4,5,6,7}))}
p(#t,t.n)
local big={} for i=1,200 do big[i]=i end
local t={unpack(big)}
p(#t,t[200])
local t={0,unpack(big)}
p(#t,t[201])
-- closures in loops
local fs={} for i=1,3 do fs[#fs+1]=function() i=i+1 return i end end
p(fs[1](),fs[1](),fs[2](),fs[3]())
local fs={} for k,v in ipairs{10,20} do fs[#fs+1]=function() v=v+k return v end end
p(fs[1](),fs[1](),fs[2]())
local fs={}
local i=1 while i<4 do local j=i fs[i]=function() j=j+1 return j end i=i+1 end
p(fs[1](),fs[2](),fs[3](),fs[1]())
local fs={} repeat local x=#fs fs[#fs+1]=function() x=x+1 return x end until x>=2
p(fs[1](),fs[2](),fs[3]())
for i=1,3 do local f=function() return i end if i==2 then p(f()) break end end
local x=1
local function sh() local x=x+1 return function() x=x+1 return x end end
p(sh()(),x)
do local a={} for i=1,3 do local b=i a[i]={get=function() return b end,set=function(n) b=n end} end a[1].set(99) p(a[1].get(),a[2].get()) end
-- numeric for
for i=3,1 do p('no') end for i=1,3,-1 do p('no') end for i=3,1,-1 do p(i) end for i=1,2,0.5 do p(i) end for i=1,0,0 do p('inf') break end for i=0.1,0.35,0.1 do p(i) end
for i=1,math.huge do if i>3 then break end p(i) end for i=-1,-3,-1 do p(i) end
for i=1,3 do local j=i i=10 p(i,j) end
-- nil locals
local n=0
local x repeat local y n=n+1 if y then p('stale') end y=n until n>=3
while true do local z if z then p('stale') end z=1 if n>4 then break end n=n+1 end
do local a=5 end do local b p(b) end
-- multiple assign
local a,b,c=(function() return 1,2,3 end)()
p(a,b,c) a,b=b,a
p(a,b)
local t={1,2}
local i=1 i,t[i]=i+1,20
p(i,t[1],t[2]) 
do local a={} local i=3 i,a[i],a[i+1]=4,'x','y' p(i,a[3],a[4]) end
local a,b=v(1)
p(a,b) a,b=v(),5
p(a,b)
-- string coercions
p('10'+5,'0x10'+0,' 5 '*2,10 ..20,'3'..4,-'2','10'/'2','7'%'4',2^'3')
p(1e15,1e14,123456789012345678,0.1,1/3,-0,0/0~=0/0,1e300*1e10,-1e300*1e10)
p(100000000000000,1e100,2^53,2^63,5e-324,1.5,-1.5e-7)
p(10==10.0,'10'==10,0==-0,'a'<'b','a'<'B','Z'<'a',''<'a','a\0b'<'a\0c','a'<'a\0')
p(5%3,-5%3,5%-3,-5%-3,5.5%2,-5.5%2,5%math.huge,-5%math.huge,0%5,-0%5)
p(pcall(function() return 5%0 end))
p(7%0~=7%0)
p(2^10,2^-1,(-2)^2,-2^2,2^3^2,(-8)^(1/3)~=(-8)^(1/3))
p(not nil,not 0,not '',nil and 1,false or nil,1 and 2,nil or false,false and error('x'),1 or error('x'))
p(1 and nil, nil==false, 1<2==true, 'a'..'b'=='ab')
-- lengths
p(#'abc',#'',#{1,2,nil,4},#{nil},#{nil,2},#{n=1},#{[1]=1,[2]=2,[4]=4})
local t={} t[1]=1 t[2]=2 t[4]=4
p(#t)
p(#{[100]=1})
local t={} for i=1,10 do t[i]=i end t[5]=nil
p(#t) t[10]=nil
p(#t)
-- metamethods
local mt={__add=function(a,b) return 'add' end,__sub=function() return 'sub' end,__mul=function() return 'mul' end,__div=function() return 'div' end,__mod=function() return 'mod' end,__pow=function() return 'pow' end,__unm=function(a,b) return rawequal(a,b) end,__concat=function(a,b) return (type(a)=='table' and 'T' or a)..'|'..(type(b)=='table' and 'T' or b) end,__len=function() return 42 end,__eq=function() return true end,__lt=function() return true end,__le=function() return false end,__call=function(self,...) return 'call',... end,__index=function(t,k) return k..'!' end,__tostring=function() return 'TS' end}
local o=setmetatable({},mt)
local o2=setmetatable({},mt)
p(o+1,1+o,o-1,o*1,o/1,o%1,o^1,-o,o..'x','x'..o,o..o,'a'..'b'..o,o..'a'..'b',1 ..o,#o,o==o2,o~=o2,o==1,o<o2,o<=o2,o>o2,o>=o2,o(1,2),o.foo,o[1],tostring(o))
local m2={__lt=function(a,b) return a.v<b.v end}
local function mk(v) return setmetatable({v=v},m2) end
p(mk(1)<=mk(2),mk(2)<=mk(1),mk(1)>=mk(1)) 
local log={}
local prox=setmetatable({},{__index=function(t,k) log[#log+1]='r'..k return rawget(log,k) end,__newindex=function(t,k,v) log[#log+1]='w'..k rawset(t,k,v) end}) prox.a=1 prox.a=2 prox.b=nil prox.b=nil
local _=prox.zz
p(table.concat(log,','))
local base={x=1}
local d=setmetatable({},{__index=setmetatable({},{__index=base})})
p(d.x,d.y,rawget(d,'x'))
local w=setmetatable({},{__newindex=base}) w.q=5
p(rawget(w,'q'),base.q)
p(pcall(function() return setmetatable({},{__lt=function() return 1 end})<setmetatable({},{__lt=function() return 1 end}) end))
p(pcall(function() return setmetatable({},{__eq=function() error('eq') end})==setmetatable({},{__eq=function() error('eq') end}) end))
local eqf=function() return 'truthy' end
p(setmetatable({},{__eq=eqf})==setmetatable({},{__eq=eqf}))
p(#setmetatable({1,2},{__len=function() return 9 end}))
-- tostring of metamethod returning non string
p(pcall(tostring,setmetatable({},{__tostring=function() return nil end})))
-- self
local obj={n=0} function obj:inc(k) self.n=self.n+(k or 1) return self end
p(obj:inc():inc(5).n) function obj.st(a) return a end
p(obj.st(4))
local s=('%s'):rep(2)
p(s)
-- goto-less loops with breaks in nested closures
local r={} for i=1,3 do for j=1,3 do local f=function() return i*10+j end if j==2 then break end r[#r+1]=f end end
p(#r,r[1](),r[3]())
-- and-or chains
local function tf(x) return x and 'T' or 'F' end
p(tf(1),tf(nil),tf(false))
local a=nil
local b=a and a.x or 5
p(b)
local c=(a or {}).x
p(c)
p((1>2) and 'a' or (2>1) and 'b' or 'c')
local z = 1>2
p(z) z = not (1>2)
p(z) z=(1<2)==(2<3)
p(z)
-- vararg in main and arg
p(select('#',...))
local function va(...) local a,b=... local t={...} return a,b,#t,select(2,...) end
p(va(1,2,3,4))
p(va())
p(va(nil,nil))
local function oldarg(...) return arg end
p(type(oldarg(1,2)),oldarg(1,2) and oldarg(1,2).n)
local function f2(a,...) local function g() return a end a=a+1 return g(),... end
p(f2(1,2,3))
-- integer keys normalisation
local t={} t[1.0]='a' t['1']='b' t[2^53]='c'
p(t[1],t['1'],t[2^53]) t[-0]='z'
p(t[0])
-- deep concat and long
local s='' for i=1,100 do s=s..i end
p(#s)
local parts={} for i=1,300 do parts[i]='x' end
p(#table.concat(parts))
local s='a'
p(s..s..s..s..1 ..2 ..s)
p(pcall(string.rep,'x',-1)) 
-- upvalue sharing after scope
local get,set do local v=1 get=function() return v end set=function(n) v=n end end set(5)
p(get())
local function mkc() local n=0 return function() n=n+1 return n end,function() return n end end
local i1,g1=mkc()
local i2,g2=mkc() i1() i1() i2()
p(g1(),g2())
-- recursion through pcall with upvalues
local function rp(n) local l=n if n>0 then local ok,v=pcall(rp,n-1) return v+l end return 0 end
p(rp(50))
-- coroutines in pcall'd loops w/ closures
local acc={} for i=1,3 do local co=coroutine.wrap(function() for j=1,2 do coroutine.yield(function() return i*j end) end end) acc[#acc+1]=co() acc[#acc+1]=co() end for _,f in ipairs(acc) do p(f()) end
p(next({}))
p(type(next),type(print))
p(rawequal('a','a'),rawequal({}, {}))
local t=setmetatable({},{__metatable='locked'})
p(getmetatable(t),pcall(setmetatable,t,{}))
p(tostring(nil),tostring(true),tostring(1e15),tostring(-0))
p(tonumber('0x'),tonumber('1e'),tonumber('1e1x'),tonumber('.5'),tonumber('5.'),tonumber('.'),tonumber(''),tonumber(' '),tonumber('0x1F'),tonumber('1_0'),tonumber('inf'),tonumber('nan'),tonumber('1e400'),tonumber('- 1'),tonumber('--1'))

-- the table arg of many arguments
do
  local big = {}
  for i = 1, 200 do big[i] = true end
  local function old(a, b, ...) return a, b, arg.n, arg[1], #arg end
  print(old(1, 2, unpack(big)))
  print(old(1))
end
