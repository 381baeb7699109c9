package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/config"
	"godwit/internal/logging"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/spec"
)

// nestingCommands returns MULTI and its like, and a script: "script push a 1 / pop a 0" runs the
// commands one after the other.
func nestingCommands() []testCommand {
	return []testCommand{
		entry("multi", 1, spec.InMulti, func(c *Ctx) {
			c.E.BeginMulti(c.Client)
			c.OK()
		}),
		entry("exec", 1, spec.LeavesMulti|spec.RunsQueue|spec.Loading, func(c *Ctx) {
			c.ExecMulti(func(*Ctx) (bool, string) { return true, "" })
		}),
		entry("discard", 1, spec.LeavesMulti, func(c *Ctx) {
			c.E.Discard(c.Client)
			c.OK()
		}),
		entry("watch", -2, spec.InMulti, func(c *Ctx) {
			for _, key := range c.Args[1:] {
				c.E.Watch(c.Client, key)
			}
			c.OK()
		}),
		entry("change", 2, spec.Write, func(c *Ctx) {
			c.Changed(c.Args[1])
			c.Dirty(1)
			c.OK()
		}),
		// one command that is propagated as two
		entry("two", 3, spec.Write|spec.NoScript, func(c *Ctx) {
			c.Dirty(1)
			c.PropagateAs([]byte("CHANGE"), c.Args[1])
			c.PropagateAs([]byte("CHANGE"), c.Args[2])
			c.OK()
		}),
		entry("select", 2, 0, func(c *Ctx) {
			n, _ := strconv.Atoi(string(c.Args[1]))
			c.E.SelectDB(c.Client, n)
			c.OK()
		}),
		entry("alone", 1, spec.NoMulti, func(c *Ctx) { c.OK() }),
		entry("script", -1, spec.NoScript, runScript),
	}
}

// runScript replies with all replies.
func runScript(c *Ctx) {
	cl := c.E.LogClient()
	c.E.SelectDB(cl, c.DB.ID())
	c.E.Feed.Begin()
	defer c.E.EndUnit()
	for _, line := range bytes.Split(bytes.Join(c.Args[1:], []byte(" ")), []byte(" / ")) {
		argv := bytes.Fields(line)
		cmd := c.E.table.Find(argv)
		c.E.call(c.E.nested(cl, cmd, argv))
		c.E.unnest()
		for i := range line {
			line[i] = 'x' // a script's arguments do not outlive the call
		}
	}
	c.Raw(cl.W.Buf)
}

// take returns the units since the last call.
func take(r *propagationtest.Recorder) string {
	out := strings.Join(r.Units(), " || ")
	r.Reset()
	return out
}

func TestUnits(t *testing.T) {
	f := newFixture(t, "")
	s := propagationtest.Attach(&f.e.Feed)
	for _, c := range []struct{ lines, want string }{
		{"change a", "0 change a"},
		{"two a b", "0 CHANGE a | 0 CHANGE b"},
		{"multi; change a; exec", "0 change a"},
		{"multi; change a; read x; two b c; exec", "0 change a | 0 CHANGE b | 0 CHANGE c"},
		{"multi; read x; exec", ""},
		{"multi; exec", ""},
		{"multi; change a; discard", ""},
		{"multi; change a; select 3; change b; exec; change c; select 0",
			"0 change a | 3 change b || 3 change c"},
		{"script change a / change b", "0 change a | 0 change b"},
		{"multi; change a; script change b / select 2 / change c; change d; exec",
			"0 change a | 0 change b | 2 change c | 0 change d"},
	} {
		for _, line := range strings.Split(c.lines, "; ") {
			if out := f.run(f.c, line); strings.Contains(out, "-ERR") {
				t.Fatalf("%s: %s", line, out)
			}
		}
		if got := take(s); got != c.want {
			t.Errorf("%s: propagated %q, want %q", c.lines, got, c.want)
		}
	}
	if f.e.Feed.InUnit() {
		t.Error("a unit is open")
	}
}

// TestDroppedUnits checks that nothing of a dropped unit leaves, whatever comes after it in the
// transaction.
func TestDroppedUnits(t *testing.T) {
	f := newFixture(t, "")
	s := propagationtest.Attach(&f.e.Feed)
	f.e.Feed.Begin()
	f.run(f.c, "change a")
	f.e.Feed.Drop()
	f.run(f.c, "script change b")
	f.run(f.c, "change c")
	f.e.EndUnit()
	f.run(f.c, "change d")
	if got := take(s); got != "0 change d" {
		t.Error(got)
	}
}

// TestNothingIsServedWithin checks that clients that wait for a key are served after the whole
// transaction.
func TestNothingIsServedWithin(t *testing.T) {
	f := newFixture(t, "")
	w := f.block("pop a 0")
	for _, line := range []string{"multi", "push a 1", "pop a 0", "push a 2 3"} {
		f.run(f.c, line)
	}
	f.expect(f.c, "exec", "*3\r\n:1\r\n+a=1\r\n:2")
	f.replies("afterwards", []waiting{w}, "+a=2")
	f.idle()
}

func TestQueueTime(t *testing.T) {
	f := newFixture(t, "")
	for _, c := range []struct{ lines, want string }{
		{"multi; read x; exec", "*1|+OK"},
		{"multi; nosuch; read x; exec", "-" + ErrExecAbort},
		{"multi; read; exec", "-" + ErrExecAbort},
		{"multi; alone; exec", "-" + ErrExecAbort},
		{"multi; guarded; exec", "-" + ErrExecAbort},
		{"multi; read x; exec now",
			"-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' " +
				"command"},
		{"watch a; change a; multi; read x; exec", "*-1"},
		{"watch a; change b; multi; read x; exec", "*1|+OK"},
		{"watch a; select 1; change a; select 0; multi; exec", "*0"},
		{"watch a; change a; multi; nosuch; exec", "-" + ErrExecAbort},
		{"multi; fail; read x; exec", "*2|-ERR failed|+OK"},
		{"multi; reply skip; read x; exec", "*2|+OK"},
		{"read x", ""}, // the reply that was to be skipped
		{"multi; read x; reply off; read x; exec", "*3|+OK"},
		{"reply on", "+OK"},
	} {
		var last string
		for _, line := range strings.Split(c.lines, "; ") {
			last = f.run(f.c, line)
		}
		if got := strings.ReplaceAll(last, "\r\n", "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.lines, got, c.want)
		}
		if f.c.InMulti() || f.c.WatchedKeys() > 0 {
			t.Errorf("%s: left %d commands and %d watches", c.lines, f.c.QueuedCommands(),
				f.c.WatchedKeys())
		}
	}
}

// TestQueueMemory checks that what is queued counts as used memory. A command that needs memory is
// refused above maxmemory, others are queued.
func TestQueueMemory(t *testing.T) {
	f := newFixture(t, "")
	f.expect(f.c, "multi", "+OK")
	before := f.e.UsedMemory()
	for range 100 {
		f.expect(f.c, "read "+strings.Repeat("x", 10_000), "+QUEUED")
	}
	if n := f.c.MultiMemory(); n < 1_000_000 || n > 1_100_000 {
		t.Errorf("%d bytes for 1,000,000 of arguments", n)
	}
	if n := f.e.UsedMemory() - before; n < 1_000_000 {
		t.Errorf("used memory grew by %d", n)
	}
	f.e.KS.P.MaxMemory = 1
	f.expect(f.c, "read x", "+QUEUED")
	f.expect(f.c, "move a b 1", "-"+ErrOOM)
	f.expect(f.c, "exec", "-"+ErrExecAbort)
	if n := f.c.MultiMemory(); n != 0 {
		t.Errorf("%d bytes left", n)
	}
	f.e.KS.P.MaxMemory = 0
	f.run(f.c, "multi")
	f.run(f.c, "read x")
	f.e.KS.P.MaxMemory = 1
	f.expect(f.c, "exec", "*1\r\n+OK")
	f.e.KS.P.MaxMemory = 0
	f.run(f.c, "multi")
	f.run(f.c, "write x")
	f.e.KS.P.MaxMemory = 1
	f.expect(f.c, "exec", "-EXECABORT Transaction discarded because of: "+ErrOOM)
}

// TestPauseCoversWhatIsQueued checks that under CLIENT PAUSE WRITE an EXEC waits if one of its
// commands writes.
func TestPauseCoversWhatIsQueued(t *testing.T) {
	f := newFixture(t, "")
	reader := f.client(&fakeConn{})
	f.run(f.c, "multi")
	f.run(f.c, "write x")
	f.run(reader, "multi")
	f.run(reader, "read x")
	f.e.Pause(PauseByClient, f.e.Steady()+1000, false)
	f.expect(f.c, "exec", "(postponed)")
	f.expect(reader, "exec", "*1\r\n+OK")
	f.e.Unpause(PauseByClient)
	f.expect(f.c, "exec", "*1\r\n+OK")
}

// watchModel is a plain model of what clients watch.
type watchModel struct {
	clients []*Client
	watches []map[watchedPlace]bool // of each client
	dirty   []bool
}

type watchedPlace struct {
	db  int
	key string
}

// forget empties the model of one client.
func (m *watchModel) forget(i int) {
	clear(m.watches[i])
	m.dirty[i] = false
}

// change marks the clients that watch a key.
func (m *watchModel) change(p watchedPlace) {
	for i := range m.watches {
		if m.watches[i][p] {
			m.dirty[i] = true
			clear(m.watches[i])
		}
	}
}

// TestWatchTable compares the table with a plain model, over clients that watch, change keys, give
// up and go.
func TestWatchTable(t *testing.T) {
	f := newFixture(t, "")
	rnd := f.e.Rand()
	const clients, keys = 12, 40
	m := &watchModel{dirty: make([]bool, clients)}
	for range clients {
		m.clients = append(m.clients, f.client(&fakeConn{}))
		m.watches = append(m.watches, map[watchedPlace]bool{})
	}
	for range 20_000 {
		i := rnd.IntN(clients)
		p := watchedPlace{rnd.IntN(2), fmt.Sprint(rnd.IntN(keys))}
		switch n := rnd.IntN(100); {
		case n < 70:
			f.run(m.clients[i], fmt.Sprint("select ", p.db))
			f.run(m.clients[i], "watch "+p.key)
			if !m.dirty[i] {
				m.watches[i][p] = true
			}
		case n < 90:
			f.e.keyChanged([]byte(p.key), p.db)
			m.change(p)
		case n < 98:
			f.e.Unwatch(m.clients[i])
			m.forget(i)
		default:
			f.e.Forget(m.clients[i])
			m.clients[i] = f.client(&fakeConn{})
			m.forget(i)
		}
		f.watchesAs(m)
	}
	for _, c := range m.clients {
		f.e.Forget(c)
	}
	if slices.ContainsFunc(f.e.watching.dbs, func(m map[string]*watchedKey) bool {
		return m != nil
	}) {
		t.Error("maps are left")
	}
}

// watchesAs compares what the clients watch, and the counts, with the model.
func (f *fixture) watchesAs(m *watchModel) {
	f.t.Helper()
	watching, names, all := 0, int64(0), map[watchedPlace]bool{}
	for i, places := range m.watches {
		if c := m.clients[i]; c.WatchedKeys() != len(places) || c.WatchDirty() != m.dirty[i] {
			f.t.Fatalf("client %d watches %d keys, dirty %t; want %d, %t", i, c.WatchedKeys(),
				c.WatchDirty(), len(places), m.dirty[i])
		}
		if len(places) > 0 {
			watching++
		}
		for p := range places {
			all[p] = true
		}
	}
	for _, keys := range f.e.watching.dbs {
		for key := range keys {
			names += int64(len(key))
		}
	}
	if f.e.watching.names != names {
		f.t.Fatalf("names of %d bytes, want %d", f.e.watching.names, names)
	}
	if f.e.WatchingClients() != watching || f.e.TotalWatchedKeys() != len(all) {
		f.t.Fatalf("%d clients, %d keys; want %d, %d", f.e.WatchingClients(),
			f.e.TotalWatchedKeys(), watching, len(all))
	}
}

// BenchmarkWatchedChange measures a change while others watch 100,000 other keys.
func BenchmarkWatchedChange(b *testing.B) {
	e := New(config.Default(), testTable(), Options{Log: logging.Discard(), Seed: 1})
	e.Enter()
	defer e.Leave()
	c := e.NewClient(nil)
	for i := range 100_000 {
		e.Watch(c, []byte(fmt.Sprint("key:", i)))
	}
	key := []byte("another key")
	b.ReportAllocs()
	for b.Loop() {
		e.keyChanged(key, 0)
	}
}

// TestBusyClock checks that the time of commands that run while a script is busy is counted from
// when they begin, not from when the script did.
func TestBusyClock(t *testing.T) {
	f := newFixture(t, "busy-reply-threshold 1\n")
	var at int64
	f.e.ServeOthers = func(*Client) bool {
		at = f.e.lastNs
		return false
	}
	f.e.script.run = &runningScript{caller: f.c, busy: true}
	f.e.lastNs = 0
	if err := (scriptCaller{f.e}).Interrupt(); err != nil {
		t.Fatal(err)
	}
	if f.e.script.run = nil; at == 0 {
		t.Error("the clock stands still")
	}
}
