package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestHostileScripts checks that each script ends with an error that names the cause, in bounded
// time, and that the server goes on.
func TestHostileScripts(t *testing.T) {
	godwitOnly(t)
	if raceEnabled {
		t.Skip("hundreds of MiB under the race detector take longer than a client waits")
	}
	t.Parallel()
	s := startServer(t, "--busy-reply-threshold", "100")
	c := s.dial(t)
	cases := []struct{ script, want string }{
		{"local s = 'x' while true do s = s .. s end", "on @user_script:1."},
		{"return ('x'):rep(1e9)", "too large"},
		{"return ('x'):rep(2^31-1)", "too large"},
		{"return #table.concat({('x'):rep(4e8),('x'):rep(4e8)})", "on @user_script:1."},
		{"return #(('x'):rep(1e4):gsub('x',('y'):rep(1e5)))", "on @user_script:1."},
		{"local t = {} while true do t[#t+1] = ('x'):rep(100000)..#t end", "not enough memory"},
		{"local a = {} for i = 1, 100 do local t = {} t[67108863] = 1 t[67108862] = 2 a[i] = t " +
			"end return 'ok'", "ok"},
		{"local function f() return f() + 1 end return f()", "stack overflow"},
		{"local t = setmetatable({},{}) getmetatable(t).__index = function(t,k) return t[k] end " +
			"return t.x", "stack overflow"},
		{"local t = setmetatable({},{}) getmetatable(t).__index = t return t.x",
			"loop in gettable"},
		{"local function f() return pcall(f) end return select(2,f())", ""},
		{"local f f = function() return coroutine.wrap(f)() end f()", "C stack overflow"},
		{"local function f(t) table.sort(t,function(a,b) f({1,2}) return false end) end f({1,2})",
			"stack overflow"},
		{"return string.find(('a'):rep(50000),('a?'):rep(50000)..('a'):rep(50000))",
			"pattern too complex"},
		{"return loadstring('return '..('('):rep(100000)..'1'..(')'):rep(100000))()", ""},
		{"return loadstring('return '..('-'):rep(100000)..'1')", ""},
		{"return select(2,loadstring('return '..('not '):rep(100000)..'1'))", ""},
		{"return select(2,loadstring('return 1'..('+1'):rep(100000)))", ""},
		{"return select(2,loadstring('return 1'..('..1'):rep(100000)))", ""},
		{"return select(2,loadstring('return a'..('.a'):rep(100000)))", ""},
		{"return select(2,loadstring('return '..('{'):rep(100000)))", ""},
		{"return select(2,loadstring(('if x then '):rep(100000)))", ""},
		{"return select(2,loadstring('local a = '..('function() '):rep(100000)))", ""},
		{"return unpack({},1,1e8)", "too many results to unpack"},
		{"return string.byte(('x'):rep(1e6),1,-1)", "string slice too long"},
		{"local t = {} t[1] = t return #tostring(t)", ""},
		{"return string.format('%99999d',1)", "invalid format"},
		{"return table.concat({},'x',1,1e9)", "invalid value"},
		{"local t = setmetatable({},{__gc=function() while true do end end}) t = nil return 1", ""},
		{"return load(function() return 'x=' end)", ""},
	}
	for _, k := range cases {
		v, err := c.Do("EVAL", k.script, 0)
		require.NoError(t, err, k.script)
		if k.want != "" {
			require.Contains(t, v.Text(), k.want, k.script)
		}
		require.Equal(t, "PONG", do(t, c, "PING").Text())
	}
}

// TestBusyScript checks that other clients are told BUSY at once while a script is over its time,
// with any number of event loops. The script can be killed even when it catches errors, but not
// after it has written.
func TestBusyScript(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	for _, args := range [][]string{{}, {"--io-threads", "3"}} {
		s := startServer(t, append(args, "--busy-reply-threshold", "50")...)
		const forever = "while true do pcall(function() while true do end end) end"
		for _, script := range []string{forever,
			"return string.find(('a'):rep(200),('a-'):rep(40)..'b')"} {
			busy, other := s.dial(t), s.dial(t)
			busy.Queue("SET", "before", "1")
			busy.Queue("EVAL", script, 0)
			busy.Queue("PING")
			require.NoError(t, busy.Flush())
			eventually(t, "others are told", func() bool {
				v, err := other.Do("GET", "x")
				return err == nil &&
					strings.HasPrefix(v.Text(), "BUSY Redis is busy running a script.")
			})
			late := s.dial(t)
			v, err := late.Do("GET", "x")
			require.NoError(t, err)
			require.Contains(t, v.Text(), "BUSY", "one that connects now is told too")
			v, err = other.Do("SHUTDOWN")
			require.NoError(t, err)
			require.Contains(t, v.Text(), "BUSY")
			require.Equal(t, "OK", do(t, other, "SCRIPT", "KILL").Text())
			for _, want := range []string{"OK",
				"ERR Script killed by user with SCRIPT KILL... script:", "PONG"} {
				v, err := busy.Receive()
				require.NoError(t, err)
				require.Contains(t, v.Text(), want)
			}
			v, err = other.Do("SCRIPT", "KILL")
			require.NoError(t, err)
			require.Equal(t, "NOTBUSY No scripts in execution right now.", v.Text())
		}
		wrote, other := s.dial(t), s.dial(t)
		wrote.Queue("EVAL", "redis.call('SET','half','done') "+forever, 0)
		require.NoError(t, wrote.Flush())
		eventually(t, "it cannot be killed", func() bool {
			v, err := other.Do("SCRIPT", "KILL")
			return err == nil && strings.HasPrefix(v.Text(), "UNKILLABLE ")
		})
		require.NoError(t, wrote.Close(), "its client goes away")
		v, err := other.Do("PING")
		require.NoError(t, err)
		require.Contains(t, v.Text(), "BUSY")
		other.Queue("SHUTDOWN", "NOSAVE")
		require.NoError(t, other.Flush())
		eventually(t, "the server ends", func() bool { return !testserver.Answers("tcp", s.Addr) })
	}
}

// TestScriptedLock runs the usual script that unlocks by value, from many clients at once. They use
// go-redis, which falls back from EVALSHA to EVAL.
func TestScriptedLock(t *testing.T) {
	everywhere(t, func(e *env) {
		unlock := redis.NewScript(
			"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) " +
				"else return 0 end")
		var inside, most, rounds atomic.Int64
		together(8, func(w int) {
			for i := range 20 {
				token := fmt.Sprint(w, "-", i)
				for !e.c.SetNX(e.ctx, "lock", token, 30*time.Second).Val() {
					time.Sleep(time.Millisecond)
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				assert.EqualValues(e, 0, unlock.Run(e.ctx, e.c, []string{"lock"}, "another").Val())
				inside.Add(-1)
				assert.EqualValues(e, 1, unlock.Run(e.ctx, e.c, []string{"lock"}, token).Val())
				rounds.Add(1)
			}
		})
		require.EqualValues(e, 1, most.Load())
		require.EqualValues(e, 160, rounds.Load())
		require.Equal(e, []bool{true}, e.c.ScriptExists(e.ctx, unlock.Hash()).Val())
		require.NoError(e, e.c.ScriptFlush(e.ctx).Err())
		require.Equal(e, []bool{false}, e.c.ScriptExists(e.ctx, unlock.Hash()).Val())
		require.EqualError(e, e.c.EvalSha(e.ctx, unlock.Hash(), []string{"lock"}).Err(),
			"NOSCRIPT No matching script. Please use EVAL.")
	})
}
