package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/integration/luadiff/compare"
	"godwit/internal/lua/luagen"
	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestCompileAgainstRedis checks that Godwit accepts the same scripts as the newest Redis, and
// refuses the others with the same words. A grammar makes the scripts, and half of them are damaged
// at a token.
func TestCompileAgainstRedis(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	theirs := dialPeer(t)
	ours := startServer(t).dial(t)
	r := testseed.Rand(t)
	refused := 0
	for range 800 {
		src := luagen.Script(r)
		got, want := loadScript(t, ours, src), loadScript(t, theirs, src)
		if strings.Contains(want, "Error compiling") {
			refused++
		}
		if !assert.Equal(testserver.Redis.TB(t), want, got, "%q", luagen.Body(src)) {
			return
		}
	}
	require.Greater(t, refused, 120)
}

// TestProgramsAgainstRedis checks that scripts that tell all that they see return the same as under
// the newest Redis. The command integration/luadiff runs many more.
func TestProgramsAgainstRedis(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	theirs, err := compare.NewServer("unix", testserver.Redis.Start(t, "").Socket)
	require.NoError(t, err)
	defer theirs.Close()
	ours, err := compare.NewServer("tcp", startServer(t).Addr)
	require.NoError(t, err)
	defer ours.Close()
	pair := compare.Pair{Judge: theirs, Tested: ours}
	r := testseed.Rand(t)
	var programs []string
	for range 400 {
		programs = append(programs, luagen.Program(r))
	}
	found, err := pair.Check(programs...)
	require.NoError(t, err)
	if len(found) > 0 {
		testserver.Redis.TB(t).Error(pair.Shrink(found[0]))
	}
}

func loadScript(t *testing.T, c *client.Client, src string) string {
	v, err := c.Do("SCRIPT", "LOAD", src)
	require.NoError(t, err, "%q", src)
	return v.String()
}

func dialPeer(t *testing.T) *client.Client {
	return testserver.Redis.Start(t, "").Client(t)
}

// TestScriptsShareNothing checks that a user with no right but EVAL cannot put anything into the
// libraries that the next script of an administrator finds. Syntax errors in nested functions do
// not end the server either.
func TestScriptsShareNothing(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t)
	admin, user := s.dial(t), s.dial(t)
	do(t, admin, "ACL", "SETUSER", "mallory", "on", "nopass", "+eval", "~m:*")
	do(t, user, "AUTH", "mallory", "")
	for _, attack := range []string{
		"local _, t = ipairs(string) local p = redis.pcall " +
			"t.upper = function(s) p('set', 'stolen', '1') return s end return 1",
		"local _, g = ipairs(_G) setmetatable(g, nil) g.owned = 1 return 1",
		"local _, r = ipairs(redis) r.call = function() return 'mine' end return 1",
		"local a for i=1,2 do f(function() x= end) end",
		"return loadstring('local a for i=1,2 do f(function() x= end) end')()",
	} {
		_, err := user.Do("EVAL", attack, 0)
		require.NoError(t, err, attack)
		do(t, admin, "SCRIPT", "FLUSH")
		v := do(t, admin, "EVAL",
			"return {string.upper('a'), redis.call('ping').ok, tostring(rawget(_G, 'owned')), "+
				"tostring(redis.call('exists', 'stolen'))}", 0)
		require.Equal(t, `array["A" "PONG" "nil" "0"]`, v.String(), attack)
	}
	for _, cmd := range [][]any{
		{"SCRIPT", "LOAD", "local a for i=1,2 do f(function() x= end) end"},
		{"FUNCTION", "LOAD", "#!lua name=l\nlocal a for i=1,2 do f(function() x= end) end"},
	} {
		v, err := admin.Do(cmd...)
		require.NoError(t, err)
		require.Contains(t, v.String(), "unexpected symbol near 'end'")
	}
}
