local W_={} function W(s) W_[#W_+1]=s end
local print0=print
local function print(...) print0(table.concat(W_," "),...) W_={} end
for _,n in ipairs{'table','math','coroutine'} do local r={} for k in pairs(_G[n]) do r[#r+1]=k end print(table.concat(r,' ')) end
local t={1,2,3,x=1,y=2} for k,v in pairs(t) do t[k]=nil end
print(next(t))
local t={} for i=1,20 do t[i]=i t['k'..i]=i end
local r={} for k,v in pairs(t) do r[#r+1]=tostring(k) if type(k)=='number' and k%2==0 then t[k]=nil end end
print(table.concat(r,' '))
-- table functions on holes/hash parts
local t={[1]=1,[2]=2,[3]=3,[5]=5}
print(#t) table.insert(t,'n')
print(#t,t[4]) table.insert(t,2,'ins') for i=1,8 do W(tostring(t[i])) end
print()
print(table.remove(t,1)) for i=1,8 do W(tostring(t[i])) end
print()
local t={} for i=10,1,-1 do t[i]=i end
print(#t) table.insert(t,5,'x') for i=1,12 do W(tostring(t[i])) end
print() for i=1,12 do W(tostring((table.remove(t,3)))) end
print(#t)
local t={} for i=1,100 do table.insert(t,1,i) end
print(table.concat(t,' ')) for i=1,50 do table.remove(t,1) end
print(table.concat(t,' '), #t)
local seed=42
local function rnd(n) seed=(seed*1103515245+12345)%2147483648 return seed%n+1 end
for round=1,30 do local n=rnd(40) local t={} for i=1,n do t[i]=rnd(round%7+3) end local log={} table.sort(t,function(a,b) log[#log+1]=a..'<'..b return a<b end) print(table.concat(t,','),#log,table.concat(log,' ')) end
for round=1,20 do local n=rnd(60) local t={} for i=1,n do t[i]={rnd(5),i} end local ok,e=pcall(table.sort,t,function(a,b) return a[1]<b[1] end) local r={} for i=1,n do r[i]=t[i][1]..':'..t[i][2] end print(ok,e,table.concat(r,' ')) end
for round=1,20 do local n=rnd(30) local t={} for i=1,n do t[i]=i end local c=0 local ok,e=pcall(table.sort,t,function(a,b) c=c+1 return rnd(2)==1 end) print(ok,e,c,table.concat(t,',',1,#t)) end
for round=1,10 do local n=rnd(30) local t={} for i=1,n do t[i]=string.char(96+rnd(26))..rnd(3) end table.sort(t) print(table.concat(t,',')) end
local t={5,2,8}
local ok,e=pcall(table.sort,t,function(a,b) t[1]=nil t[#t+1]=1 return a<b end)
print(ok,e)
local t={} for i=1,50 do t[i]=(i*7)%50 end
local ok,e=pcall(table.sort,t,function(a,b) t[100+a]=b return a<b end)
print(ok,e,table.concat(t,',',1,50))
local t={3,1,2} setmetatable(t,{__index=function() error('no') end,__newindex=function() error('no') end}) table.sort(t)
print(table.concat(t,',')) table.insert(t,4)
print(#t,table.remove(t),table.concat(t,'-'))
local t={[0]='z',[-1]='m',1,2} table.insert(t,0,'i')
print(t[-1],t[0],t[1],t[2],t[3],t[4]) table.insert(t,-2,'q')
print(t[-3],t[-2],t[-1],t[0],t[1],t[2],t[3],t[4],t[5])
print(table.maxn{[1.5]=1,[-3]=2},table.maxn{1,2,3,nil,5},table.getn{1,2,3})
print(unpack({1,2,3},2),unpack({1,2,3},-1,1))
print(unpack({1,2,3},2,3))
print(select('#',unpack({},1,0)))
print(unpack({1,2},'1','2'))
print(table.concat({1,2,'x',4.5,1e20},'-'),table.concat({},'x'),table.concat({1},'x'),table.concat({'a','b','c'},'x',2,3))
