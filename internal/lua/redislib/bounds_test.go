package redislib

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

// doubled is a table that holds a table twice, which holds another twice, and so on: it is small,
// but has 2^n values.
const doubled = `local t = {string.rep('some text ', 1000)} for i = 1, 40 do t = {t, t} end `

func rep(s string, n int) string { return strings.Repeat(s, n) }

// TestMemoryIsBounded checks that calls that make too much end the script, and that they have not
// allocated much more than the bound by then.
func TestMemoryIsBounded(t *testing.T) {
	const bound = 4 << 20
	many := rep("[[1],[]],", 100000)
	const array = "\xdd\x00\x01\x86\xa0" // of 100,000
	half := rep("x", bound/2)
	for name, c := range map[string]struct{ body, arg string }{
		"encode":  {doubled + `return cjson.encode(t)`, ""},
		"escapes": {`return cjson.encode((...))`, rep("\x01", bound/3)},
		"pack":    {`local s = ... return cmsgpack.pack(s, s, s, s)`, half},
		"struct":  {`local s = ... return struct.pack('ssss', s, s, s, s)`, half},
		"decode":  {`return cjson.decode((...))`, "[" + many + "1]"},
		"nested":  {`return cjson.decode((...))`, "[[[[" + many + "1]]]]"},
		"objects": {`return cjson.decode((...))`, "[" + rep(`{"a":{}},`, 100000) + "1]"},
		"text":    {`return cjson.decode((...))`, `["` + rep("x", bound) + `\n"]`},
		"unpack":  {`return cmsgpack.unpack((...))`, array + rep("\x92\x91\x01\x90", 100000)},
		"maps":    {`return cmsgpack.unpack((...))`, array + rep("\x81\x01\x80", 100000)},
	} {
		b := newBare()
		b.Bound = bound
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := b.eval(c.body, c.arg)
		runtime.ReadMemStats(&after)
		require.EqualError(t, err, lua.ErrMemory.Error(), name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*bound), name)
	}
}

// TestEndedScript checks that long calls notice that the script must end.
func TestEndedScript(t *testing.T) {
	killed := errors.New("killed")
	items := rep(`1,`, 1<<20)
	for _, c := range []struct{ body, arg string }{
		{doubled + `return cjson.encode(t)`, ""},
		{doubled + `return cmsgpack.pack(t, t, t, t)`, ""},
		{`return cjson.encode((...))`, rep("\x01", 1<<20)},
		{`return cjson.decode((...))`, "[" + items + "1]"},
		{`return cmsgpack.unpack((...))`, "\xdd\x00\x10\x00\x00" + items},
		{`return cmsgpack.unpack((...))`, "\x91\xdf\x00\x08\x00\x00" + items},
		{`return struct.pack((...))`, rep(" ", 1<<20)},
		{`return struct.unpack((...), "")`, rep(" ", 1<<20)},
		{`local t = {} t[2^25] = 1 local c = cjson.new() ` +
			`c.encode_sparse_array(false, 0) return c.encode(t)`, ""},
	} {
		b := newBare()
		_, err := b.eval(`return 1`)
		require.NoError(t, err)
		looks := 0
		b.Interrupt = func() error {
			if looks++; looks > 5 {
				return killed
			}
			return nil
		}
		_, err = b.eval(c.body, c.arg)
		require.ErrorContains(t, err, "killed", c.body)
		b.Interrupt = nil
		got, err := b.eval(`return cjson.encode({1}), #cmsgpack.pack({1})`)
		require.NoError(t, err)
		require.Equal(t, "3:[1], 2", got) // all is as before
	}
}

// TestValuesOfMeasure checks that values which are being read count as memory of the script: with
// garbage in between, they are measured several times.
func TestValuesOfMeasure(t *testing.T) {
	b := newBare()
	b.Bound = 8 << 20
	got, err := b.eval(`local n = 0 for i = 1, 60 do n = n + #cjson.decode((...)) `+
		`n = n + #cmsgpack.unpack(cmsgpack.pack(cjson.decode((...)))) end return n`,
		"["+rep(`{"a":[1]},`, 2000)+"1]")
	require.NoError(t, err)
	require.Equal(t, "240120", got)
}
