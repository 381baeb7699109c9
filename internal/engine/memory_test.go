package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/config"
	"godwit/internal/engine"
)

// session is a client of an in-process engine.
type session struct {
	t testing.TB
	e *engine.Engine
	c *engine.Client
}

func newSession(t testing.TB, edit func(cfg *config.Config)) *session {
	e := newEngine(t, edit)
	e.Enter()
	defer e.Leave()
	return &session{t, e, e.NewClient(nil)}
}

// raw runs a command and returns the reply's bytes.
func (s *session) raw(args ...string) string {
	argv := make([][]byte, len(args))
	for i, a := range args {
		argv[i] = []byte(a)
	}
	s.e.Enter()
	defer s.e.Leave()
	s.c.W.Buf = s.c.W.Buf[:0]
	s.e.Exec(s.c, argv)
	return string(s.c.W.Buf)
}

// ok runs a command that must answer +OK.
func (s *session) ok(args ...string) {
	s.t.Helper()
	if r := s.raw(args...); r != "+OK\r\n" {
		s.t.Fatalf("%v: %q", args, r)
	}
}

// limit sets maxmemory to what is used now plus so many bytes.
func (s *session) limit(more int64, policy string) {
	s.t.Helper()
	limit := s.e.UsedMemory() + more
	s.ok("config", "set", "maxmemory", strconv.FormatInt(limit, 10), "maxmemory-policy", policy)
	s.e.KS.P.MaxMemory = limit // without the allowance for what the process began with
}

func (s *session) has(key string) bool { return s.e.KS.DB(0).Peek([]byte(key)).Exists() }

const oomReply = "-OOM command not allowed when used memory > 'maxmemory'.\r\n"

// TestEviction writes far more than fits under each policy and checks which keys are left.
func TestEviction(t *testing.T) {
	const n = 4000 // keys of each kind; a third of all fits
	value := strings.Repeat("v", 100)
	for _, policy := range []string{"volatile-lru", "volatile-lfu", "volatile-lrm",
		"volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-lrm",
		"allkeys-random"} {
		t.Run(policy, func(t *testing.T) {
			// no clock decides
			s := newSession(t, func(cfg *config.Config) { cfg.MaxmemoryEvictionTenacity = 100 })
			s.limit(n*140, policy)
			limit := s.e.Cfg.Maxmemory
			volatile := strings.HasPrefix(policy, "volatile")
			for i := range n / 2 {
				s.ok("set", fmt.Sprintf("plain:%d", i), value)
			}
			for i := range 2 * n {
				s.ok("set", fmt.Sprintf("ttl:%d", i), value, "ex", strconv.Itoa(100000+i))
				// A write may go over the limit by what it stores; the next command, whatever it
				// is, makes that room.
				if s.raw("ping"); s.e.UsedMemory() > limit {
					t.Fatalf("used %d of %d after %d writes", s.e.UsedMemory(), limit, i)
				}
			}
			plain, ttl := 0, 0
			for i := range n / 2 {
				if s.has(fmt.Sprintf("plain:%d", i)) {
					plain++
				}
			}
			ttl = s.e.KS.DB(0).Len() - plain
			if volatile && plain != n/2 {
				t.Errorf("%d of %d keys without a deadline are left", plain, n/2)
			}
			if !volatile && plain > n/4 {
				t.Errorf("%d of the %d oldest keys are left", plain, n/2)
			}
			if ttl == 0 || s.e.KS.Stats.Evicted != int64(n/2+2*n-plain-ttl) {
				t.Errorf("%d keys with a deadline left, %d evicted", ttl, s.e.KS.Stats.Evicted)
			}
			if policy == "volatile-ttl" {
				s.nearestFirst(t, 2*n)
			}
		})
	}
}

// nearestFirst checks that of n keys those with a later deadline are left more often.
func (s *session) nearestFirst(t *testing.T, n int) {
	t.Helper()
	early, late := 0, 0
	for i := range n {
		if !s.has(fmt.Sprintf("ttl:%d", i)) {
			continue
		}
		if i < n/2 {
			early++
		} else {
			late++
		}
	}
	if late < 10*early {
		t.Errorf("%d keys with an early deadline and %d with a late one are left", early, late)
	}
}

// TestEvictionPrefersUnused checks that keys that are read survive under LFU.
func TestEvictionPrefersUnused(t *testing.T) {
	s := newSession(t, func(cfg *config.Config) {
		cfg.LFULogFactor, cfg.MaxmemoryEvictionTenacity = 0, 100
	})
	s.limit(1<<20, "allkeys-lfu")
	for i := range 100 {
		s.ok("set", fmt.Sprintf("hot:%d", i), "v")
	}
	for range 20 {
		for i := range 100 {
			s.raw("get", fmt.Sprintf("hot:%d", i))
		}
	}
	for i := range 30_000 {
		s.ok("set", fmt.Sprintf("cold:%d", i), "some value that takes a little room")
	}
	left := 0
	for i := range 100 {
		if s.has(fmt.Sprintf("hot:%d", i)) {
			left++
		}
	}
	if left < 95 {
		t.Errorf("%d of 100 hot keys are left", left)
	}
}

// TestEvictionPrefersUnmodified checks which keys survive that are only read, or only changed.
func TestEvictionPrefersUnmodified(t *testing.T) {
	for _, policy := range []string{"allkeys-lru", "allkeys-lrm", "volatile-lrm"} {
		t.Run(policy, func(t *testing.T) {
			s := newSession(t, func(cfg *config.Config) { cfg.MaxmemoryEvictionTenacity = 100 })
			s.limit(1<<20, policy)
			key := func(kind string, i int) string { return fmt.Sprintf("%s:%d", kind, i) }
			for i := range 100 {
				s.ok("set", key("read", i), "1", "ex", "100000")
				s.ok("set", key("changed", i), "1", "ex", "100000")
			}
			for round := range 100 {
				s.e.Enter()
				s.e.PassTime(time.Second)
				s.e.Leave()
				for i := range 100 {
					s.raw("get", key("read", i))
					s.raw("incr", key("changed", i))
				}
				for i := range 300 {
					s.ok("set", key("cold", 300*round+i), "some value that takes a little room",
						"ex", "100000")
				}
			}
			read, changed := 0, 0
			for i := range 100 {
				if s.has(key("read", i)) {
					read++
				}
				if s.e.KS.DB(0).Peek([]byte(key("changed", i))).Deadline() != 0 {
					changed++ // Else INCR made it anew.
				}
			}
			if changed < 95 || policy == "allkeys-lru" && read < 95 ||
				policy != "allkeys-lru" && read > 5 {
				t.Errorf("of 100 keys each, %d that are read are left, %d that change", read,
					changed)
			}
		})
	}
}

// TestOOM checks that some commands are refused, others are not, and a refused one changes nothing.
func TestOOM(t *testing.T) {
	s := newSession(t, nil)
	s.ok("set", "k", "v")
	for _, policy := range []string{"noeviction", "volatile-lru", "volatile-random", "volatile-ttl",
		"volatile-lfu"} {
		s.limit(-1, policy)
		for _, cmd := range []string{"set k w", "append k w", "setrange k 0 w", "incr n",
			"setbit b 1 1", "copy k l", "mset a b", "getset k w"} {
			if r := s.raw(strings.Fields(cmd)...); r != oomReply {
				t.Errorf("%s: %s: %q", policy, cmd, r)
			}
		}
		for _, cmd := range []string{"get k", "expire nokey 1", "rename k k", "touch k",
			"object encoding k", "del nokey", "ping", "config get maxmemory", "info memory"} {
			if r := s.raw(strings.Fields(cmd)...); strings.HasPrefix(r, "-") {
				t.Errorf("%s: %s: %q", policy, cmd, r)
			}
		}
		if r := s.raw("get", "k"); r != "$1\r\nv\r\n" || s.e.KS.DB(0).Len() != 1 {
			t.Errorf("%s: the refused commands left %q and %d keys", policy, r, s.e.KS.DB(0).Len())
		}
	}
	if got := s.e.CommandStats(s.e.Table().Get("append")); got.Rejected != 5 || got.Calls != 0 {
		t.Errorf("APPEND: %d rejected, %d calls", got.Rejected, got.Calls)
	}
	s.ok("config", "set", "maxmemory", "0")
	s.ok("set", "k", "w")
}

// TestTenacity checks that one command evicts for a bounded time and runs although memory is over
// the limit. Slices between commands do the rest. At 100 the command does all of it.
func TestTenacity(t *testing.T) {
	for _, tenacity := range []int{0, 10, 100} {
		s := newSession(t, func(cfg *config.Config) { cfg.MaxmemoryEvictionTenacity = tenacity })
		for i := range 20_000 {
			s.ok("set", fmt.Sprintf("key:%d", i), "some value that takes a little room")
		}
		limit := s.e.UsedMemory() - s.e.KS.A.Used()/2
		s.e.Enter()
		s.e.Cfg.Maxmemory = limit
		s.e.Cfg.MaxmemoryPolicy = config.AllkeysRandom
		if _, err := s.e.ConfigChanged([]string{"maxmemory"}); err != nil {
			t.Fatal(err)
		}
		s.e.Leave()
		s.raw("ping")
		after := s.e.KS.Stats.Evicted
		if over := s.e.UsedMemory() > limit; over != (tenacity < 100) {
			t.Errorf("tenacity %d: over the limit after one command: %v (%d evicted)", tenacity,
				over, after)
		}
		total, current := s.e.EvictionOver()
		if (current > 0) != (tenacity < 100) || total < current {
			t.Errorf("tenacity %d: over the limit for %d ns now, %d in all", tenacity, current,
				total)
		}
		s.e.Enter()
		for range 1_000_000 {
			if !s.e.Slice() {
				break
			}
		}
		s.e.Leave()
		if used := s.e.UsedMemory(); used > limit {
			t.Errorf("tenacity %d: slices left %d of %d in use", tenacity, used, limit)
		}
		if total, current := s.e.EvictionOver(); current != 0 || total == 0 {
			t.Errorf("tenacity %d: over the limit for %d ns now, %d in all, after the slices",
				tenacity, current, total)
		}
	}
}

// TestLimitLifted checks that eviction that was to go on ends when the limit is lifted.
func TestLimitLifted(t *testing.T) {
	s := newSession(t, func(cfg *config.Config) { cfg.MaxmemoryEvictionTenacity = 0 })
	for i := range 5000 {
		s.ok("set", fmt.Sprintf("key:%d", i), "value")
	}
	s.limit(-100_000, "allkeys-random")
	s.raw("ping")
	s.ok("config", "set", "maxmemory", "0")
	evicted := s.e.KS.Stats.Evicted
	s.e.Enter()
	for range 100 {
		s.e.Slice()
		s.e.Cron()
	}
	s.e.Leave()
	if n := s.e.KS.Stats.Evicted - evicted; n != 0 {
		t.Errorf("%d keys evicted without a limit", n)
	}
	if _, current := s.e.EvictionOver(); current != 0 {
		t.Errorf("over no limit for %d ns", current)
	}
}

// TestEvictionWaitsForFrees checks that what waits to be freed counts as free, so no more keys are
// evicted than are needed.
func TestEvictionWaitsForFrees(t *testing.T) {
	s := newSession(t, func(cfg *config.Config) { cfg.MaxmemoryEvictionTenacity = 100 })
	for i := range 10 {
		s.ok("set", fmt.Sprintf("big:%d", i), strings.Repeat("x", 8<<20))
	}
	s.limit(1<<20, "allkeys-lru")
	s.ok("set", "one more", strings.Repeat("x", 8<<20))
	s.ok("set", "small", "v")
	if n := s.e.KS.Stats.Evicted; n != 1 {
		t.Errorf("%d keys evicted for the room of one", n)
	}
}

// conn is a connection that only counts.
type conn struct {
	in, out int
	closed  bool
}

func (c *conn) Flush()                        {}
func (c *conn) Resume()                       {}
func (c *conn) Close()                        { c.closed = true }
func (c *conn) Buffers() (in, inCap, out int) { return c.in, c.in, c.out }
func (c *conn) HeapReplies() int              { return 0 }
func (c *conn) Stage(n, _ int) []byte         { return make([]byte, n) }
func (c *conn) StageInsert(int, []byte)       {}

// TestClientEviction checks that over maxmemory-clients the largest clients go first. Those with
// NO-EVICT count, but never go.
func TestClientEviction(t *testing.T) {
	s := newSession(t, nil)
	var conns []*conn
	var clients []*engine.Client
	for i := range 10 {
		c := &conn{in: i << 20}
		conns = append(conns, c)
		clients = append(clients, s.e.NewClient(c))
	}
	clients[9].NoEvict = true
	s.e.Cron()
	if got := s.e.ClientsMemory(); got < 45<<20 || got > 46<<20 {
		t.Errorf("clients take %d bytes", got)
	}
	s.ok("config", "set", "maxmemory-clients", "20mb")
	s.raw("ping")
	for i, c := range conns {
		if want := i >= 5 && i < 9; c.closed != want { // 9+0+1+…+4 = 19 MiB stay, with 5 it were 24
			t.Errorf("client with %d MiB: closed %v, want %v", i, c.closed, want)
		}
	}
	if s.e.Stats.EvictedClients != 4 {
		t.Errorf("%d clients evicted", s.e.Stats.EvictedClients)
	}
	for i, c := range conns {
		if c.closed {
			s.e.Forget(clients[i])
		}
	}
	s.e.Cron()
	if got := s.e.ClientsMemory(); got < 19<<20 || got > 20<<20 {
		t.Errorf("the clients left take %d bytes", got)
	}
	for i, c := range conns {
		if !c.closed {
			s.e.Forget(clients[i])
		}
	}
	if got := s.e.ClientsMemory(); got > 4096 {
		t.Errorf("one client without buffers takes %d bytes", got)
	}
}

// TestClientEvictionLeavesTheProtected checks that NO-EVICT clients alone may take more than the
// limit.
func TestClientEvictionLeavesTheProtected(t *testing.T) {
	s := newSession(t, nil)
	s.ok("config", "set", "maxmemory-clients", "20mb")
	for range 3 {
		s.e.NewClient(&conn{in: 10 << 20}).NoEvict = true
	}
	other := &conn{}
	s.e.NewClient(other)
	s.e.Cron()
	if !other.closed || s.e.Stats.EvictedClients != 1 {
		t.Errorf("closed %v, %d evicted", other.closed, s.e.Stats.EvictedClients)
	}
	s.raw("ping")
	s.e.Cron()
	if s.e.Stats.EvictedClients != 1 {
		t.Errorf("%d evicted", s.e.Stats.EvictedClients)
	}
}

// TestEvictedClientRunsNothing checks that a client that is over the limit by itself is closed
// before its command runs.
func TestEvictedClientRunsNothing(t *testing.T) {
	s := newSession(t, nil)
	s.ok("config", "set", "maxmemory-clients", "1mb")
	c := &conn{in: 2 << 20}
	s.c.Conn = c
	if r := s.raw("set", "k", "v"); r != "" || !s.c.CloseASAP || s.has("k") {
		t.Errorf("reply %q, closed %v, key set %v", r, s.c.CloseASAP, s.has("k"))
	}
}

// TestClientsCounted checks that each client is counted within a second's turns, and the recent
// peaks are kept for a while.
func TestClientsCounted(t *testing.T) {
	s := newSession(t, nil)
	var conns []*conn
	for range 3000 {
		c := &conn{}
		conns = append(conns, c)
		s.e.NewClient(c)
	}
	for _, c := range conns {
		c.in = 1000
	}
	conns[2999].out = 777_777
	before := s.e.ClientsMemory()
	hz := s.e.Hz()
	if hz != 20 {
		t.Errorf("hz %d, want 20: 3000 clients are more than 200 a turn", hz)
	}
	for range hz + 1 {
		s.e.Cron()
	}
	if got := s.e.ClientsMemory() - before; got < 3000*1000+777_777 {
		t.Errorf("%d bytes counted", got)
	}
	if in, out := s.e.RecentBuffers(); in != 1000 || out != 777_777 {
		t.Errorf("recent buffers %d, %d", in, out)
	}
}

// TestUsedMemory checks that used memory counts what is stored, and no longer what is deleted.
func TestUsedMemory(t *testing.T) {
	s := newSession(t, nil)
	empty := s.e.UsedMemory()
	value := strings.Repeat("v", 1000)
	for i := range 1000 {
		s.ok("set", strconv.Itoa(i), value)
	}
	full := s.e.UsedMemory()
	if grown := full - empty; grown < 1_000_000 || grown > 1_300_000 {
		t.Errorf("1000 keys with 1000 bytes take %d", grown)
	}
	s.ok("flushall")
	s.e.Enter()
	s.e.Cron()
	s.e.Leave()
	if left := s.e.UsedMemory() - empty; left > 16<<10 { // a run or two stay open
		t.Errorf("%d bytes left after FLUSHALL", left)
	}
	if s.e.Stats.PeakMemory < full {
		t.Logf("peak %d was not seen by the cron", s.e.Stats.PeakMemory)
	}
	r := s.e.MemoryReport()
	if r.Overhead+r.Dataset != r.Used || r.Used != s.e.UsedMemory() || r.Peak < r.Used ||
		r.Startup <= 0 {
		t.Errorf("report does not add up: %+v", r)
	}
}

// BenchmarkLimitedMemory asks what is held against maxmemory, as each command does, without
// replicas and with some that read the stream.
func BenchmarkLimitedMemory(b *testing.B) {
	for _, replicas := range []int{0, 1, 4} {
		b.Run(fmt.Sprintf("%d replicas", replicas), func(b *testing.B) {
			s := newSession(b, nil)
			s.e.Enter()
			defer s.e.Leave()
			stop := make(chan struct{})
			var running sync.WaitGroup
			defer running.Wait()
			defer close(stop)
			for range replicas {
				r := s.e.FollowStream()
				running.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							r.Lag()
						}
					}
				})
			}
			for b.Loop() {
				s.e.LimitedMemory()
			}
		})
	}
}
