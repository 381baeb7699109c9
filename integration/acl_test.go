package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// as connects as the user.
func (s *server) as(t testing.TB, user, password string) *redis.Client {
	return s.client(t, func(o *redis.Options) { o.Username, o.Password = user, password })
}

// TestACLRevoked checks that a user's rights count when a command runs, not when it was queued or
// began to wait.
func TestACLRevoked(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	ctx := t.Context()
	admin := s.client(t)
	require.NoError(t, admin.ACLSetUser(ctx, "worker", "on", ">pw", "~job:*", "&job:*",
		"+@all", "-@dangerous").Err())
	c := s.dial(t)
	do := func(args ...any) client.Value {
		v, err := c.Do(args...)
		require.NoError(t, err)
		return v
	}
	do("AUTH", "worker", "pw")
	require.Equal(t, "OK", do("SET", "job:1", "a").Text())
	require.Contains(t, do("SET", "other", "a").Text(), "NOPERM")
	require.Contains(t, do("FLUSHALL").Text(), "NOPERM")
	do("MULTI")
	do("SET", "job:1", "b")
	do("GET", "job:1")
	require.NoError(t, admin.ACLSetUser(ctx, "worker", "-set").Err())
	replies := do("EXEC").Elems
	require.Contains(t, replies[0].Text(), "no permission to execute the command or subcommand")
	require.Equal(t, "a", replies[1].Text())
	waiting := make(chan string, 1)
	go func() {
		v, _ := c.Do("BLPOP", "job:list", "0")
		waiting <- v.Text()
	}()
	require.Eventually(t, func() bool {
		return infoField(t, admin, "blocked_clients") == "1"
	}, patience, time.Millisecond)
	require.NoError(t, admin.ACLSetUser(ctx, "worker", "resetkeys").Err())
	require.NoError(t, admin.RPush(ctx, "job:list", "x").Err())
	require.Contains(t, <-waiting, "NOPERM")
	require.EqualValues(t, 1, admin.LLen(ctx, "job:list").Val(), "a refused command has no effect")
	log, err := admin.ACLLog(ctx, 10).Result()
	require.NoError(t, err)
	require.Len(t, log, 4)
	require.Equal(t, "key", log[0].Reason)
	require.Equal(t, "job:list", log[0].Object)
	require.Equal(t, "multi", log[1].Context)
	require.Equal(t, "worker", log[1].Username)
	require.Equal(t, "2", infoField(t, admin, "acl_access_denied_key"))
	require.Equal(t, "2", infoField(t, admin, "acl_access_denied_cmd"))
}

// TestACLEndsConnections checks that a client is disconnected when it loses its channels or its
// user, and that other clients are not.
func TestACLEndsConnections(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	ctx := t.Context()
	admin := s.client(t)
	require.NoError(t, admin.ACLSetUser(ctx, "u", "on", "nopass", "+@all", "&a*", "&b").Err())
	login := func(args ...any) func() error {
		c := s.dial(t)
		_, err := c.Do("AUTH", "u", "x")
		require.NoError(t, err)
		_, err = c.Do(args...)
		require.NoError(t, err)
		return func() error { _, err := c.Do("PING"); return err }
	}
	a, b, pattern, idle := login("SUBSCRIBE", "a1"), login("SUBSCRIBE", "b"),
		login("PSUBSCRIBE", "a*"), login("PING")
	require.NoError(t, admin.ACLSetUser(ctx, "u", "resetchannels", "&a?", "&b").Err())
	require.NoError(t, a())
	require.NoError(t, b())
	require.Error(t, pattern(), "the pattern is not written the same")
	require.NoError(t, admin.ACLSetUser(ctx, "u", "resetchannels", "&b").Err())
	require.Error(t, a())
	require.NoError(t, b())
	require.NoError(t, idle())
	require.NoError(t, admin.ACLDelUser(ctx, "u").Err())
	require.Error(t, b())
	require.Error(t, idle())
}

// TestACLFile checks that a file with errors changes nothing, that clients whose users are gone are
// disconnected, and that what ACL SAVE writes is there after a restart.
func TestACLFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users.acl")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("user ann on >x ~* &* +@all\nuser bob on nopass ~* +@all\n")
	s := startServer(t, "--aclfile", file)
	ctx := t.Context()
	ann, bob := s.as(t, "ann", "x"), s.dial(t)
	_, err := bob.Do("AUTH", "bob", "x")
	require.NoError(t, err)
	write("user ann off\nnonsense\nuser carl +nosuch\n")
	err = ann.Do(ctx, "ACL", "LOAD").Err()
	require.ErrorContains(t, err,
		file+":2 should start with user keyword followed by the username. "+file+
			":3: Error in applying operation '+nosuch'")
	users, err := ann.ACLUsers(ctx).Result()
	require.NoError(t, err)
	require.Equal(t, []string{"ann", "bob", "default"}, users)
	write("user ann on >x ~* &* +@all\n")
	require.NoError(t, ann.Do(ctx, "ACL", "LOAD").Err())
	_, err = bob.Do("PING")
	require.Error(t, err)
	require.NoError(t, ann.ACLSetUser(ctx, "dora", "on", ">y", "+ping").Err())
	require.NoError(t, ann.Do(ctx, "ACL", "SAVE").Err())
	again := startServer(t, "--aclfile", file)
	require.NoError(t, again.as(t, "dora", "y").Ping(ctx).Err())
}

// TestACLConfig checks users in the configuration file, and that CONFIG REWRITE writes them back.
func TestACLConfig(t *testing.T) {
	t.Parallel()
	conf := filepath.Join(t.TempDir(), "g.conf")
	require.NoError(t, os.WriteFile(conf,
		[]byte("user ann on >x ~* +@all\n# kept\nuser bob on nopass +ping\n"), 0o600))
	s := startServer(t, conf)
	ctx := t.Context()
	admin := s.client(t)
	require.NoError(t, s.as(t, "bob", "any").Ping(ctx).Err())
	require.NoError(t, admin.ACLDelUser(ctx, "bob").Err())
	require.NoError(t, admin.ACLSetUser(ctx, "carl", "on", "nopass", "+get", "(~k +set)").Err())
	require.NoError(t, admin.ACLSetUser(ctx, "q\"\\", "~'\xff\"", `(~x"y +get)`).Err())
	require.NoError(t, admin.ConfigSet(ctx, "requirepass", "secret").Err())
	require.NoError(t, admin.ConfigRewrite(ctx).Err())
	list, err := admin.ACLList(ctx).Result()
	require.NoError(t, err)
	text, err := os.ReadFile(conf)
	require.NoError(t, err)
	require.Contains(t, string(text), list[0]+"\n# kept\n"+list[1]+"\n")
	require.NotContains(t, string(text), "bob")
	again := startServer(t, conf)
	got, err := again.as(t, "default", "secret").ACLList(ctx).Result()
	require.NoError(t, err)
	require.Equal(t, list, got)
}
