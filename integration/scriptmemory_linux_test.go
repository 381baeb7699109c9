package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// largeScripts leave dozens of MB behind when they end: stacks of coroutines, tables and strings.
var largeScripts = map[string]string{
	"coroutines": `
local t = {}
for i = 1, 20000 do
	local co = coroutine.create(function(...) coroutine.yield(...) end)
	coroutine.resume(co, i)
	t[i] = co
end
return #t`,
	"deep coroutines": `
local function deep(n) if n == 0 then coroutine.yield() else deep(n - 1) return n end end
local t = {}
for i = 1, 1500 do
	local co = coroutine.create(deep)
	coroutine.resume(co, 150)
	t[i] = co
end
return #t`,
	"nested coroutines": `
local function nest(n) if n > 0 then coroutine.wrap(nest)(n - 1) end end
for i = 1, 200 do nest(100) end`,
	"table": `local t = {} for i = 1, 500000 do t[i] = 'v' .. i end return #t`,
	"strings": `local s = string.rep('x', 1000000) local t = {} for i = 1, 50 do t[i] = s .. i ` +
		`end return #t`,
	"arguments": `
local t = {}
for i = 1, 7000 do t[i] = string.rep('x', 1000) end
for i = 1, 10 do redis.call('RPUSH', 'k', unpack(t)) redis.call('DEL', 'k') end`,
}

// scriptSlack is what may stay in use after scripts that held hundreds of MB, in bytes. It covers
// what is not worth another collection (8 MB and an eighth), the runtime's records of a heap that
// was large, and pages of the program that scripts touched.
const scriptSlack = 24 * mib

// TestMemoryOfScriptsGoesBack runs scripts that need much memory. It waits until the figures of
// INFO go back by themselves.
func TestMemoryOfScriptsGoesBack(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	s := startServer(t)
	c := s.dial(t)
	do(t, c, "EVAL", "return 1", 0)
	before := scriptFigures(t, c)
	run := func(t *testing.T) {
		for _, text := range largeScripts {
			do(t, c, "EVAL", text, 0)
		}
	}
	eventually := func(t *testing.T) {
		t.Helper()
		end := time.Now().Add(patience)
		for now := scriptFigures(t, c); !wentBack(before, now); now = scriptFigures(t, c) {
			if time.Now().After(end) {
				t.Fatalf("used, resident, scripts and Go's heap were %v and are %v\n%s",
					before, now, do(t, c, "INFO", "memory").Text())
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	t.Run("left alone", func(t *testing.T) {
		run(t)
		eventually(t)
	})
	t.Run("SCRIPT FLUSH", func(t *testing.T) {
		run(t)
		do(t, c, "SCRIPT", "FLUSH")
		eventually(t)
	})
	t.Run("MEMORY PURGE", func(t *testing.T) {
		run(t)
		do(t, c, "MEMORY", "PURGE")
		require.True(t, wentBack(before, scriptFigures(t, c)), "before %v, after %v", before,
			scriptFigures(t, c))
	})
}

// scriptFigures returns the figures of INFO memory that scripts change.
func scriptFigures(t *testing.T, c *client.Client) (n [4]int64) {
	info := do(t, c, "INFO", "memory").Text()
	for i, name := range []string{"used_memory", "used_memory_rss", "used_memory_vm_total",
		"mem_go_in_use"} {
		n[i] = infoNumber(info, name)
	}
	return n
}

// wentBack reports whether the figures are there and no more than scriptSlack above what they were.
func wentBack(before, now [4]int64) bool {
	for i := range now {
		if now[i] == 0 || now[i] > before[i]+scriptSlack {
			return false
		}
	}
	return true
}
