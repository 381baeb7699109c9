package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
)

// BenchmarkScripts runs cached scripts under a server that does little.
func BenchmarkScripts(b *testing.B) {
	for _, c := range []struct{ name, src string }{
		{"nothing", "return 1"},
		{"argument", "return ARGV[1]"},
		{"call", "return redis.call('get', KEYS[1])"},
		{"ten calls", "for i = 1, 10 do redis.call('get', KEYS[1]) end"},
		{"arithmetic", "local x = 0 for i = 1, 100 do x = x + i end return x"},
		{"list", "return {1, 2, 3, 'a', 'b', 'c'}"},
		{"table", "local t = {} for i=1,1000 do t[i] = i * 2 end " +
			"local n = 0 for i, v in ipairs(t) do n = n + v end return n"},
		{"strings", "local t, a = {}, ARGV[1] for i=1,100 do " +
			"t[i] = string.format('%s:%d', a, i) .. string.sub(a, 2, 4) .. a:upper() end " +
			"return #table.concat(t, ',')"},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := newHost(&fake{})
			sc, err := h.Load([]byte(c.src), false)
			require.NoError(b, err)
			args := [][]byte{[]byte("key:1")}
			var w resp.Writer
			b.ReportAllocs()
			for b.Loop() {
				w.Buf = w.Buf[:0]
				h.Run(sc, args, args, &w)
			}
		})
	}
}
