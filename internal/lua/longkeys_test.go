package lua_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

// TestHashString checks that all bytes of a long string count.
func TestHashString(t *testing.T) {
	const long = "0123456789012345678901234567890123456789"
	require.NotEqual(t, lua.HashString(long), lua.HashString("0"+"x"+long[2:]))
	require.Equal(t, uint32(0), lua.HashString(""))
	require.Equal(t, uint32(1^(1<<5+'a')), lua.HashString("a"))
}

// TestHashingTakesTime checks that hashing a long key counts as its length demands.
func TestHashingTakesTime(t *testing.T) {
	const setup = `k = ('k'):rep(1000000) t = {[k] = 1}
		deep, deeper = setmetatable({}, {__index = t}), setmetatable({}, {__newindex = t})
		call = setmetatable({}, {__index = function() end})`
	for _, access := range []string{"v = t[k]", "t[k] = 1", "rawget(t, k)", "rawset(t, k, 1)",
		"next(t, k)", "v = deep[k]", "deeper[k] = 1", "v = call[k]", "k:gsub('.+', t)",
	} {
		m := newMachine()
		looks := 0
		m.Interrupt = func() error { looks++; return nil }
		require.Empty(t, m.run(setup, "=t"))
		looks = 0
		require.Empty(t, m.run(access+" "+access+" "+access, "=t"), access)
		assert.Greater(t, looks, 3*10, access)
	}
}

// TestEndWhileHashing checks that a run which ends while a key is hashed leaves the table alone.
func TestEndWhileHashing(t *testing.T) {
	for _, access := range []string{"v = t[k]", "t[k] = 1", "rawget(t, k)", "rawset(t, k, 1)",
		"next(t, k)", "pcall(next, t, k)",
	} {
		m := newMachine()
		require.Empty(t, m.run("k = ('k'):rep(1000000) t = {}", "=t"))
		looks := 0
		m.Interrupt = func() error {
			if looks++; looks > 3 {
				return assert.AnError
			}
			return nil
		}
		out := m.run(access+" ended = false", "=t")
		assert.Contains(t, out, assert.AnError.Error(), access)
		assert.Equal(t, 4, looks, access)
		assert.True(t, m.Globals.GetString("ended").IsNil(), access)
		size := m.Globals.GetString("t").Table().Bytes()
		assert.Equal(t, lua.NewTable(0, 0).Bytes(), size, access)
	}
}
