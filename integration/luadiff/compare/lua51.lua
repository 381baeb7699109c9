-- Runs the programs that it reads as "length\nprogram" and writes "length\nresult" for each.
-- Programs see what Redis's sandbox offers.

local real = {}
for name in string.gmatch([[assert collectgarbage error gcinfo getmetatable ipairs load loadstring
    next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack
    xpcall string table math coroutine _VERSION]], '%S+') do
  real[name] = _G[name]
end
real.os = {clock = os.clock}

local env = setmetatable({}, {
  __index = function(_, name)
    if real[name] == nil then
      error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
    end
    return real[name]
  end,
  __newindex = function() error('Attempt to modify a readonly table', 2) end,
})
real._G = env

-- Chunks that programs load have the globals of the thread.
setfenv(0, env)

local function run(source)
  local chunk, message = loadstring(source, '@user_script')
  if not chunk then return 'compile: ' .. message end
  setfenv(chunk, env)
  local ok, result = pcall(chunk)
  if type(result) ~= 'string' then result = '(no string)' end
  return ok and result or 'error: ' .. result
end

-- The collector runs between programs: it forgets the keys of removed elements, which can be seen
-- in how a table grows afterwards.
collectgarbage('stop')
local count = 0
while true do
  local n = io.read('*n')
  if not n then break end
  io.read(1)
  local result = run(io.read(n))
  io.write(#result, '\n', result)
  io.flush()
  count = count + 1
  if count % 50 == 0 then collectgarbage() collectgarbage('stop') end
end
