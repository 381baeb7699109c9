package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/spec"
	"godwit/internal/testseed"
)

// eventCommands are waiters that say which events interest them, and what else happens to keys:
//
//	see events key …          replies as soon as it runs again, with the lengths of the lists
//	follow events key since   replies when the list is longer than since, or gone; $: now
//	rename key key    moveto key db    swapdb db db    flush    later key ms
func eventCommands() []testCommand {
	entry := func(name string, flags spec.Flag, run func(c *Ctx)) testCommand {
		return entry(name, -1, flags, run)
	}
	done := func(c *Ctx) {
		c.Dirty(1)
		c.OK()
	}
	return []testCommand{
		entry("see", spec.Write|spec.Blocking, testSee),
		entry("follow", spec.Write|spec.Blocking, testFollow),
		entry("rename", spec.Write, func(c *Ctx) {
			c.DB.Rename(c.Args[1], c.Args[2])
			c.Changed(c.Args[1])
			c.Changed(c.Args[2])
			done(c)
		}),
		entry("moveto", spec.Write, func(c *Ctx) {
			n, _ := strconv.Atoi(string(c.Args[2]))
			to := c.E.KS.DB(n)
			c.DB.MoveTo(c.Args[1], to)
			c.Changed(c.Args[1])
			c.ChangedIn(to, c.Args[1])
			done(c)
		}),
		entry("swapdb", spec.Write, func(c *Ctx) {
			c.E.SwapDBs(0, 1)
			done(c)
		}),
		entry("flush", spec.Write, func(c *Ctx) {
			c.E.FlushDB(c.DB, false)
			done(c)
		}),
		entry("later", spec.Write, func(c *Ctx) {
			ms, _ := strconv.ParseInt(string(c.Args[2]), 10, 64)
			c.DB.SetDeadline(c.DB.Lookup(c.Args[1]), c.Now+ms)
			c.Changed(c.Args[1])
			done(c)
		}),
	}
}

// listLength returns how long the list is, -1 if there is none.
func listLength(c *Ctx, key []byte) int {
	e := c.DB.Lookup(key)
	if !e.Exists() || e.Type() != object.List {
		return -1
	}
	return listpack.Count(c.DB.Open(e).Bytes())
}

func testEvents(c *Ctx) WaitEvents {
	n, _ := strconv.Atoi(string(c.Args[1]))
	return WaitEvents(n)
}

func testSee(c *Ctx) {
	keys := c.Args[2:]
	if !c.rerun {
		c.Block(Wait{Keys: keys, Type: object.List, Events: testEvents(c)})
		return
	}
	out := "seen"
	for _, key := range keys {
		out += fmt.Sprintf(" %s=%d", key, listLength(c, key))
	}
	c.Simple(out)
}

func testFollow(c *Ctx) {
	n := listLength(c, c.Args[2])
	since, err := strconv.Atoi(string(c.Args[3]))
	switch {
	case c.rerun && n < 0:
		c.Simple(fmt.Sprint("gone since ", since))
	case err == nil && n > since:
		c.Simple(fmt.Sprint(n, " since ", since))
	default:
		if err != nil {
			since = n
		}
		args := slices.Clone(c.Args)
		args[3] = strconv.AppendInt(nil, int64(since), 10)
		c.Block(Wait{Keys: args[2:3], Type: object.List, Events: testEvents(c), Args: args})
	}
}

// place is a key of a database.
type place struct {
	db  int
	key string
}

// eventModel knows what keys there are, and what has happened to them since the last look.
type eventModel struct {
	rng      *rand.Rand
	keys     map[place]int // lengths of lists, -1 for a string
	happened map[place]WaitEvents
	waiters  []*eventWaiter
}

type eventWaiter struct {
	waiting
	events WaitEvents
	places []place
	follow bool
	since  int
}

func (m *eventModel) place() place {
	return place{m.rng.IntN(2), string('a' + rune(m.rng.IntN(4)))}
}

// touch records that a key has changed. It has arrived if it is a list now and was none before.
func (m *eventModel) touch(p place, arrived bool) {
	m.happened[p] |= WaitChange
	if n, ok := m.keys[p]; arrived && ok && n >= 0 {
		m.happened[p] |= WaitArrival
	}
}

func (m *eventModel) remove(p place) {
	if _, ok := m.keys[p]; ok {
		delete(m.keys, p)
		m.touch(p, false)
	}
}

// command makes a random command for a client of the database, and does the same to the model.
func (m *eventModel) command(db int) string {
	p, q := m.place(), m.place()
	p.db, q.db = db, db
	n, ok := m.keys[p]
	switch what := m.rng.IntN(20); {
	case what < 2:
		m.remove(p)
		return "del " + p.key
	case what < 4:
		m.keys[p] = -1
		m.touch(p, false)
		return "set " + p.key
	case what == 4 && ok && p != q:
		delete(m.keys, p)
		m.keys[q] = n
		m.touch(p, false)
		m.touch(q, true)
		return "rename " + p.key + " " + q.key
	case what == 5 && ok:
		to := place{1 - db, p.key}
		if _, taken := m.keys[to]; taken {
			break
		}
		delete(m.keys, p)
		m.keys[to] = n
		m.touch(p, false)
		m.touch(to, true)
		return fmt.Sprintf("moveto %s %d", p.key, to.db)
	case what == 6:
		m.swap()
		return "swapdb 0 1"
	case what == 7:
		for _, key := range "abcd" {
			m.remove(place{db, string(key)})
		}
		return "flush"
	}
	if ok && n < 0 {
		m.remove(p)
		return "del " + p.key
	}
	m.keys[p] = n + 1
	m.touch(p, !ok)
	return "push " + p.key + " x"
}

func (m *eventModel) swap() {
	swapped := map[place]int{}
	for p, n := range m.keys {
		swapped[place{1 - p.db, p.key}] = n
	}
	old := m.keys
	m.keys = swapped
	for _, keys := range []map[place]int{old, swapped} {
		for p := range keys {
			m.touch(p, true)
		}
	}
}

// reply returns how the waiter is answered after what has happened, "" if it goes on waiting.
func (m *eventModel) reply(w *eventWaiter) string {
	out, woken := "+seen", false
	for _, p := range w.places {
		n, ok := m.keys[p]
		n = max(n, -1)
		if !ok {
			n = -1
		}
		out += fmt.Sprintf(" %s=%d", p.key, n)
		if h := m.happened[p]; n >= 0 {
			woken = woken || w.events&h != 0
		} else {
			woken = woken || w.events&WaitLoss != 0 && h&WaitChange != 0
		}
		switch {
		case !w.follow:
		case n < 0:
			out = fmt.Sprint("+gone since ", w.since)
		case n > w.since:
			out = fmt.Sprint("+", n, " since ", w.since)
		default:
			return ""
		}
	}
	if !woken {
		return ""
	}
	return out
}

// holds compares what the waiters were answered with the model, after a step.
func (m *eventModel) holds(f *fixture, step string) {
	f.t.Helper()
	m.waiters = slices.DeleteFunc(m.waiters, func(w *eventWaiter) bool {
		want := m.reply(w)
		if got := w.waiting.reply(); got != want || w.Waits() != (want == "") {
			f.t.Fatalf("%s: a waiter for events %d of %v: %q, want %q",
				step, w.events, w.places, got, want)
		}
		if want != "" {
			f.e.Forget(w.Client)
		}
		return want != ""
	})
	clear(m.happened)
	for _, queues := range f.e.blocking.dbs {
		for _, q := range queues {
			wide := int32(0)
			for _, l := range q.lines {
				for n := l.head; n != nil; n = n.next {
					if n.w.wide() {
						wide++
					}
				}
			}
			if wide != q.wide {
				f.t.Fatalf("%s: %s has %d waiters for changes, %d counted",
					step, q.key, wide, q.wide)
			}
		}
	}
}

// wait adds a waiter.
func (m *eventModel) wait(f *fixture) {
	p := m.place()
	events := WaitEvents(1 + m.rng.IntN(7))
	w := &eventWaiter{events: events, places: []place{p}, follow: m.rng.IntN(2) == 0}
	line := fmt.Sprint("see ", w.events, " ", p.key)
	if w.follow {
		n, ok := m.keys[p]
		if w.since = n; !ok {
			w.since = -1
		}
		line = fmt.Sprint("follow ", w.events, " ", p.key, " $")
	} else if q := m.place(); q.key != p.key {
		w.places = append(w.places, place{p.db, q.key})
		line += " " + q.key
	}
	conn := &fakeConn{}
	w.waiting = waiting{f.client(conn), conn}
	f.run(w.Client, fmt.Sprint("select ", p.db))
	if got := f.run(w.Client, line); got != "" || !w.Waits() {
		f.t.Fatalf("%s: replied %q, waits %t", line, got, w.Waits())
	}
	m.waiters = append(m.waiters, w)
}

// run runs one command, a transaction or a script.
func (m *eventModel) run(f *fixture) string {
	db := m.rng.IntN(2)
	f.run(f.c, fmt.Sprint("select ", db))
	kind := m.rng.IntN(3)
	if kind == 0 {
		line := m.command(db)
		f.run(f.c, line)
		return line
	}
	var lines []string
	for range 1 + m.rng.IntN(5) {
		lines = append(lines, m.command(db))
	}
	if kind == 1 {
		f.run(f.c, "script "+strings.Join(lines, " / "))
	} else {
		for _, line := range append([]string{"multi"}, append(lines, "exec")...) {
			f.run(f.c, line)
		}
	}
	return strings.Join(lines, "; ")
}

// expire gives a key a deadline and makes a slice find that it has passed.
func (m *eventModel) expire(f *fixture, p place, offset int64) {
	f.run(f.c, fmt.Sprint("select ", p.db))
	f.run(f.c, fmt.Sprint("later ", p.key, " 1000"))
	m.touch(p, false)
	m.holds(f, "a deadline for "+p.key)
	f.e.SetClockOffset(offset)
	for f.e.Slice() {
	}
	f.e.Deliver()
	m.remove(p)
}

// evict makes a slice evict a key, which the engine chooses.
func (m *eventModel) evict(f *fixture) {
	ks := f.e.KS
	ks.P.Policy = keyspace.AllKeysRandom
	for before := ks.Stats.Evicted; ks.Stats.Evicted == before; {
		ks.EvictOne()
	}
	ks.P.Policy = keyspace.NoEviction
	f.e.Deliver()
	for p := range m.keys {
		if ks.DB(p.db).Footprint([]byte(p.key)) == 0 {
			m.remove(p)
		}
	}
}

// TestWaitEventsAgainstModel changes keys in every way and compares waiting commands with a model.
// Those that wait for what has happened run again right after the command, transaction, script or
// slice, with what they resolved when they began to wait. Nobody else runs again.
func TestWaitEventsAgainstModel(t *testing.T) {
	rng := testseed.Rand(t)
	f := newFixture(t, "")
	m := &eventModel{rng: rng, keys: map[place]int{}, happened: map[place]WaitEvents{}}
	for step := range 20_000 {
		did := ""
		p := m.place()
		_, exists := m.keys[p]
		switch n := rng.IntN(20); {
		case n < 7 && len(m.waiters) < 20:
			m.wait(f)
			continue
		case n == 7 && exists:
			did = fmt.Sprint("expiry of ", p)
			m.expire(f, p, 2000*int64(step))
		case n == 8 && len(m.keys) > 0:
			did = "eviction"
			m.evict(f)
		case n == 9 && len(m.waiters) > 0:
			i := rng.IntN(len(m.waiters))
			f.e.Forget(m.waiters[i].Client)
			m.waiters = slices.Delete(m.waiters, i, i+1)
			continue
		default:
			did = m.run(f)
		}
		m.holds(f, fmt.Sprintf("step %d: %s", step, did))
	}
	for _, w := range m.waiters {
		f.e.Forget(w.Client)
	}
	f.idle()
}

// TestChangesCostNothing checks that while all clients wait for arrivals only, a change is not
// looked up.
func TestChangesCostNothing(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop a 0")}
	f.e.blocking.keyChanged([]byte("a"), 0)
	if n := len(f.e.blocking.ready); n != 0 {
		t.Errorf("%d queues noted", n)
	}
	f.expect(f.c, "push a 1", ":1")
	f.replies("push a", ws, "+a=1")
	f.idle()
}
