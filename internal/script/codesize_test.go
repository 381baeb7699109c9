package script_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/redislib"
	"godwit/internal/script"
)

// sizedScripts returns scripts of many kinds by name.
func sizedScripts() map[string]string {
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	return map[string]string{
		"empty":         "return 1",
		"short":         "local v = redis.call('get', KEYS[1]) return v == ARGV[1]",
		"1 kB string":   "return '" + strings.Repeat("x", 1000) + "'",
		"100 kB string": "return '" + strings.Repeat("x", 100_000) + "'",
		"escapes":       "return '" + strings.Repeat("\\n", 50_000) + "'",
		"comment":       "--" + strings.Repeat("x", 50_000) + "\nreturn 1",
		"calls":         many("redis.call('set', 'a', 'b')\n", 300),
		"instructions":  "local a, b = 1, 2\n" + strings.Repeat("a=b b=a ", 2000),
		"constants":     "local a\n" + many("a = 'c#'\n", 200),
		"numbers":       "local t = {" + many("#.5, ", 200) + "}",
		"table":         "local t = {" + many("'element #', ", 3000) + "}",
		"functions":     many("local function f() return KEYS[#] end\n", 100),
		"locals":        many("local v# = #\n", 150),
		"closures":      "local u = 1\n" + many("do local f = function() return u end end\n", 99),
	}
}

// TestMemoryOfCachedScripts holds the figure that INFO shows against what Go's heap has grown by.
func TestMemoryOfCachedScripts(t *testing.T) {
	for name, src := range sizedScripts() {
		t.Run(name, func(t *testing.T) {
			h := newHost(new(fake))
			require.Equal(t, "+OK\r\n", eval(t, h, "return {ok = 'OK'}"))
			n := max(20, min(500, 300_000/len(src)))
			before, counted := heapInUse(), h.Memory()
			for i := range n {
				_, err := h.Load(fmt.Appendf(nil, "--%d\n%s", i, src), true)
				require.NoError(t, err)
			}
			grown := (heapInUse() - before) / int64(n)
			counted = (h.Memory() - counted) / int64(n)
			t.Logf("%d bytes of text: %d in the heap, %d counted (%.2f)", len(src), grown, counted,
				float64(counted)/float64(grown))
			require.Less(t, counted, 2*grown)
			require.Greater(t, counted, grown/2)
			h.Flush()
			require.Zero(t, h.Memory())
			runtime.KeepAlive(h)
		})
	}
}

// TestMemoryOfLibraries does the same for libraries of functions.
func TestMemoryOfLibraries(t *testing.T) {
	for name, body := range map[string]string{
		"string": "local s = '" + strings.Repeat("x", 50_000) + "'\n",
		"calls":  strings.Repeat("redis.call('set', 'a', 'b')\n", 300),
	} {
		t.Run(name, func(t *testing.T) {
			f := script.NewFunctions(new(fake), script.Options{Version: "7.2.4"}, redislib.Open)
			const n = 20
			before := heapInUse()
			for i := range n {
				src := fmt.Sprintf("#!lua name=l%d\n"+
					"redis.register_function('f%d', function() %s return s end)", i, i, body)
				_, err := f.Load([]byte(src), script.LoadOptions{})
				require.NoError(t, err)
			}
			grown, counted := (heapInUse()-before)/n, f.LibrarySet.Memory()/n
			t.Logf("%d bytes of text: %d in the heap, %d counted", len(body), grown, counted)
			require.Less(t, counted, 2*grown)
			require.Greater(t, counted, grown/2)
			runtime.KeepAlive(f)
		})
	}
}

// heapInUse returns the bytes of live objects in Go's heap.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what was waiting for the first one's sweep
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
