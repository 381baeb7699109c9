package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/redislib"
	"godwit/internal/resp"
)

// TestKeptByFunctions checks that what libraries keep is counted in bounded steps, and again when
// functions have run or libraries have changed.
func TestKeptByFunctions(t *testing.T) {
	f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
	load := func(name, code string) {
		t.Helper()
		_, err := f.Load([]byte("#!lua name="+name+"\n"+code), LoadOptions{Replace: true})
		require.NoError(t, err)
	}
	count := func() (ticks int) {
		t.Helper()
		for f.Count(); f.kept.meter != nil; f.Count() {
			ticks++
			require.Less(t, ticks, 1000)
		}
		return ticks
	}
	settle := func() {
		for range 10_000 {
			f.Count()
		}
	}
	load("a", `local kept = {}
redis.register_function('fill', function()
  for i = 1, 50000 do kept[i] = {} kept['k'..i] = i end end)
redis.register_function('drop', function() kept = {} end)
redis.register_function('cycle', function() kept.self = kept; kept[kept] = {kept} end)`)
	settle()
	empty := f.kept.bytes
	call := func(name string) {
		t.Helper()
		var w resp.Writer
		f.Call(f.Function([]byte(name)), nil, nil, &w)
		require.False(t, strings.HasPrefix(string(w.Buf), "-"), string(w.Buf))
	}
	call("fill")
	require.Greater(t, count(), 20, "a step looks at a bounded number of values")
	full := f.kept.bytes
	require.Greater(t, full-empty, int64(50_000*(16+64+40+2)))
	require.Less(t, full-empty, int64(50_000*(16+64+40+2)*2))
	call("cycle")
	settle()
	require.InDelta(t, full, f.kept.bytes, 1000)
	call("drop")
	settle()
	require.Equal(t, empty, f.kept.bytes)
	call("fill")
	settle()
	require.InDelta(t, full, f.kept.bytes, 1000)
	load("a", `redis.register_function('fill', function() end)`)
	settle()
	require.Less(t, f.kept.bytes, int64(10_000))
}

// TestHiddenValuesCount checks that iterators, coroutines and loaded code count, with what they
// keep.
func TestHiddenValuesCount(t *testing.T) {
	for _, made := range []string{
		"string.gmatch(s .. i, '.')",
		"coroutine.wrap(function() local t = s .. i coroutine.yield() return t end)",
		"loadstring('return 1 --' .. s .. i)",
	} {
		f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
		_, err := f.Load([]byte(`#!lua name=l
local kept = {}
redis.register_function('hide', function()
  local s = ('x'):rep(2^16)
  for i = 1, 20 do kept[i] = `+made+` kept[i]() end end)`), LoadOptions{})
		require.NoError(t, err)
		var w resp.Writer
		f.Call(f.Function([]byte("hide")), nil, nil, &w)
		require.Equal(t, "$-1\r\n", string(w.Buf))
		for range 100 {
			f.Count()
		}
		require.InDelta(t, 20<<16, f.kept.bytes, 1<<18, made)
	}
}

// TestHoardersCanBeFreed checks that a library which has filled the memory can free it.
func TestHoardersCanBeFreed(t *testing.T) {
	f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
	f.L.Bound = 16 << 20
	code := `#!lua name=l
local kept = {}
redis.register_function('fill', function() while true do kept[#kept + 1] = ('x'):rep(1000) end end)
redis.register_function('use', function() return #{1, 2, 3} end)
redis.register_function('drop', function() kept = {} end)`
	_, err := f.Load([]byte(code), LoadOptions{})
	require.NoError(t, err)
	call := func(name string) string {
		var w resp.Writer
		f.Call(f.Function([]byte(name)), nil, nil, &w)
		return string(w.Buf)
	}
	for range 3 {
		require.Contains(t, call("fill"), "not enough memory")
		for range 100 {
			require.Equal(t, ":3\r\n", call("use"))
		}
		require.Equal(t, "$-1\r\n", call("drop"))
	}
}
