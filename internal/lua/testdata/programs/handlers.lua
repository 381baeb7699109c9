local n=0
print(xpcall(function() error('x') end, function(m) n=n+1 error('y') end)) print(n) n=0
print(xpcall(function() local x; x() end, function(m) n=n+1 local y; y() end)) print(n) n=0
local f1 print(xpcall(function() f1=function() n=n+1 local x; x() end f1() end, function(m) f1() end)) print(n) n=0
print(xpcall(function() local function f() n=n+1 pcall(f) error('z') end f() end, function(m) n=n+1 error('y') end)) print(n) n=0
print(xpcall(function() error('x') end, function(m) n=n+1 return m..n+nil end)) print(n) n=0
local h h=function(m) n=n+1 return xpcall(error,h) end print(xpcall(error,h)) print(n) n=0
print(pcall(pcall,xpcall,function() error('x') end, function(m) n=n+1 error('y') end)) print(n) n=0
print(xpcall(function() error('x') end, function(m) n=n+1 if n<100 then error(n,0) end return 'got '..m end)) print(n) n=0
print(xpcall(function() error('x') end, function(m) n=n+1 table.sort({1,2,3},function() error('s') end) end)) print(n) n=0
print(xpcall(function() error('x') end, function(m) n=n+1 setmetatable({},{__index=function() error('s') end}).x() end)) print(n) n=0
local co=coroutine.wrap(function() return xpcall(function() error('x') end, function(m) n=n+1 error('y') end) end) print(co()) print(n) n=0
print(xpcall(function() local function r() n=n+1 return 1+r() end return r() end, function(m) n=n+1 error('y') end)) print(n) n=0
print(xpcall(function() error('x') end, error)) print(xpcall(function() error('x') end, string.rep)) 
print(xpcall(function() string.rep() end, function(m) n=n+1 string.rep() end)) print(n) n=0
print(xpcall(function() for i=1,3 do string.rep() end end, function(m) n=n+1 return m end)) print(n) n=0
print(xpcall(string.rep, function(m) n=n+1 return m..'!' end)) print(n) n=0
print(xpcall(function() error() end, function(m) n=n+1 return m end)) print(n) n=0
print(xpcall(error, function(m) n=n+1 return type(m) end)) print(n) n=0
