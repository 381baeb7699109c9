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

-- Chunks that programs load have the same environment.
for _, name in ipairs {'load', 'loadstring'} do
  local f = _G[name]
  real[name] = function(...)
    local chunk, message = f(...)
    if chunk then setfenv(chunk, env) return chunk end
    return chunk, message
  end
end

local function run(source)
  local chunk, message = loadstring(source, '@user_script')
  if not chunk then return 'compile: ' .. message end
  setfenv(chunk, env)
  local ok, result = pcall(chunk)
  if type(result) ~= 'string' then result = type(result) end
  return ok and result or 'error: ' .. result
end

while true do
  local n = io.read('*n')
  if not n then break end
  io.read(1)
  local result = run(io.read(n))
  io.write(#result, '\n', result)
  io.flush()
end
