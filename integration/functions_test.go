package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// lockLibrary is the lock recipe as functions.
const lockLibrary = `#!lua name=lock
local function free(keys, args)
	if redis.call('GET', keys[1]) == args[1] then return redis.call('DEL', keys[1]) end
	return 0
end
redis.register_function('unlock', free)
redis.register_function{
	function_name = 'holds', flags = {'no-writes'}, description = 'whether args[1] holds keys[1]',
	callback = function(keys, args) return redis.call('GET', keys[1]) == args[1] end,
}`

func TestFunctions(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for proto := 2; proto <= 3; proto++ {
		c := redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: proto})
		defer c.Close()
		ctx := t.Context()
		name, err := c.FunctionLoadReplace(ctx, lockLibrary).Result()
		require.NoError(t, err)
		require.Equal(t, "lock", name)
		list, err := c.FunctionList(ctx,
			redis.FunctionListQuery{LibraryNamePattern: "l?ck", WithCode: true}).Result()
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, []string{"lock", "LUA", lockLibrary},
			[]string{list[0].Name, list[0].Engine, list[0].Code})
		require.ElementsMatch(t, []redis.Function{
			{Name: "unlock", Flags: []string{}},
			{Name: "holds", Description: "whether args[1] holds keys[1]",
				Flags: []string{"no-writes"}},
		}, list[0].Functions)

		require.NoError(t, c.Set(ctx, "l", "me", 0).Err())
		assert.EqualValues(t, 1, c.FCallRo(ctx, "holds", []string{"l"}, "me").Val())
		assert.ErrorContains(t, c.FCallRo(ctx, "unlock", []string{"l"}, "me").Err(), "write flag")
		assert.EqualValues(t, 0, c.FCall(ctx, "unlock", []string{"l"}, "other").Val())
		assert.EqualValues(t, 1, c.FCall(ctx, "unlock", []string{"l"}, "me").Val())
		assert.EqualValues(t, 0, c.FCall(ctx, "unlock", []string{"l"}, "me").Val())

		dump := c.FunctionDump(ctx).Val()
		require.NoError(t, c.FunctionFlush(ctx).Err())
		assert.ErrorContains(t, c.FCall(ctx, "unlock", []string{"l"}, "me").Err(),
			"Function not found")
		require.NoError(t, c.FunctionRestore(ctx, dump).Err())
		assert.ErrorContains(t, c.FunctionRestore(ctx, dump).Err(), "Library lock already exists")
		for _, policy := range []string{"REPLACE", "FLUSH"} {
			require.NoError(t, c.Do(ctx, "FUNCTION", "RESTORE", dump, policy).Err())
		}
		stats, err := c.FunctionStats(ctx).Result()
		require.NoError(t, err)
		assert.Equal(t, []redis.Engine{{Language: "LUA", LibrariesCount: 1, FunctionsCount: 2}},
			stats.Engines)
		assert.False(t, stats.Running())
		require.NoError(t, c.FlushAll(ctx).Err()) // keeps functions
		assert.EqualValues(t, 0, c.FCall(ctx, "unlock", []string{"l"}, "me").Val())
	}
}

// sources returns the code of all libraries by name.
func sources(t *testing.T, c *client.Client) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, l := range do(t, c, "FUNCTION", "LIST", "WITHCODE").Elems {
		all[l.Elems[1].Text()] = l.Elems[7].Text()
	}
	return all
}

// TestFunctionsAreKept checks that snapshots and logs with either base keep functions, before and
// after a rewrite, and that removed ones stay away.
func TestFunctionsAreKept(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"snapshot": with("--save", "3600 1"),
		"log":      with("--appendonly", "yes"),
		"plain":    with("--appendonly", "yes", "--aof-use-rdb-preamble", "no"),
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, args...)
			c := s.dial(t)
			do(t, c, "FUNCTION", "LOAD", lockLibrary)
			do(t, c, "FUNCTION", "LOAD",
				"#!lua name=gone\nredis.register_function('g', function() end)")
			do(t, c, "SET", "l", "me")
			do(t, c, "FUNCTION", "DELETE", "gone")
			do(t, c, "FUNCTION", "LOAD",
				"#!lua name=old\nredis.register_function('o', function() return 'old' end)")
			if name != "snapshot" {
				rewriteAOF(t, c)
			}
			do(t, c, "FUNCTION", "LOAD", "REPLACE",
				"#!lua name=old\nredis.register_function('o', function() return 'new' end)")
			libraries := sources(t, c)
			require.Len(t, libraries, 2)
			for range 2 {
				if name == "snapshot" {
					do(t, c, "SAVE")
					do(t, c, "DEBUG", "RELOAD")
				}
				s.stop(t)
				s = again(t, s, args...)
				c = s.dial(t)
				require.Equal(t, libraries, sources(t, c))
				require.Equal(t, "new", do(t, c, "FCALL", "o", "0").Text())
				require.EqualValues(t, 1, do(t, c, "FCALL", "holds", "1", "l", "me").Int)
			}
			do(t, c, "FUNCTION", "FLUSH")
			if name == "snapshot" {
				do(t, c, "SAVE")
			}
			s.stop(t)
			s = again(t, s, args...)
			require.Empty(t, do(t, s.dial(t), "FUNCTION", "LIST").Elems)
		})
	}
}

// TestFunctionsWithRedis hands libraries to redis-server and back: as payloads, in a snapshot and
// in a log.
func TestFunctionsWithRedis(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	long := "#!lua name=long\n--" + strings.Repeat(" long and dull", 500) +
		"\nredis.register_function('long', function() return 'long' end)"
	works := func(c *client.Client, value string) {
		t.Helper()
		do(t, c, "SET", "l", value)
		require.EqualValues(t, 1, do(t, c, "FCALL", "unlock", "1", "l", value).Int)
		require.Equal(t, "long", do(t, c, "FCALL", "long", "0").Text())
	}
	for _, aof := range []string{"no", "yes"} {
		args := with("--appendonly", aof)
		s := startServer(t, args...)
		c := s.dial(t)
		do(t, c, "FUNCTION", "LOAD", lockLibrary)
		do(t, c, "FUNCTION", "LOAD", long)
		works(c, "ours")
		do(t, c, "SAVE")
		ours := do(t, c, "FUNCTION", "DUMP").Text()
		s.stop(t)

		addr := startRedis(t, append([]string{"--dir", s.Dir}, args...)...)
		r := dialAddr(t, addr)
		eventually(t, "redis-server has loaded", func() bool {
			v, _ := r.Do("PING")
			return !v.IsError()
		})
		works(r, "theirs")
		theirs := do(t, r, "FUNCTION", "DUMP").Text()
		do(t, r, "FUNCTION", "RESTORE", ours, "FLUSH")
		works(r, "ours again")
		do(t, r, "SAVE")
		_, err := r.Do("SHUTDOWN", "NOSAVE")
		require.Error(t, err)
		eventually(t, "redis-server has ended", func() bool {
			return !testserver.Answers("tcp", addr)
		})

		s = again(t, s, args...)
		c = s.dial(t)
		works(c, "back")
		do(t, c, "FUNCTION", "RESTORE", theirs, "FLUSH")
		works(c, "restored")
	}
}

// TestBusyFunction checks that clients are told BUSY when a function is over its time, and that it
// can be killed unless it has written.
func TestBusyFunction(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--busy-reply-threshold", "20")
	c, busy := s.dial(t), s.dial(t)
	do(t, c, "FUNCTION", "LOAD", `#!lua name=loops
		redis.register_function('loop', function(keys, args)
			if args[1] == 'write' then redis.call('SET', 'written', 1) end
			local n = tonumber(args[2])
			while n > 0 do n = n - 1 end
		end)`)
	start := func(what string, n int) {
		busy.Queue("FCALL", "loop", "0", what, n)
		require.NoError(t, busy.Flush())
		eventually(t, "others hear that it is busy", func() bool {
			v, err := c.Do("GET", "x")
			require.NoError(t, err)
			return strings.HasPrefix(v.Str, "BUSY")
		})
	}
	start("read", 1<<40)
	v, err := c.Do("GET", "x")
	require.NoError(t, err)
	require.Equal(t,
		"BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
		v.Str)
	stats := do(t, c, "FUNCTION", "STATS").Elems[1].Elems
	require.Equal(t, "loop", stats[1].Str)
	require.Equal(t, []string{"FCALL", "loop", "0", "read", fmt.Sprint(1 << 40)},
		stats[3].Strings())
	require.Positive(t, stats[5].Int)
	v, err = c.Do("SCRIPT", "KILL")
	require.NoError(t, err)
	require.Equal(t,
		"BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
		v.Str)
	do(t, c, "FUNCTION", "KILL")
	v, err = busy.Receive()
	require.NoError(t, err)
	require.Contains(t, v.Str,
		"ERR Script killed by user with SCRIPT KILL... script: loop, on @user_function:")

	steps := 1 << 25
	if raceEnabled {
		steps = 1 << 22
	}
	start("write", steps)
	v, err = c.Do("FUNCTION", "KILL")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(v.Str, "UNKILLABLE"), v.Str)
	busy.Timeout = 5 * time.Minute // of a loop under the race detector on a busy machine
	v, err = busy.Receive()
	require.NoError(t, err)
	require.True(t, v.IsNull(), v)
	require.Equal(t, "1", do(t, c, "GET", "written").Text())
}
