-- Runs the operations on tables that it reads, and prints what they show. See tableorder_test.go.
local function key(s)
	local kind, rest = s:sub(1, 1), s:sub(2)
	if kind == 'n' then return tonumber(rest) end
	if kind == 'b' then return rest == 't' end
	return rest
end

-- The collector may forget a key without a value, which then gets a new place when it is set again.
collectgarbage('stop')

local t = {}

local function nth(k)
	local ok, next, v = pcall(next, t, k)
	if not ok then return nil, 'error' end
	return next, v
end

-- walk returns the values in the order of next. fn is called for each.
local function walk(fn)
	local out, k, v = {}, nil, nil
	repeat
		k, v = nth(k)
		out[#out + 1] = tostring(v)
		if k ~= nil then fn(k, v, #out) end
	until k == nil
	print(table.concat(out, ' '))
end

local ops = {}

-- A constructor: values of a list, and keys with values.
function ops.c(list, ...)
	local parts = {}
	if list ~= '-' then parts[1] = list end
	for _, kv in ipairs({...}) do
		local k, v = kv:match('(.*):(.*)')
		k = key(k)
		k = type(k) == 'string' and ('%q'):format(k) or ('%.17g'):format(k)
		parts[#parts + 1] = '[' .. k .. ']=' .. v
	end
	t = loadstring('return {' .. table.concat(parts, ',') .. '}')()
end

function ops.s(k, v) t[key(k)] = tonumber(v) end
function ops.d(k) t[key(k)] = nil end
function ops.g(k) print(tostring(t[key(k)])) end
function ops.a(v) t[#t + 1] = tonumber(v) end
function ops.p() t[#t] = nil end
function ops.l() print(#t) end
function ops.n(k) print(select(2, nth(key(k)))) end
function ops.f(from, to, step, v)
	for i = tonumber(from), tonumber(to), tonumber(step) do t[i] = tonumber(v) end
end
function ops.w() walk(function() end) end
function ops.x(m) walk(function(k, v) if v % tonumber(m) ~= 0 then t[k] = nil end end) end
function ops.u(m) walk(function(k, v) t[k] = v + tonumber(m) end) end
function ops.i(n, k, v)
	walk(function(_, _, i) if i == tonumber(n) then t[key(k)] = tonumber(v) end end)
end

for line in io.lines() do
	local words = {}
	for w in line:gmatch('%S+') do words[#words + 1] = w end
	ops[words[1]](unpack(words, 2))
end
