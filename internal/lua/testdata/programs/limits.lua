local p=print
local d=0
local function r() d=d+1 return 1+r() end
p(pcall(r))
p(d) d=0
p(pcall(r))
p(d) d=0
p(xpcall(r,function(m) return 'H:'..m end))
p(d) d=0
p(xpcall(r,function(m) r() end))
p(d) d=0
p(xpcall(r,function(m) local ok,e=pcall(r) return tostring(ok)..tostring(e) end))
p(d) d=0
local co=coroutine.create(r)
p(coroutine.resume(co))
p(d) d=0
local co=coroutine.wrap(function() return pcall(r) end)
p(co())
p(d) d=0
local function big(n) local a,b,c,d2,e,f,g,h,i,j,k,l,m=1,2,3,4,5,6,7,8,9,10,11,12,13 d=d+1 if n>0 then return (big(n-1)) end return a+b+m end
p(big(10000)) d=0 
p(pcall(function() local t={} t=setmetatable(t,{__index=function(t,k) return t[k+1] end}) return t[1] end))
p(pcall(function() local t=setmetatable({},{__add=function(a,b) return a+b end}) return t+t end))
p(pcall(function() local t=setmetatable({},{__call=function(self) return self() end}) return t() end==nil))
p(pcall(function() local t setmetatable({}, {}) local function s(a,b) table.sort({1,2,3},s) return a<b end table.sort({3,2,1},s) end))
p(pcall(string.rep,'x',1,2))
local function str(n) return ('('):rep(n)..'1'..(')'):rep(n) end
p(loadstring('return '..str(150))~=nil)
local f,e=loadstring('return '..str(250))
p(f,e)
local function vr(...) d=d+1 return select('#',vr(...)) end d=0
p(pcall(vr,1,2,3))
p(d)
local function tc(n) if n==0 then return r() end return tc(n-1) end d=0
p(pcall(tc,100)) 
-- handler at depth
p(xpcall(function() local function q(n) if n==0 then error('deep') end q(n-1) return 1 end q(150) end,function(m) return m..'!' end))
p(pcall(function() local t={} for i=1,250 do t[i]=i end return select('#',unpack(t)) end))
p(pcall(function() return unpack({},1,8000) end))
p(select('#',unpack({},1,7990)))
