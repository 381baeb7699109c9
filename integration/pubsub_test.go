package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// TestPubSubOverEveryTransport has go-redis subscribe and publish.
func TestPubSubOverEveryTransport(t *testing.T) {
	everywhere(t, func(e *env) {
		ctx, name := e.ctx, fmt.Sprintf("ch:%d", rand.Uint64())
		sub := e.c.Subscribe(ctx, name)
		defer sub.Close()
		_, err := sub.Receive(ctx)
		require.NoError(e, err)
		require.NoError(e, sub.PSubscribe(ctx, name[:len(name)-1]+"*"))
		_, err = sub.Receive(ctx)
		require.NoError(e, err)
		require.NoError(e, sub.Ping(ctx, "still there"))
		pong, err := sub.Receive(ctx)
		require.NoError(e, err)
		require.Equal(e, "Pong<still there>", fmt.Sprint(pong))
		require.EqualValues(e, 2, e.c.Publish(ctx, name, "hello").Val())
		for _, pattern := range []string{"", name[:len(name)-1] + "*"} {
			msg, err := sub.ReceiveMessage(ctx)
			require.NoError(e, err)
			require.Equal(e, redis.Message{Channel: name, Pattern: pattern, Payload: "hello"}, *msg)
		}
		require.Equal(e, map[string]int64{name: 1}, e.c.PubSubNumSub(ctx, name).Val())
		require.Equal(e, []string{name}, e.c.PubSubChannels(ctx, name).Val())
		big := strings.Repeat("x", 3<<20)
		require.NoError(e, e.c.Publish(ctx, name, big).Err())
		msg, err := sub.ReceiveMessage(ctx)
		require.NoError(e, err)
		require.True(e, msg.Payload == big)
		require.NoError(e, sub.Close())
		eventually(e, "the subscriptions have ended", func() bool {
			return e.c.PubSubNumSub(ctx, name).Val()[name] == 0
		})
	})
}

// TestTenThousandSubscribers checks that all of them get every message and that all are forgotten.
func TestTenThousandSubscribers(t *testing.T) {
	t.Parallel()
	n := 10000
	var lim syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim))
	n = min(n, int(lim.Cur)-500)
	s := startServer(t, "--maxclients", strconv.Itoa(n+100), "--io-threads", "4")
	conns := make([]net.Conn, n)
	const confirmed = "*3\r\n$9\r\nsubscribe\r\n$3\r\nall\r\n:1\r\n"
	for i := range conns {
		c, err := net.Dial("tcp", s.Addr)
		require.NoError(t, err)
		conns[i] = c
		_, err = c.Write([]byte("*2\r\n$9\r\nSUBSCRIBE\r\n$3\r\nall\r\n"))
		require.NoError(t, err)
	}
	all := func(want string) {
		t.Helper()
		buf := make([]byte, len(want))
		for i, c := range conns {
			require.NoError(t, c.SetReadDeadline(time.Now().Add(patience)))
			for got := 0; got < len(buf); {
				n, err := c.Read(buf[got:])
				require.NoError(t, err, "subscriber %d", i)
				got += n
			}
			require.Equal(t, want, string(buf), "subscriber %d", i)
		}
	}
	all(confirmed)
	c := s.dial(t)
	require.EqualValues(t, n, do(t, c, "PUBLISH", "all", "one").Int)
	all("*3\r\n$7\r\nmessage\r\n$3\r\nall\r\n$3\r\none\r\n")
	for i := range 20 {
		c.Queue("PUBLISH", "all", i%10)
	}
	_, err := c.Pipeline()
	require.NoError(t, err)
	want := ""
	for i := range 20 {
		want += fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$3\r\nall\r\n$1\r\n%d\r\n", i%10)
	}
	all(want)
	for _, c := range conns {
		c.Close()
	}
	eventually(t, "all subscribers are forgotten", func() bool {
		return do(t, c, "PUBSUB", "NUMSUB", "all").Elems[1].Int == 0
	})
	require.Contains(t, do(t, c, "INFO", "clients").Text(), "pubsub_clients:0")
}

// slow opens a subscriber that does not read, with as small a socket buffer as the system gives.
func slow(t *testing.T, s *server) *client.Client {
	t.Helper()
	c := s.dial(t)
	require.NoError(t, c.Conn().(*net.TCPConn).SetReadBuffer(4096))
	do(t, c, "SUBSCRIBE", "news")
	return c
}

// TestSlowSubscribers checks that a subscriber that does not read is closed at the hard limit, or
// when it has been over the soft limit for too long. Nobody else notices.
func TestSlowSubscribers(t *testing.T) {
	t.Parallel()
	for _, threads := range []string{"1", "4"} {
		s := startServer(t, "--io-threads", threads)
		c := s.dial(t)
		disconnections := func() string {
			_, after, _ := strings.Cut(do(t, c, "INFO", "stats").Text(),
				"client_output_buffer_limit_disconnections:")
			return after[:strings.Index(after, "\r")]
		}
		do(t, c, "CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0")
		lazy, good := slow(t, s), s.dial(t)
		do(t, good, "SUBSCRIBE", "news")
		for range 200 { // one at a time: good reads even when it gets little CPU
			do(t, c, "PUBLISH", "news", strings.Repeat("x", 100<<10))
			v, err := good.Receive()
			require.NoError(t, err)
			require.Equal(t, "message", v.Elems[0].Str)
		}
		require.Equal(t, "1", disconnections())
		require.EqualValues(t, 1, do(t, c, "PUBSUB", "NUMSUB", "news").Elems[1].Int)
		require.Contains(t, s.Output(),
			"scheduled to be closed ASAP for overcoming of output buffer limits")
		lazy.Close()

		// Stay over the soft limit for longer than its seconds.
		do(t, c, "CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 100kb 3")
		_, forgiven := slow(t, s), s.dial(t)
		do(t, forgiven, "SUBSCRIBE", "news")
		forgiven.Timeout, good.Timeout = patience, patience
		drain := func(c *client.Client) {
			for {
				if _, err := c.Receive(); err != nil {
					return
				}
			}
		}
		go drain(good)
		for range 60 {
			do(t, c, "PUBLISH", "news", strings.Repeat("x", 100<<10))
		}
		go drain(forgiven)
		eventually(t, "the slow one is closed", func() bool { return disconnections() == "2" })
		require.EqualValues(t, 2, do(t, c, "PUBSUB", "NUMSUB", "news").Elems[1].Int)
	}
}

// TestOneBatchCannotOutgrowTheLimit publishes far more than the limit in one write. The limit must
// hold while the batch runs.
func TestOneBatchCannotOutgrowTheLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--client-output-buffer-limit", "pubsub 1mb 0 0")
	c := s.dial(t)
	slow(t, s)
	before := usedMemory(t, c)
	for range 3000 {
		c.Queue("PUBLISH", "news", strings.Repeat("x", 10000))
	}
	out, err := c.Pipeline()
	require.NoError(t, err)
	require.EqualValues(t, 1, out[0].Int)
	require.EqualValues(t, 0, out[2999].Int)
	require.Less(t, usedMemory(t, c)-before, int64(8<<20))
}

func usedMemory(t *testing.T, c *client.Client) int64 {
	t.Helper()
	_, after, _ := strings.Cut(do(t, c, "INFO", "memory").Text(), "used_memory:")
	n, err := strconv.ParseInt(after[:strings.Index(after, "\r")], 10, 64)
	require.NoError(t, err)
	return n
}

// TestPublishersAndSubscribersAtOnce checks that every subscriber sees each publisher's messages in
// order and misses none, while others come and go.
func TestPublishersAndSubscribersAtOnce(t *testing.T) {
	t.Parallel()
	const publishers, subscribers, messages = 4, 8, 2000
	s := startServer(t, "--io-threads", "4")
	var ready, work sync.WaitGroup
	var done atomic.Bool
	for i := range subscribers {
		c := s.dial(t)
		c.Timeout = patience
		command, at := []any{"SUBSCRIBE", "p0", "p1", "p2", "p3"}, 2
		if i%2 == 1 {
			command, at = []any{"PSUBSCRIBE", "p*"}, 3
			do(t, c, "HELLO", 3)
		}
		ready.Add(1)
		work.Go(func() {
			c.Queue(command...)
			if err := c.Flush(); err != nil {
				t.Errorf("%v", err)
			}
			for range len(command) - 1 {
				if _, err := c.Receive(); err != nil {
					t.Errorf("%v", err)
				}
			}
			ready.Done()
			expectInOrder(t, c, at, publishers*messages)
		})
	}
	ready.Wait()
	var comers sync.WaitGroup
	for range 3 {
		comers.Go(func() {
			comeAndGo(t, s.Addr, &done)
		})
	}
	for p := range publishers {
		c := s.dial(t)
		work.Go(func() {
			for i := 0; i < messages; {
				for range 50 {
					c.Queue("PUBLISH", fmt.Sprint("p", p), i)
					i++
				}
				if _, err := c.Pipeline(); err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
	work.Wait()
	done.Store(true)
	comers.Wait()
}

// expectInOrder receives n messages and checks that each channel's numbers come in order. Element
// at of a message is its text, and the one before it is the channel.
func expectInOrder(t *testing.T, c *client.Client, at, n int) {
	next := map[string]int{}
	for range n {
		v, err := c.Receive()
		if err != nil {
			t.Errorf("%v", err)
			return
		}
		channel, text := v.Elems[at-1].Str, v.Elems[at].Str
		if strconv.Itoa(next[channel]) != text {
			t.Errorf("%s: got %s after %d", channel, text, next[channel])
			return
		}
		next[channel]++
	}
}

// comeAndGo subscribes on one connection after another until done.
func comeAndGo(t *testing.T, addr string, done *atomic.Bool) {
	for !done.Load() {
		c, err := client.Dial("tcp", addr)
		if err != nil {
			t.Errorf("%v", err)
			return
		}
		_, _ = c.Do("SUBSCRIBE", "p1", "p2", "other")
		_, _ = c.Do("PSUBSCRIBE", "p*")
		_, _ = c.Receive()
		c.Close()
	}
}

// TestExpiredEventsAreOnTime checks that an event comes within a few ms of the deadline, although
// nobody touches the key.
func TestExpiredEventsAreOnTime(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	s := startServer(t, "--notify-keyspace-events", "Ex")
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	ctx := t.Context()
	sub := c.Subscribe(ctx, "__keyevent@0__:expired")
	defer sub.Close()
	_, err := sub.Receive(ctx)
	require.NoError(t, err)
	var late []time.Duration
	for i := range 20 {
		ms := time.Duration(20 + i)
		due := time.Now().Add(ms * time.Millisecond)
		// Not PXAT: a deadline that has passed before the SET arrives has no event.
		require.NoError(t, c.Do(ctx, "SET", "k", "v", "PX", int64(ms)).Err())
		_, err := sub.ReceiveMessage(ctx)
		require.NoError(t, err)
		late = append(late, time.Since(due))
	}
	median := append([]time.Duration(nil), late...)
	for i := range median {
		for j := i; j > 0 && median[j] < median[j-1]; j-- {
			median[j], median[j-1] = median[j-1], median[j]
		}
	}
	require.Less(t, median[len(median)/2], 100*time.Millisecond, "%v", late)
}

// TestCachingOutlastsTrackingOn checks that CLIENT CACHING holds for the next command that is not
// CLIENT, whatever CLIENT TRACKING ON says meanwhile.
func TestCachingOutlastsTrackingOn(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c, other := s.dial(t), s.dial(t)
	do(t, c, "HELLO", 3)
	doLine(t, other, "MSET asked 1 tracked 1")
	doLine(t, c, "CLIENT TRACKING ON OPTOUT")
	doLine(t, c, "CLIENT CACHING NO")
	doLine(t, c, "CLIENT TRACKING ON OPTOUT")
	doLine(t, c, "GET asked")
	doLine(t, c, "GET tracked")
	doLine(t, other, "MSET asked 2 tracked 2")
	v, err := c.Receive()
	require.NoError(t, err)
	require.Equal(t, `push["invalidate" array["tracked"]]`, v.String())
}

// cachingClient reads through a cache that the server's invalidations keep right.
type cachingClient struct {
	c     *client.Client
	cache map[string]string
}

// reply reads the reply to the last command. It follows the invalidations that come before it.
func (cc *cachingClient) reply() (client.Value, error) {
	for {
		v, err := cc.c.Receive()
		if err != nil || v.Kind != client.Push {
			return v, err
		}
		if v.Elems[1].IsNull() {
			clear(cc.cache)
			continue
		}
		for _, key := range v.Elems[1].Strings() {
			delete(cc.cache, key)
		}
	}
}

func (cc *cachingClient) get(key string) error {
	if _, ok := cc.cache[key]; ok {
		return nil
	}
	cc.c.Queue("GET", key)
	if err := cc.c.Flush(); err != nil {
		return err
	}
	v, err := cc.reply()
	cc.cache[key] = v.Str
	return err
}

// TestCachesStayRight checks that clients with a cache end up with what the server holds, in every
// tracking mode, while others write, expire and flush.
func TestCachesStayRight(t *testing.T) {
	t.Parallel()
	for _, mode := range [][]any{{}, {"BCAST"}, {"NOLOOP"}, {"BCAST", "PREFIX", "k"}} {
		t.Run(fmt.Sprint(mode...), func(t *testing.T) {
			s := startServer(t, "--io-threads", "4", "--tracking-table-max-keys", "20")
			var wg sync.WaitGroup
			var writing atomic.Bool
			writing.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			caches := make([]*cachingClient, 4)
			for i := range caches {
				cc := &cachingClient{s.dial(t), map[string]string{}}
				caches[i] = cc
				do(t, cc.c, "HELLO", 3)
				do(t, cc.c, append([]any{"CLIENT", "TRACKING", "ON"}, mode...)...)
				wg.Go(func() {
					for ctx.Err() == nil {
						if err := cc.get(fmt.Sprint("k", rand.IntN(40))); err != nil {
							t.Error(err)
							return
						}
						if len(cc.cache) == 40 {
							clear(cc.cache)
						}
					}
				})
			}
			for range 3 {
				c := s.dial(t)
				wg.Go(func() { scribble(t, ctx, c) })
			}
			wg.Wait()
			truth := s.dial(t)
			for _, cc := range caches {
				cc.c.Queue("PING") // the reply comes after everything else
				require.NoError(t, cc.c.Flush())
				_, err := cc.reply()
				require.NoError(t, err)
			}
			for _, cc := range caches {
				for key, have := range cc.cache {
					require.Equal(t, do(t, truth, "GET", key).Str, have, key)
				}
			}
		})
	}
}

// scribble changes keys in many ways. All deadlines pass before the writers end.
func scribble(t *testing.T, ctx context.Context, c *client.Client) {
	for i := 0; ctx.Err() == nil; i++ {
		key, other := fmt.Sprint("k", rand.IntN(40)), fmt.Sprint("k", rand.IntN(40))
		var args []any
		switch rand.IntN(12) {
		case 0:
			args = []any{"DEL", key, other}
		case 1:
			args = []any{"RENAME", key, other}
		case 2:
			args = []any{"APPEND", key, i}
		case 3:
			args = []any{"COPY", key, other, "REPLACE"}
		case 4:
			args = []any{"SET", key, i, "PXAT", 1}
		case 5:
			if i%50 == 0 {
				args = []any{"FLUSHALL"}
				break
			}
			fallthrough
		default:
			args = []any{"SET", key, i}
		}
		if _, err := c.Do(args...); err != nil {
			t.Error(err)
			return
		}
	}
}
