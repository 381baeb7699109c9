package compiler_test

import (
	"testing"

	"godwit/internal/lua/compiler"
)

// BenchmarkCompile compiles a script such as limiters use.
func BenchmarkCompile(b *testing.B) {
	const src = `
local key, now = KEYS[1], tonumber(ARGV[1])
local rate, burst, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4] or 1)
local bucket = redis.call('HMGET', key, 'tokens', 'at')
local tokens, at = tonumber(bucket[1]), tonumber(bucket[2])
if tokens == nil then
  tokens, at = burst, now
end
local gained = math.max(0, now - at) * rate
tokens = math.min(burst, tokens + gained)
local allowed = tokens >= cost
if allowed then
  tokens = tokens - cost
end
redis.call('HSET', key, 'tokens', tokens, 'at', now)
redis.call('PEXPIRE', key, math.ceil(burst / rate) * 2)
local list = {}
for i, name in ipairs({'a', 'b', 'c'}) do
  list[#list + 1] = name .. ':' .. tostring(i)
end
return {allowed and 1 or 0, tostring(tokens), table.concat(list, ',')}
`
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compiler.Compile(src, "c", nil); err != nil {
			b.Fatal(err)
		}
	}
}
