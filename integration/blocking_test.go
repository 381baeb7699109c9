package integration

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// blocker is a connection that waits in a blocking command.
type blocker struct {
	*client.Client
	e  *env
	id int64
}

// blocker opens a connection on the test's database.
func (e *env) blocker() *blocker {
	e.Helper()
	c := e.raw()
	c.Timeout = patience
	do(e, c, "HELLO", e.proto)
	do(e, c, "SELECT", e.db)
	return &blocker{c, e, do(e, c, "CLIENT", "ID").Int}
}

// send sends a command and waits until the server has the client blocked in it.
func (b *blocker) send(args ...any) *blocker {
	b.e.Helper()
	b.Queue(args...)
	require.NoError(b.e, b.Flush())
	eventually(b.e, fmt.Sprint(args, " blocks"), func() bool {
		return strings.Contains(b.flags(), "b")
	})
	return b
}

// flags returns the client's letters in CLIENT LIST, or "" when the client is gone.
func (b *blocker) flags() string {
	line := b.e.c.Do(b.e.ctx, "CLIENT", "LIST", "ID", b.id).Val().(string)
	_, after, _ := strings.Cut(line, " flags=")
	flags, _, _ := strings.Cut(after, " ")
	return flags
}

// block opens a connection and blocks it in the command.
func (e *env) block(args ...any) *blocker {
	e.Helper()
	return e.blocker().send(args...)
}

// gets checks how the next reply is rendered.
func (b *blocker) gets(want string) {
	b.e.Helper()
	v, err := b.Receive()
	require.NoError(b.e, err)
	got := strings.ReplaceAll(v.String(), "array[", "[")
	switch {
	case v.IsNull():
		got = "null"
	case v.IsError():
		got = "error:" + v.Str
	}
	require.Equal(b.e, want, got)
}

// waits checks that the client is still blocked.
func (b *blocker) waits() {
	b.e.Helper()
	require.Contains(b.e, b.flags(), "b")
}

// leaves closes the connection and waits until the server has noticed: before that, the client may
// still be served.
func (b *blocker) leaves() {
	b.e.Helper()
	b.Close()
	eventually(b.e, "the client is gone", func() bool { return b.flags() == "" })
}

func TestBlockingPops(t *testing.T) {
	everywhere(t, func(e *env) {
		score := func(s string) string {
			if e.proto == 3 {
				return "double:" + s
			}
			return strconv.Quote(s)
		}
		for _, c := range []struct {
			fill, wait []any
			want       string
			left       string // of the list
		}{
			{[]any{"RPUSH", "l", "a", "b", "c"}, []any{"BLPOP", "x", "l", 0}, `["l" "a"]`, "b c"},
			{[]any{"RPUSH", "l", "a", "b", "c"}, []any{"BRPOP", "l", "x", 0}, `["l" "c"]`, "a b"},
			{[]any{"RPUSH", "l", "a"}, []any{"BLPOP", "l", "l", 0}, `["l" "a"]`, ""},
			{[]any{"RPUSH", "l", "a", "b"}, []any{"BLMOVE", "l", "m", "LEFT", "RIGHT", 0},
				`"a"`, "b"},
			{[]any{"RPUSH", "l", "a", "b"}, []any{"BLMOVE", "l", "l", "LEFT", "RIGHT", 0},
				`"a"`, "b a"},
			{[]any{"RPUSH", "l", "a", "b"}, []any{"BRPOPLPUSH", "l", "m", 0}, `"b"`, "a"},
			{[]any{"RPUSH", "l", "a", "b", "c"},
				[]any{"BLMPOP", 0, 2, "x", "l", "RIGHT", "COUNT", 2}, `["l" ["c" "b"]]`, "a"},
			{[]any{"RPUSH", "l", "a"}, []any{"BLMPOP", 0, 1, "l", "LEFT", "COUNT", 9},
				`["l" ["a"]]`, ""},
			{[]any{"ZADD", "z", 1, "m", 2.5, "n"}, []any{"BZPOPMIN", "x", "z", 0},
				`["z" "m" ` + score("1") + `]`, ""},
			{[]any{"ZADD", "z", 1, "m", 2.5, "n"}, []any{"BZPOPMAX", "z", 0},
				`["z" "n" ` + score("2.5") + `]`, ""},
			{[]any{"ZADD", "z", 1, "m", 2.5, "n"},
				[]any{"BZMPOP", 0, 2, "x", "z", "MAX", "COUNT", 2},
				`["z" [["n" ` + score("2.5") + `] ["m" ` + score("1") + `]]]`, ""},
		} {
			for _, first := range []string{"fill", "wait"} {
				e.c.Del(e.ctx, "l", "z", "m")
				b := e.blocker()
				if first == "fill" {
					require.NoError(e, e.c.Do(e.ctx, c.fill...).Err())
					b.Queue(c.wait...)
					require.NoError(e, b.Flush())
				} else {
					b.send(c.wait...)
					require.NoError(e, e.c.Do(e.ctx, c.fill...).Err())
				}
				b.gets(c.want)
				require.Equal(e, c.left, strings.Join(e.c.LRange(e.ctx, "l", 0, -1).Val(), " "),
					"%v, %s first", c.wait, first)
				b.Close()
			}
		}
	})
}

func TestBlockingWithGoRedis(t *testing.T) {
	everywhere(t, func(e *env) {
		wait := func(pop func() (any, error), push func() error, want any) {
			e.Helper()
			type reply struct {
				v   any
				err error
			}
			got := make(chan reply, 1)
			go func() {
				v, err := pop()
				got <- reply{v, err}
			}()
			require.NoError(e, push())
			r := <-got
			require.NoError(e, r.err)
			require.Equal(e, want, r.v)
		}
		wait(func() (any, error) { return e.c.BLPop(e.ctx, patience, "none", "queue").Result() },
			func() error { return e.c.LPush(e.ctx, "queue", "job").Err() },
			[]string{"queue", "job"})
		wait(func() (any, error) {
			return e.c.BLMove(e.ctx, "queue", "done", "RIGHT", "LEFT", patience).Result()
		}, func() error { return e.c.LPush(e.ctx, "queue", "job").Err() }, "job")
		wait(func() (any, error) {
			return e.c.Do(e.ctx, "BRPOPLPUSH", "queue", "done", patience.Seconds()).Result()
		}, func() error { return e.c.LPush(e.ctx, "queue", "job2").Err() }, "job2")
		wait(func() (any, error) { return e.c.BZPopMin(e.ctx, patience, "delayed").Result() },
			func() error {
				return e.c.ZAdd(e.ctx, "delayed", redis.Z{Score: 1.5, Member: "m"}).Err()
			},
			&redis.ZWithKey{Z: redis.Z{Score: 1.5, Member: "m"}, Key: "delayed"})
		require.Equal(e, []string{"job2", "job"}, e.c.LRange(e.ctx, "done", 0, -1).Val())
		require.ErrorIs(e, e.c.BRPop(e.ctx, time.Second, "queue").Err(), redis.Nil)
	})
}

func TestBlockingTimeouts(t *testing.T) {
	everywhere(t, func(e *env) {
		for _, cmd := range [][]any{
			{"BLPOP", "k", "j", "%"}, {"BRPOP", "k", "%"},
			{"BLMOVE", "k", "d", "LEFT", "LEFT", "%"}, {"BRPOPLPUSH", "k", "d", "%"},
			{"BLMPOP", "%", 1, "k", "LEFT"}, {"BZPOPMIN", "k", "%"}, {"BZPOPMAX", "k", "%"},
			{"BZMPOP", "%", 1, "k", "MIN"},
		} {
			b := e.blocker()
			for _, timeout := range []struct {
				arg, want string
				ms        int64
			}{
				{"0.05", "null", 50}, {"1e-2", "null", 10}, {"0x1p-6", "null", 15},
				{"0.0001", "null", 1}, {"-1", "error:ERR timeout is negative", 0},
				{"-inf", "error:ERR timeout is negative", 0},
				{"x", "error:ERR timeout is not a float or out of range", 0},
				{"nan", "error:ERR timeout is not a float or out of range", 0},
				{" 1", "error:ERR timeout is not a float or out of range", 0},
				{"", "error:ERR timeout is not a float or out of range", 0},
				{"inf", "error:ERR timeout is out of range", 0},
				{"1e400", "error:ERR timeout is out of range", 0},
				{"9223372036854775807", "error:ERR timeout is out of range", 0},
				{"9223372036854775", "error:ERR timeout is out of range", 0},
			} {
				if strings.HasSuffix(timeout.want, "is out of range") && !built.godwit {
					continue // redis-server before 7.2 computes with the overflow
				}
				args := make([]any, len(cmd))
				for i, a := range cmd {
					if args[i] = a; a == "%" {
						args[i] = timeout.arg
					}
				}
				start := time.Now()
				b.Queue(args...)
				require.NoError(e, b.Flush())
				b.gets(timeout.want)
				require.GreaterOrEqual(e, time.Since(start),
					time.Duration(timeout.ms)*time.Millisecond, "%v", args)
			}
			b.Close()
		}
	})
}

func TestBlockingErrors(t *testing.T) {
	everywhere(t, func(e *env) {
		e.c.Set(e.ctx, "s", "v", 0)
		wrongType := "WRONGTYPE Operation against a key holding the wrong kind of value"
		for _, c := range []struct {
			args []any
			want string
		}{
			{[]any{"BLPOP", "nil", "s", 0}, wrongType},
			{[]any{"BLMOVE", "s", "d", "LEFT", "LEFT", 0}, wrongType},
			{[]any{"BRPOPLPUSH", "s", "d", 0}, wrongType},
			{[]any{"BLMPOP", 0, 2, "nil", "s", "LEFT"}, wrongType},
			{[]any{"BZPOPMIN", "s", 0}, wrongType},
			{[]any{"BZMPOP", 0, 1, "s", "MIN"}, wrongType},
			{[]any{"BLMOVE", "k", "d", "UP", "LEFT", 0}, "ERR syntax error"},
			{[]any{"BLMOVE", "k", "d", "LEFT", "UP", "x"}, "ERR syntax error"},
			{[]any{"BLMPOP", "x", 0, "k", "LEFT"}, "ERR numkeys should be greater than 0"},
			{[]any{"BLMPOP", 0, 3, "k", "LEFT"}, "ERR syntax error"},
			{[]any{"BLMPOP", 0, 1, "k", "LEFT", "COUNT"}, "ERR syntax error"},
			{[]any{"BLMPOP", 0, 1, "k", "LEFT", "COUNT", 0}, "ERR count should be greater than 0"},
			{[]any{"BZMPOP", 0, "x", "k", "MIN"}, "ERR numkeys should be greater than 0"},
			{[]any{"BZMPOP", "x", 1, "k", "UP"}, "ERR syntax error"},
			{[]any{"BZMPOP", 0, 1, "k", "MIN", "COUNT", -1}, "ERR count should be greater than 0"},
			{[]any{"BLPOP", "k"}, "ERR wrong number of arguments for 'blpop' command"},
		} {
			e.errs(e.c.Do(e.ctx, c.args...).Err(), c.want)
		}
		// The destination's type matters when there is something to move.
		b := e.block("BLMOVE", "k", "s", "LEFT", "LEFT", 0)
		require.NoError(e, e.c.RPush(e.ctx, "k", "a").Err())
		b.gets("error:" + wrongType)
		require.Equal(e, []string{"a"}, e.c.LRange(e.ctx, "k", 0, -1).Val())
	})
}

func TestBlockingOrder(t *testing.T) {
	everywhere(t, func(e *env) {
		one, both, two := e.block("BLPOP", "a", 0), e.block("BLPOP", "b", "a", 0),
			e.block("BRPOP", "a", 0)
		require.NoError(e, e.c.RPush(e.ctx, "a", 1, 2, 3, 4).Err())
		one.gets(`["a" "1"]`)
		both.gets(`["a" "2"]`)
		two.gets(`["a" "4"]`)
		require.Equal(e, []string{"3"}, e.c.LRange(e.ctx, "a", 0, -1).Val())
		e.c.Del(e.ctx, "a")

		// A chain is served before anybody else's command.
		first, second, third := e.block("BLMOVE", "a", "b", "LEFT", "LEFT", 0),
			e.block("BLMOVE", "b", "c", "LEFT", "LEFT", 0), e.block("BLPOP", "c", 0)
		late := e.block("BLPOP", "b", 0)
		require.NoError(e, e.c.RPush(e.ctx, "a", "x").Err())
		first.gets(`"x"`)
		second.gets(`"x"`)
		third.gets(`["c" "x"]`)
		late.waits()
		require.Zero(e, e.c.Exists(e.ctx, "a", "b", "c").Val())
		late.leaves()

		// Two lists feed each other until somebody takes the element out.
		first, second = e.block("BLMOVE", "a", "b", "LEFT", "LEFT", 0),
			e.block("BLMOVE", "b", "a", "LEFT", "LEFT", 0)
		require.NoError(e, e.c.RPush(e.ctx, "a", "y").Err())
		first.gets(`"y"`)
		second.gets(`"y"`)
		require.Equal(e, []string{"y"}, e.c.LRange(e.ctx, "a", 0, -1).Val())
	})
}

// TestBlockedOnSeveralKeys checks that a client that wakes up runs its command again from the first
// key, whichever key woke it.
func TestBlockedOnSeveralKeys(t *testing.T) {
	everywhere(t, func(e *env) {
		up, down := e.block("BLPOP", "a", "b", "a", 0), e.block("BLPOP", "b", "a", 0)
		_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			p.RPush(e.ctx, "b", "in b")
			p.RPush(e.ctx, "a", "in a")
			return nil
		})
		require.NoError(e, err)
		up.gets(`["a" "in a"]`)
		down.gets(`["b" "in b"]`)
		require.Zero(e, e.c.Exists(e.ctx, "a", "b").Val())

		waits := e.block("BLPOP", "s", "a", 0)
		require.NoError(e, e.c.Set(e.ctx, "s", "v", 0).Err())
		waits.waits()
		require.NoError(e, e.c.RPush(e.ctx, "a", "x").Err())
		waits.gets("error:WRONGTYPE Operation against a key holding the wrong kind of value")
		require.EqualValues(e, 1, e.c.LLen(e.ctx, "a").Val())
	})
}

// TestBlockingKeysAppear makes keys appear in other ways than by a push, with other types, and
// removes some before anybody is served.
func TestBlockingKeysAppear(t *testing.T) {
	everywhere(t, func(e *env) {
		list, zset := e.block("BLPOP", "k", 0), e.block("BZPOPMIN", "k", 0)
		e.c.Set(e.ctx, "k", "v", 0)
		e.c.Del(e.ctx, "k")
		e.c.SAdd(e.ctx, "k", "m")
		e.c.Del(e.ctx, "k")
		list.waits()
		require.NoError(e, e.c.ZAdd(e.ctx, "k", redis.Z{Score: 1, Member: "m"}).Err())
		v, err := zset.Receive()
		require.NoError(e, err)
		require.Equal(e, "m", v.Strings()[1])
		list.waits()
		e.c.RPush(e.ctx, "k", "a")
		list.gets(`["k" "a"]`)

		e.c.RPush(e.ctx, "src", "b")
		list.send("BLPOP", "k", 0)
		e.c.Rename(e.ctx, "src", "k")
		list.gets(`["k" "b"]`)

		e.c.RPush(e.ctx, "src", "c")
		list.send("BLPOP", "k", 0)
		e.c.Copy(e.ctx, "src", "k", e.db, false)
		list.gets(`["k" "c"]`)

		other, db := e.another()
		other.RPush(e.ctx, "k", "d")
		list.send("BLPOP", "k", 0)
		other.Move(e.ctx, "k", e.db)
		list.gets(`["k" "d"]`)

		other.RPush(e.ctx, "k", "e")
		list.send("BLPOP", "k", 0)
		require.NoError(e, e.c.Do(e.ctx, "SWAPDB", e.db, db).Err())
		list.gets(`["k" "e"]`)
		require.NoError(e, e.c.Do(e.ctx, "SWAPDB", e.db, db).Err())

		// FLUSHDB and expiry leave nothing to take, and nobody is served.
		list.send("BLPOP", "k", 0)
		e.c.FlushDB(e.ctx)
		list.waits()
		other.RPush(e.ctx, "k", "f")
		require.NoError(e, other.PExpire(e.ctx, "k", time.Millisecond).Err())
		eventually(e, "the key expires", func() bool { return other.Exists(e.ctx, "k").Val() == 0 })
		other.Move(e.ctx, "k", e.db)
		list.waits()
		e.c.RPush(e.ctx, "k", "g")
		list.gets(`["k" "g"]`)
	})
}

func TestClientUnblock(t *testing.T) {
	everywhere(t, func(e *env) {
		b := e.block("BLPOP", "k", 0)
		unblock := func(args ...any) any {
			return e.c.Do(e.ctx, append([]any{"CLIENT", "UNBLOCK"}, args...)...).Val()
		}
		require.EqualValues(e, 1, unblock(b.id))
		b.gets("null")
		require.EqualValues(e, 0, unblock(b.id))
		b.send("BZMPOP", 0, 1, "k", "MIN")
		require.EqualValues(e, 1, unblock(b.id, "timeout"))
		b.gets("null")
		b.send("BLMOVE", "k", "d", "LEFT", "LEFT", 1000)
		require.EqualValues(e, 1, unblock(b.id, "ERROR"))
		b.gets("error:UNBLOCKED client unblocked via CLIENT UNBLOCK")
		require.EqualValues(e, 0, unblock(1<<40, "ERROR"))
		require.Equal(e, "PONG", do(e, b.Client, "PING").Str)
		require.EqualValues(e, 1, e.c.RPush(e.ctx, "k", "a").Val())
		require.EqualValues(e, 1, e.c.LLen(e.ctx, "k").Val())
	})
}

// TestBlockedClientLeaves checks that the element goes to the next client when the first one has
// left.
func TestBlockedClientLeaves(t *testing.T) {
	everywhere(t, func(e *env) {
		gone, killed, stays := e.block("BLPOP", "k", "j", 0), e.block("BLPOP", "k", 0),
			e.block("BLPOP", "k", 0)
		require.NoError(e, gone.Close())
		eventually(e, "the end of a blocked client's connection is noticed", func() bool {
			return gone.flags() == ""
		})
		require.EqualValues(e, 1, e.c.Do(e.ctx, "CLIENT", "KILL", "ID", killed.id).Val())
		_, err := killed.Receive()
		require.Error(e, err)
		require.NoError(e, e.c.RPush(e.ctx, "k", "a").Err())
		stays.gets(`["k" "a"]`)
		require.NoError(e, e.c.RPush(e.ctx, "j", "b").Err())
		require.EqualValues(e, 1, e.c.LLen(e.ctx, "j").Val())
	})
}

// TestBlockedPipeline checks that commands after a blocking one wait for it, as does what is sent
// meanwhile.
func TestBlockedPipeline(t *testing.T) {
	everywhere(t, func(e *env) {
		b := e.blocker()
		b.Queue("SET", "n", 1)
		b.Queue("BLPOP", "k", 0)
		b.Queue("INCR", "n")
		b.Queue("BLPOP", "j", 0)
		b.send("INCR", "n")
		b.gets("simple:OK")
		b.Queue("GET", "n")
		require.NoError(e, b.Flush())
		require.Equal(e, "1", e.c.Get(e.ctx, "n").Val())
		require.NoError(e, e.c.RPush(e.ctx, "k", "a").Err())
		b.gets(`["k" "a"]`)
		b.gets("2")
		b.waits()
		require.NoError(e, e.c.RPush(e.ctx, "j", "b").Err())
		b.gets(`["j" "b"]`)
		b.gets("3")
		b.gets(`"3"`)
	})
}

func TestBlockedUnderPauseAndReplyOff(t *testing.T) {
	t.Parallel()
	for _, threads := range []string{"1", "3"} {
		s := startServer(t, "--io-threads", threads)
		e := &env{T: t, ctx: t.Context(), c: s.client(t), opt: redis.Options{Addr: s.Addr},
			proto: 2}
		b := e.block("BLPOP", "k", 1)
		e.c.Do(e.ctx, "CLIENT", "PAUSE", 100_000, "WRITE")
		b.gets("null") // its timeout ends all the same
		b.send("BLPOP", "k", 0)
		require.NoError(t, e.c.Do(e.ctx, "CLIENT", "UNPAUSE").Err())
		e.c.RPush(e.ctx, "k", "a")
		b.gets(`["k" "a"]`)

		require.NoError(t, b.Send([]byte("CLIENT REPLY OFF\r\nBLPOP k 0\r\n")))
		eventually(t, "blocked", func() bool { return strings.Contains(b.flags(), "b") })
		require.EqualValues(t, 1, infoInt(t, e.c, "blocked_clients"))
		e.c.RPush(e.ctx, "k", "b")
		eventually(t, "served", func() bool { return e.c.Exists(e.ctx, "k").Val() == 0 })
		require.NoError(t, b.Send([]byte("CLIENT REPLY ON\r\n")))
		b.gets("simple:OK")
		require.EqualValues(t, 0, infoInt(t, e.c, "blocked_clients"))
	}
}

// TestBlockedFairness has a thousand clients wait for one key. Elements reach them in the order in
// which they began to wait.
func TestBlockedFairness(t *testing.T) {
	t.Parallel()
	n := 1000
	if raceEnabled {
		n = 200
	}
	for _, threads := range []string{"1", "4"} {
		s := startServer(t, "--io-threads", threads)
		c := s.client(t)
		conns := make([]*client.Client, n)
		for i := range conns {
			conns[i] = s.dial(t)
			conns[i].Timeout = patience
			conns[i].Queue("BLPOP", "other:"+strconv.Itoa(i), "queue", 0)
			require.NoError(t, conns[i].Flush())
			eventually(t, "blocked", func() bool {
				return infoInt(t, c, "blocked_clients") == int64(i+1)
			})
		}
		// Push one by one, many at once, and in pieces.
		var want []any
		for i := range n {
			want = append(want, fmt.Sprint("job", i))
		}
		for i := 0; i < n; {
			k := min(1+i%7*i%13, n-i)
			require.NoError(t, c.RPush(t.Context(), "queue", want[i:i+k]...).Err())
			i += k
		}
		for i, conn := range conns {
			v, err := conn.Receive()
			require.NoError(t, err)
			require.Equal(t, []string{"queue", fmt.Sprint("job", i)}, v.Strings())
		}
		require.Zero(t, infoInt(t, c, "blocked_clients"))
	}
}

// TestBlockedCostNothing checks that ten thousand blocked clients take no more CPU than as many
// idle ones, and that all of them end in time.
func TestBlockedCostNothing(t *testing.T) {
	s, n := startForMany(t)
	c := s.client(t)
	conns := s.dialMany(t, c, n)
	idle := s.cpu(t, 2*time.Second)
	for i, conn := range conns {
		_, err := fmt.Fprintf(conn, "BLPOP k:%d all %d.5\r\n", i, 1000*(i%2))
		require.NoError(t, err)
		if i%2 == 0 {
			_, err = conn.Write([]byte("BLPOP all 0\r\n"))
			require.NoError(t, err)
		}
	}
	eventually(t, "all are blocked", func() bool {
		return infoInt(t, c, "blocked_clients") == int64(n)
	})
	eventually(t, "half of them have waited once", func() bool {
		return infoInt(t, c, "clients_in_timeout_table") <= int64(n/2)
	})
	// The first term is the claim. The second allows for the kernel's clock, which is coarse for a
	// few ms. A busy machine gets more than one try.
	for try := 1; ; try++ {
		blocked := s.cpu(t, 2*time.Second)
		t.Logf("%v idle, %v blocked", idle, blocked)
		if blocked <= idle*3/2+20*time.Millisecond || raceEnabled {
			break
		}
		if try == 5 {
			t.Errorf("in 2 s the server worked %v for %d idle clients, %v for blocked ones", idle,
				n, blocked)
			break
		}
	}
	closeHalf(conns)
	eventually(t, "those that have gone are forgotten", func() bool {
		return infoInt(t, c, "blocked_clients") == int64(n/2)
	})
}

// closeHalf closes half of the connections, from many goroutines at once.
func closeHalf(conns []net.Conn) {
	n := len(conns)
	var wg sync.WaitGroup
	for i := 0; i < n; i += 100 {
		wg.Go(func() {
			for _, conn := range conns[i:min(i+50, n)] {
				conn.Close()
			}
		})
	}
	wg.Wait()
}

// cpu returns the CPU time that the server uses while the test sleeps.
func (s *server) cpu(t testing.TB, d time.Duration) time.Duration {
	t.Helper()
	used := func() time.Duration {
		var f [52]string
		stat := read(t, fmt.Sprintf("/proc/%d/stat", s.Pid))
		copy(f[2:], strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]))
		user, err := strconv.Atoi(f[13])
		require.NoError(t, err)
		system, err := strconv.Atoi(f[14])
		require.NoError(t, err)
		return time.Duration(user+system) * time.Second / 100
	}
	before := used()
	time.Sleep(d)
	return used() - before
}
