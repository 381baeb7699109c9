package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

func zs(scoreMembers ...any) []redis.Z {
	var out []redis.Z
	for i := 0; i < len(scoreMembers); i += 2 {
		out = append(out, redis.Z{Score: scoreMembers[i].(float64), Member: scoreMembers[i+1]})
	}
	return out
}

func TestZSetRanges(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e,
			c.ZAdd(ctx, "z", zs(1.0, "a", 2.0, "b", 3.0, "c", 3.0, "d", 10.5, "e")...).Err())
		require.Equal(e, []string{"b", "c"}, c.ZRange(ctx, "z", 1, 2).Val())
		require.Equal(e, zs(3.0, "d", 10.5, "e"), c.ZRangeWithScores(ctx, "z", -2, -1).Val())
		require.Equal(e, []string{"e", "d"}, c.ZRevRange(ctx, "z", 0, 1).Val())
		require.Equal(e, zs(10.5, "e"), c.ZRevRangeWithScores(ctx, "z", 0, 0).Val())
		require.Equal(e, []string{"b", "c", "d"},
			c.ZRangeByScore(ctx, "z", &redis.ZRangeBy{Min: "(1", Max: "3"}).Val())
		require.Equal(e, zs(3.0, "c"),
			c.ZRangeByScoreWithScores(ctx, "z",
				&redis.ZRangeBy{Min: "-inf", Max: "+inf", Offset: 2, Count: 1}).Val())
		require.Equal(e, []string{"d", "c", "b"},
			c.ZRevRangeByScore(ctx, "z", &redis.ZRangeBy{Min: "(1", Max: "3"}).Val())
		require.Equal(e, zs(10.5, "e", 3.0, "d"),
			c.ZRangeArgsWithScores(ctx,
				redis.ZRangeArgs{Key: "z", Start: "inf", Stop: 0, ByScore: true, Rev: true,
					Count: 2}).Val())
		require.EqualValues(e, 3, c.ZCount(ctx, "z", "2", "3").Val())

		require.NoError(e, c.ZAdd(ctx, "l", zs(0.0, "a", 0.0, "b", 0.0, "c", 0.0, "d")...).Err())
		require.Equal(e, []string{"b", "c"},
			c.ZRangeByLex(ctx, "l", &redis.ZRangeBy{Min: "(a", Max: "[c"}).Val())
		require.Equal(e, []string{"d", "c"},
			c.ZRevRangeByLex(ctx, "l", &redis.ZRangeBy{Min: "-", Max: "+", Count: 2}).Val())
		require.EqualValues(e, 2, c.ZLexCount(ctx, "l", "[b", "(d").Val())

		n, err := c.ZRangeStore(ctx, "d", redis.ZRangeArgs{Key: "z", Start: 1, Stop: 2}).Result()
		require.NoError(e, err)
		require.EqualValues(e, 2, n)
		require.Equal(e, zs(2.0, "b", 3.0, "c"), c.ZRangeWithScores(ctx, "d", 0, -1).Val())

		require.EqualValues(e, 1, c.ZRemRangeByRank(ctx, "z", 0, 0).Val())
		require.EqualValues(e, 2, c.ZRemRangeByScore(ctx, "z", "(2", "3").Val())
		require.EqualValues(e, 4, c.ZRemRangeByLex(ctx, "l", "-", "+").Val())
		require.Equal(e, []string{"b", "e"}, c.ZRange(ctx, "z", 0, -1).Val())
		require.Zero(e, c.Exists(ctx, "l").Val())

		require.NoError(e, c.Set(ctx, "s", "x", 0).Err())
		e.errs(c.ZRange(ctx, "s", 0, 1).Err(),
			"WRONGTYPE Operation against a key holding the wrong kind of value")
		e.errs(c.ZCount(ctx, "z", "x", "1").Err(), "ERR min or max is not a float")
		e.errs(c.ZLexCount(ctx, "z", "x", "1").Err(), "ERR min or max not valid string range item")
	})
}

func TestZSetOperations(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e, c.ZAdd(ctx, "a", zs(1.0, "x", 2.0, "y", 3.0, "z")...).Err())
		require.NoError(e, c.ZAdd(ctx, "b", zs(10.0, "y", 20.0, "z", 30.0, "w")...).Err())
		require.NoError(e, c.SAdd(ctx, "s", "x", "w").Err())
		keys := []string{"a", "b"}
		require.Equal(e, []string{"x", "y", "z", "w"},
			c.ZUnion(ctx, redis.ZStore{Keys: keys}).Val())
		require.Equal(e, zs(3.0, "x", 5.0, "y", 9.0, "z", 15.0, "w"),
			c.ZUnionWithScores(ctx,
				redis.ZStore{Keys: keys, Weights: []float64{3, 0.5}, Aggregate: "MIN"}).Val())
		require.Equal(e, []string{"y", "z"}, c.ZInter(ctx, &redis.ZStore{Keys: keys}).Val())
		require.Equal(e, zs(12.0, "y", 23.0, "z"),
			c.ZInterWithScores(ctx, &redis.ZStore{Keys: keys}).Val())
		require.Equal(e, []string{"x"}, c.ZDiff(ctx, keys...).Val())
		require.Equal(e, zs(2.0, "y", 3.0, "z"), c.ZDiffWithScores(ctx, "a", "s").Val())
		require.EqualValues(e, 2, c.ZInterCard(ctx, 0, keys...).Val())
		require.EqualValues(e, 1, c.ZInterCard(ctx, 1, keys...).Val())
		require.EqualValues(e, 4,
			c.ZUnionStore(ctx, "d", &redis.ZStore{Keys: []string{"a", "b", "s"}}).Val())
		require.Equal(e, zs(2.0, "x", 12.0, "y", 23.0, "z", 31.0, "w"),
			c.ZRangeWithScores(ctx, "d", 0, -1).Val())
		require.EqualValues(e, 1,
			c.ZInterStore(ctx, "d",
				&redis.ZStore{Keys: []string{"a", "s"}, Aggregate: "MAX"}).Val())
		require.EqualValues(e, 1, c.ZDiffStore(ctx, "a", "a", "b").Val())
		require.Equal(e, zs(1.0, "x"), c.ZRangeWithScores(ctx, "a", 0, -1).Val())
		require.Zero(e, c.ZDiffStore(ctx, "a", "a", "a").Val())
		require.Zero(e, c.Exists(ctx, "a").Val())
		require.NoError(e, c.Set(ctx, "str", "x", 0).Err())
		e.errs(c.ZUnionStore(ctx, "d", &redis.ZStore{Keys: []string{"b", "str"}}).Err(),
			"WRONGTYPE Operation against a key holding the wrong kind of value")
		e.errs(c.Do(ctx, "ZUNION", 0, "b").Err(),
			"ERR at least 1 input key is needed for 'zunion' command")
	})
}

// TestZSetEvents listens to the keyspace events of the commands, in order.
func TestZSetEvents(t *testing.T) {
	s := startServer(t, "--notify-keyspace-events", "KEA")
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	ctx := t.Context()
	sub := c.PSubscribe(ctx, "__keyevent@0__:*")
	defer sub.Close()
	_, err := sub.Receive(ctx)
	require.NoError(t, err)
	for _, step := range []struct {
		command string
		events  []string
	}{
		{"ZADD z 1 a 2 b 3 c", []string{"zadd z"}},
		{"ZRANGESTORE d z 0 -1", []string{"zrangestore d"}},
		{"ZRANGESTORE d z 5 9", []string{"del d"}},
		{"ZUNIONSTORE u 1 z", []string{"zunionstore u"}},
		{"ZINTERSTORE u 2 z missing", []string{"del u"}},
		{"ZINTERSTORE i 1 z", []string{"zinterstore i"}},
		{"ZDIFFSTORE f 1 z", []string{"zdiffstore f"}},
		{"ZREMRANGEBYRANK i 0 0", []string{"zremrangebyrank i"}},
		{"ZREMRANGEBYSCORE i -inf inf", []string{"zremrangebyscore i", "del i"}},
		{"ZREMRANGEBYLEX f - +", []string{"zremrangebylex f", "del f"}},
	} {
		args, err := words(step.command)
		require.NoError(t, err)
		require.NoError(t, c.Do(ctx, args...).Err(), step.command)
		for _, want := range step.events {
			msg, err := sub.ReceiveMessage(ctx)
			require.NoError(t, err)
			require.Equal(t, want,
				strings.TrimPrefix(msg.Channel, "__keyevent@0__:")+" "+msg.Payload, step.command)
		}
	}
}

// TestZSetAgainstRedis sends the same random commands on sorted sets to a server and to
// redis-server. The thresholds are such that both encodings come up all the time.
func TestZSetAgainstRedis(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	r := testseed.Rand(t)
	args := []string{"--zset-max-listpack-entries", "8", "--zset-max-listpack-value", "20"}
	ours, theirs := newPeer(t, startServer(t, args...).Addr), newPeer(t, startRedis(t, args...))
	for i := range 6000 {
		cmd := zsetCommandLine(r)
		got, want := ours.ask(cmd), theirs.ask(cmd)
		if got != want {
			t.Fatalf("command %d: %q\n got %s\nwant %s", i, cmd, got, want)
		}
		if i%20 == 0 {
			key := zsetKey(r)
			for _, look := range [][]any{{"ZRANGE", key, 0, -1, "WITHSCORES"},
				{"OBJECT", "ENCODING", key}, {"ZRANGE", "l", 0, -1}} {
				if got, want := ours.ask(look), theirs.ask(look); got != want {
					t.Fatalf("after command %d, %q: %v\n got %s\nwant %s", i, cmd, look, got, want)
				}
			}
		}
	}
}

// startRedis runs redis-server with args until the test ends, and returns its address. Without
// redis-server it skips the test, or fails it in CI.
func startRedis(t *testing.T, args ...string) string {
	t.Helper()
	bin := testserver.Program(t, "redis-server")
	return testserver.Run(t, testserver.Options{Program: bin, Args: args}).Addr
}

// peer is a connection to one of two servers that are compared.
type peer struct {
	t *testing.T
	c *redis.Conn
}

func newPeer(t *testing.T, addr string) peer {
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1}).Conn()
	t.Cleanup(func() { c.Close() })
	return peer{t, c}
}

func (p peer) ask(args []any) string {
	p.t.Helper()
	raw, err := p.c.DoRaw(context.Background(), args...).Result()
	require.NoError(p.t, err, "%v", args)
	v, _, err := client.Parse(raw)
	require.NoError(p.t, err)
	return v.String()
}

func zsetKey(r *rand.Rand) string { return "z" + fmt.Sprint(r.IntN(4)) }

func zsetMember(r *rand.Rand) string {
	if r.IntN(40) == 0 {
		return "a member that is too long " + fmt.Sprint(r.IntN(3))
	}
	return []string{"m", "", "-", "a\x00"}[r.IntN(4)] + fmt.Sprint(r.IntN(16))
}

func zsetScore(r *rand.Rand) string {
	return []string{"inf", "-inf", "0", "-0", "1", "2", "3", "2.5", "1e20", "0.1", "-7", "0x10",
		"3.0000000000000004"}[r.IntN(13)]
}

func zsetBound(r *rand.Rand) string { return []string{"", "("}[r.IntN(2)] + zsetScore(r) }

func zsetLex(r *rand.Rand) string {
	if r.IntN(5) == 0 {
		return []string{"-", "+"}[r.IntN(2)]
	}
	return []string{"[", "("}[r.IntN(2)] + zsetMember(r)
}

// zsetCommandLine draws a command. It asks for ranges of members only of key l, where all scores
// are 0. On other keys such ranges mean nothing.
func zsetCommandLine(r *rand.Rand) []any {
	k, rank := zsetKey(r), func() int { return r.IntN(24) - 12 }
	var limit []any
	if r.IntN(2) == 0 {
		limit = []any{"LIMIT", r.IntN(6) - 1, r.IntN(8) - 2}
	}
	with := func(args ...any) []any { return append(args, limit...) }
	switch r.IntN(24) {
	case 0, 1, 2, 3, 4:
		return []any{"ZADD", k, zsetScore(r), zsetMember(r), zsetScore(r), zsetMember(r),
			zsetScore(r), zsetMember(r)}
	case 5, 6:
		return []any{"ZADD", "l", 0, zsetMember(r), 0, zsetMember(r)}
	case 7:
		return []any{"ZREM", k, zsetMember(r), zsetMember(r)}
	case 8:
		return []any{"ZRANGE", k, rank(), rank(), "WITHSCORES"}
	case 9:
		return []any{"ZREVRANGE", k, rank(), rank()}
	case 10:
		return with("ZRANGEBYSCORE", k, zsetBound(r), zsetBound(r))
	case 11:
		return with("ZRANGE", k, zsetBound(r), zsetBound(r), "BYSCORE", "REV", "WITHSCORES")
	case 12:
		return with("ZRANGEBYLEX", "l", zsetLex(r), zsetLex(r))
	case 13:
		return with("ZREVRANGEBYLEX", "l", zsetLex(r), zsetLex(r))
	case 14:
		return []any{"ZLEXCOUNT", "l", zsetLex(r), zsetLex(r)}
	case 15:
		return []any{"ZCOUNT", k, zsetBound(r), zsetBound(r)}
	case 16:
		return []any{"ZREMRANGEBYRANK", k, rank(), r.IntN(4)}
	case 17:
		return []any{"ZREMRANGEBYSCORE", k, zsetBound(r), zsetScore(r)}
	case 18:
		return []any{"ZREMRANGEBYLEX", "l", zsetLex(r), zsetLex(r)}
	case 19:
		return with("ZRANGESTORE", zsetKey(r), k, zsetBound(r), zsetBound(r), "BYSCORE")
	case 20:
		return []any{"ZREVRANK", k, zsetMember(r)}
	case 21:
		return []any{"ZINCRBY", k, zsetScore(r), zsetMember(r)}
	case 22:
		return []any{[]string{"ZPOPMIN", "ZPOPMAX"}[r.IntN(2)], k, r.IntN(3)}
	}
	return zsetOperationLine(r)
}

// zsetOperationLine draws a command on several sorted sets.
func zsetOperationLine(r *rand.Rand) []any {
	op := []string{"ZUNION", "ZINTER", "ZDIFF"}[r.IntN(3)]
	n := 1 + r.IntN(3)
	args := []any{op, n}
	store := r.IntN(2) == 0
	if store {
		args = []any{op + "STORE", zsetKey(r), n}
	}
	for range n {
		args = append(args, zsetKey(r))
	}
	if op != "ZDIFF" && r.IntN(2) == 0 {
		args = append(args, "WEIGHTS")
		for range n {
			args = append(args, zsetScore(r))
		}
	}
	if op != "ZDIFF" && r.IntN(2) == 0 {
		args = append(args, "AGGREGATE", []string{"SUM", "MIN", "MAX"}[r.IntN(3)])
	}
	if !store {
		args = append(args, "WITHSCORES")
	}
	return args
}
