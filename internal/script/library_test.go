package script

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/redislib"
)

// TestLibrariesCount counts functions by their own names: of two that differ in case only, one is
// found, but both count. (redis-server 7.0 counts both too, but ends when the library is deleted.)
func TestLibrariesCount(t *testing.T) {
	var s LibrarySet
	for name, functions := range map[string][]string{"a": {"f", "F", "g"}, "b": {"h"}} {
		l := &Library{Name: name}
		for _, f := range functions {
			require.NoError(t, l.register(&Function{Name: f}))
		}
		require.NoError(t, s.Add(l, false))
	}
	libraries, functions := s.Len()
	require.Equal(t, [2]int{2, 4}, [2]int{libraries, functions})
	require.Equal(t, "f", s.Function([]byte("F")).Name)
	require.True(t, s.Delete("a"))
	libraries, functions = s.Len()
	require.Equal(t, [2]int{1, 1}, [2]int{libraries, functions})
	require.Nil(t, s.Function([]byte("f")))
}

// TestLibrariesAreBounded checks that what libraries hold counts together, whichever way they come.
func TestLibrariesAreBounded(t *testing.T) {
	for _, set := range []*LibrarySet{nil, {}} {
		f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
		f.L.Bound = 8 << 20
		into := set
		if into == nil {
			into = &f.LibrarySet
		}
		var err error
		loaded := 0
		for ; err == nil && loaded < 10; loaded++ {
			n := strconv.Itoa(loaded)
			_, err = f.LoadInto(into, []byte("#!lua name=l"+n+"\nlocal s = ('x'):rep(3 * 2^20)\n"+
				"redis.register_function('f"+n+"', function() return #s end)"), LoadOptions{})
		}
		require.ErrorContains(t, err, "not enough memory")
		require.Equal(t, 3, loaded)
	}
}

// TestRegisteringIsBounded checks that what libraries register counts, and takes time.
func TestRegisteringIsBounded(t *testing.T) {
	for _, c := range []struct {
		before, each, want string
		patient            bool
	}{
		{"local d = ('x'):rep(2^20)", "description = d", "not enough memory", true},
		{"local d = ('x'):rep(2^20)", "[d] = 1", "unknown argument given", true},
		{"local t = {} for i = 1, 5e5 do t[i] = 'no-writes' end", "flags = t",
			"FUNCTION LOAD timeout", false},
	} {
		f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
		f.L.Bound = 16 << 20
		_, err := f.Load([]byte("#!lua name=l\n"+c.before+" for i = 1, 1e5 do "+
			"redis.register_function{function_name = 'f'..i, callback = function() end, "+
			c.each+"} end"), LoadOptions{Patient: c.patient})
		require.ErrorContains(t, err, c.want)
	}
}
