package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/spec"
)

// blockingCommands returns as much of the list commands as the tests of waiting need:
//
//	push key element …      pop key … ms (0: for ever)      move source destination ms
//	zpush key               set key                          del key …
func blockingCommands() []testCommand {
	return append(eventCommands(), []testCommand{
		entry("push", -3, spec.Write, func(c *Ctx) {
			c.Int(int64(testPush(c, c.Args[1], object.List, c.Args[2:]...)))
		}),
		entry("zpush", 2, spec.Write, func(c *Ctx) {
			c.Int(int64(testPush(c, c.Args[1], object.ZSet, []byte("m"))))
		}),
		entry("pop", -3, spec.Write|spec.Blocking, testPop),
		entry("zpop", -3, spec.Write|spec.Blocking, testPop),
		entry("move", 4, spec.Write|spec.DenyOOM|spec.Blocking, testMove),
		entry("set", 2, spec.Write, func(c *Ctx) {
			c.DB.Set(c.Args[1], object.RawValue([]byte("s")), 0)
			c.Changed(c.Args[1])
			c.OK()
		}),
		entry("del", -2, spec.Write, func(c *Ctx) {
			for _, key := range c.Args[1:] {
				if c.DB.Delete(key) {
					c.Changed(key)
				}
			}
			c.OK()
		}),
		entry("both", 3, spec.Write, func(c *Ctx) { // a transaction: the second key is filled first
			testPush(c, c.Args[2], object.List, []byte("2"))
			testPush(c, c.Args[1], object.List, []byte("1"))
			c.OK()
		}),
		entry("fill", 3, spec.Write, func(c *Ctx) { // the last that fits into maxmemory
			testPush(c, c.Args[1], object.List, c.Args[2])
			c.E.KS.P.MaxMemory = 1
			c.OK()
		}),
		entry("unblock", 3, 0, func(c *Ctx) {
			id, _ := strconv.ParseUint(string(c.Args[1]), 10, 64)
			fmt.Fprintf(writerTo{c}, ":%t\r\n", c.E.Unblock(id, string(c.Args[2]) == "error"))
		}),
	}...)
}

// writerTo makes an io.Writer of a reply.
type writerTo struct{ c *Ctx }

func (w writerTo) Write(b []byte) (int, error) {
	w.c.Raw(b)
	return len(b), nil
}

func testPush(c *Ctx, key []byte, t object.Type, elems ...[]byte) int {
	var x *object.Edit
	if e := c.DB.Lookup(key); e.Exists() {
		x = c.DB.Open(e)
	} else {
		x = c.DB.Create(key, t, object.EncListpack, listpack.Empty())
	}
	for _, e := range elems {
		listpack.Append(x, e)
	}
	c.Changed(key)
	c.Dirty(len(elems))
	return listpack.Count(x.Bytes())
}

func testTake(c *Ctx, key []byte) []byte {
	x := c.DB.Open(c.DB.Lookup(key))
	pos := listpack.First(x.Bytes())
	elem := listpack.Get(x.Bytes(), pos).Append(nil)
	listpack.Delete(x, pos, 1)
	if listpack.Count(x.Bytes()) == 0 {
		c.DB.Remove(x)
	}
	c.Changed(key)
	c.Dirty(1)
	return elem
}

func testPop(c *Ctx) {
	t := object.List
	if c.Cmd.Name == "zpop" {
		t = object.ZSet
	}
	keys := c.Args[1 : len(c.Args)-1]
	for _, key := range keys {
		if e := c.DB.Lookup(key); e.Exists() {
			if e.Type() != t {
				c.Err(ErrWrongType)
				return
			}
			elem := testTake(c, key)
			c.PropagateAs([]byte("LPOP"), key)
			c.Simple(string(key) + "=" + string(elem))
			return
		}
	}
	testWait(c, keys, t)
}

func testMove(c *Ctx) {
	if !c.DB.Lookup(c.Args[1]).Exists() {
		testWait(c, c.Args[1:2], object.List)
		return
	}
	elem := testTake(c, c.Args[1])
	testPush(c, c.Args[2], object.List, elem)
	c.Simple(string(elem))
}

func testWait(c *Ctx, keys [][]byte, t object.Type) {
	deadline, _ := strconv.ParseInt(string(c.Args[len(c.Args)-1]), 10, 64)
	if deadline != 0 {
		deadline += c.E.Steady()
	}
	nothing := func(c *Ctx) { c.NullArray() }
	if !c.MayBlock() {
		nothing(c)
		return
	}
	c.Block(Wait{Keys: keys, Type: t, Deadline: deadline, OnTimeout: nothing})
}

// waiting is a client that has sent a blocking command.
type waiting struct {
	*Client
	conn *fakeConn
}

// reply takes what has been replied so far, "" if there is nothing.
func (w waiting) reply() string {
	out := strings.TrimSuffix(string(w.W.Buf), "\r\n")
	w.W.Buf = nil
	return out
}

func (f *fixture) block(line string) waiting {
	f.t.Helper()
	conn := &fakeConn{}
	w := waiting{f.client(conn), conn}
	if got := f.run(w.Client, line); got != "" || !w.Waits() {
		f.t.Fatalf("%s: replied %q, waits %t", line, got, w.Waits())
	}
	return w
}

// replies compares the replies to clients with the wanted ones, "" for clients that still wait.
func (f *fixture) replies(what string, ws []waiting, want ...string) {
	f.t.Helper()
	for i, w := range ws {
		if got := w.reply(); got != want[i] || w.Waits() != (want[i] == "") {
			f.t.Errorf("%s: client %d: %q, waits %t; want %q", what, i, got, w.Waits(), want[i])
		}
	}
}

// idle checks that nobody waits and nothing is left of those who did.
func (f *fixture) idle() {
	f.t.Helper()
	b := &f.e.blocking
	if b.n != 0 || b.wide != 0 || b.timed != 0 || b.queues != 0 || b.wideKeys != 0 ||
		b.bytes != 0 || len(b.deadlines) != 0 ||
		len(b.ready) != 0 || len(b.paused) != 0 || b.types != [object.NumTypes]int{} {
		f.t.Errorf("left: %d clients, %d queues of %d bytes, %d deadlines, %d ready, %d paused, "+
			"types %v",
			b.n, b.queues, b.bytes, len(b.deadlines), len(b.ready), len(b.paused), b.types)
	}
	for i, m := range b.dbs {
		if len(m) != 0 {
			f.t.Errorf("%d queues left in database %d", len(m), i)
		}
	}
}

func TestBlockedAreServedInOrder(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop a 0"), f.block("pop b a 0"), f.block("pop a a 1000"),
		f.block("pop b 0")}
	f.expect(f.c, "push a 1 2", ":2")
	f.replies("push a", ws, "+a=1", "+a=2", "", "")
	f.expect(f.c, "push b 3", ":1")
	f.replies("push b", ws[2:], "", "+b=3")
	f.expect(f.c, "push a 4 5", ":2")
	f.replies("push a again", ws[2:3], "+a=4")
	f.expect(f.c, "pop a 0", "+a=5")
	f.idle()
	for i, w := range ws {
		if w.conn.flushed != 1 || w.conn.resumed != 1 {
			t.Errorf("client %d: %d flushes, %d resumptions", i, w.conn.flushed, w.conn.resumed)
		}
	}
}

func TestBlockedTakeKeysInArgumentOrder(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop a b 0")}
	f.expect(f.c, "both a b", "+OK")
	f.replies("both", ws, "+a=1")
	f.expect(f.c, "pop b 0", "+b=2")
}

func TestBlockedAreServedInChains(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop c 0"), f.block("move a b 0"), f.block("move b c 0"),
		f.block("pop a 0")}
	f.expect(f.c, "push a 1", ":1")
	f.replies("push a", ws, "+c=1", "+1", "+1", "")
	f.expect(f.c, "push a 2", ":1")
	f.replies("push a again", ws[3:], "+a=2")
	f.idle()

	loop := []waiting{f.block("move a b 0"), f.block("move b a 0"), f.block("pop a 0")}
	f.expect(f.c, "push a 3", ":1")
	f.replies("a loop", loop, "+3", "+3", "+a=3")
	f.idle()
}

func TestBlockedWaitForAType(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop k 0"), f.block("zpop k 0")}
	f.expect(f.c, "set k", "+OK")
	f.replies("a string", ws, "", "")
	f.expect(f.c, "del k", "+OK")
	f.expect(f.c, "zpush k", ":1")
	f.replies("a sorted set", ws, "", "+k=m")
	f.expect(f.c, "zpush k", ":1")
	f.expect(f.c, "del k", "+OK")
	f.expect(f.c, "push k 1", ":1")
	f.replies("a list", ws[:1], "+k=1")
	f.idle()
}

func TestBlockedSeeOtherDatabasesComeAndGo(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop k 0"), f.block("pop r 0"), f.block("pop m 0")}
	f.e.SelectDB(f.c, 1)
	f.expect(f.c, "push k 1", ":1")
	f.expect(f.c, "push m 1", ":1")
	f.replies("another database", ws, "", "", "")
	f.e.SwapDBs(0, 1)
	f.e.serve()
	f.replies("SWAPDB", ws, "+k=1", "", "+m=1")
	f.expect(f.c, "push x 2", ":1")
	f.e.KS.DB(1).MoveTo([]byte("x"), f.e.KS.DB(0))
	f.e.KS.DB(0).Rename([]byte("x"), []byte("r"))
	f.e.serve()
	f.replies("MOVE and RENAME", ws[1:2], "+r=2")
	f.idle()
}

func TestBlockedGiveUpAtTheirDeadline(t *testing.T) {
	f := newFixture(t, "")
	now := f.e.Steady()
	ws := []waiting{f.block("pop a 50"), f.block("pop a 20"), f.block("pop a 0"),
		f.block("pop a 30")}
	if d := f.e.UntilTimeout() - (20 + now - f.e.Steady() + 1); d < 0 || d > 1000 {
		t.Errorf("%d ms until the first deadline", f.e.UntilTimeout())
	}
	first := ws[1].wait.deadline.at
	for _, step := range []struct {
		at   int64
		want []string
	}{{first, []string{"", "", "", ""}}, {first + 1, []string{"", "*-1", "", ""}},
		{first + 1e6, []string{"*-1", "", "", "*-1"}}} {
		f.passTo(step.at)
		f.e.EndWaits()
		for i, w := range ws {
			if got := w.reply(); got != step.want[i] {
				t.Errorf("%d ms after the first deadline: client %d: %q", step.at-first, i, got)
			}
		}
	}
	if !ws[2].Waits() || f.e.BlockedClients() != 1 || f.e.TimedClients() != 0 {
		t.Errorf("%d blocked, %d with a deadline", f.e.BlockedClients(), f.e.TimedClients())
	}
	f.expect(f.c, "push a 1", ":1")
	f.replies("push", ws[2:3], "+a=1")
	f.idle()
}

func TestAlarmForEarlierDeadlines(t *testing.T) {
	f := newFixture(t, "")
	alarms := 0
	f.e.Alarm = func() { alarms++ }
	for _, step := range []struct {
		line string
		want int
	}{{"pop a 0", 0}, {"pop a 60000", 1}, {"pop a 120000", 1}, {"pop a 30000", 2}} {
		f.block(step.line)
		if alarms != step.want {
			t.Errorf("%s: %d alarms, want %d", step.line, alarms, step.want)
		}
	}
}

func TestBlockedLeave(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop a b 1000"), f.block("pop a 0"), f.block("pop b 0"),
		f.block("pop a 0"), f.block("pop a 0")}
	f.e.Forget(ws[0].Client)
	f.e.Kill(ws[1].Client)
	f.expect(f.c, fmt.Sprintf("unblock %d timeout", ws[2].ID), ":true")
	f.expect(f.c, fmt.Sprintf("unblock %d error", ws[3].ID), ":true")
	f.expect(f.c, fmt.Sprintf("unblock %d error", ws[3].ID), ":false")
	f.expect(f.c, fmt.Sprintf("unblock %d error", f.c.ID), ":false")
	f.expect(f.c, "unblock 12345 error", ":false")
	f.replies("left", ws[2:4], "*-1", "-"+ErrUnblocked)
	// its connection is about to be closed: it must not take what it cannot be sent
	ws[4].CloseASAP = true
	f.expect(f.c, "push a 1", ":1")
	if got := ws[4].reply(); got != "" {
		t.Errorf("a client that is being closed was served: %q", got)
	}
	f.e.Forget(ws[4].Client)
	f.idle()
	f.expect(f.c, "pop a 0", "+a=1")
	if n := f.e.errs["UNBLOCKED"]; n != 1 {
		t.Errorf("%d errors UNBLOCKED", n)
	}
}

func TestBlockedUnderPause(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("pop a 0"), f.block("pop a 0"), f.block("pop b 0")}
	f.e.Pause(PauseByClient, f.e.Steady()+60000, false)
	f.c.Class = ClassReplica // only replication may write now
	f.expect(f.c, "push a 1", ":1")
	f.expect(f.c, "push a 2", ":2")
	f.expect(f.c, "push b 3", ":1")
	f.replies("during the pause", ws, "", "", "")
	f.e.Forget(ws[2].Client)
	f.e.Unpause(PauseByClient)
	f.expect(f.c, "read k", "+OK")
	f.replies("after the pause", ws[:2], "+a=1", "+a=2")
	f.idle()
}

func TestBlockedUnderReplyModes(t *testing.T) {
	f := newFixture(t, "")
	off := waiting{f.client(&fakeConn{}), nil}
	f.run(off.Client, "reply off")
	f.run(off.Client, "pop a 0")
	skip := waiting{f.client(&fakeConn{}), nil}
	f.run(skip.Client, "reply skip")
	f.run(skip.Client, "pop a 0")
	f.expect(f.c, "push a 1 2", ":2")
	for _, w := range []waiting{off, skip} {
		if got := w.reply(); got != "" || w.Waits() {
			t.Errorf("%q, waits %t", got, w.Waits())
		}
	}
	f.expect(off.Client, "plain", "")
	f.expect(skip.Client, "plain", "+OK") // only the reply of pop was to be skipped
	f.idle()
}

func TestBlockedCommandsAreCountedOnce(t *testing.T) {
	f := newFixture(t, "slowlog-log-slower-than 0")
	monitor := waiting{f.client(&fakeConn{}), nil}
	f.e.StartMonitor(monitor.Client)
	pop := f.e.Table().Get("pop")
	before := f.e.Stats.Commands
	served, out, refused := f.block("pop a 0"), f.block("pop b 10"), f.block("pop c 0")
	if st := f.e.CommandStats(pop); st.Calls != 0 || f.e.Stats.Commands != before ||
		served.Commands != 0 || f.e.Slowlog.Len() != 0 {
		t.Errorf("while it waits: %d calls, %d commands", st.Calls, f.e.Stats.Commands-before)
	}
	f.passTo(f.e.Steady() + 5000) // the time spent waiting is nobody's work
	f.e.EndWaits()
	f.expect(f.c, "push a 1", ":1")
	f.e.Unblock(refused.ID, true)
	f.replies("ends", []waiting{served, out, refused}, "+a=1", "*-1", "-"+ErrUnblocked)
	st := f.e.CommandStats(pop)
	if st.Calls != 3 || st.Failed != 1 || st.Rejected != 0 || st.Nanos <= 0 || st.Nanos > 1e9 {
		t.Errorf("%d calls, %d failed, %d rejected, %d ns", st.Calls, st.Failed, st.Rejected,
			st.Nanos)
	}
	if f.e.Stats.Commands != before+4 || served.Commands != 1 || out.Commands != 1 {
		t.Errorf("%d commands, %d and %d of the clients", f.e.Stats.Commands-before,
			served.Commands, out.Commands)
	}
	if n := strings.Count(monitor.reply(), `"pop"`); n != 3 {
		t.Errorf("a monitor was shown %d commands, want 3", n)
	}
	pops := 0
	for i := range f.e.Slowlog.Len() {
		if f.e.Slowlog.At(i).Args[0] == "pop" {
			pops++
		}
	}
	if pops != 3 {
		t.Errorf("%d entries in the slow log, want 3", pops)
	}
}

// TestBlockedPassTheGatesAgain lets the memory run out while a client waits. Its command is refused
// as if it came now.
func TestBlockedPassTheGatesAgain(t *testing.T) {
	f := newFixture(t, "")
	ws := []waiting{f.block("move a b 0"), f.block("pop a 0")}
	f.expect(f.c, "fill a 1", "+OK")
	f.replies("no memory left", ws, "-"+ErrOOM, "+a=1")
	f.idle()
}

// TestLogDoesNotBlock runs a blocking command of a log.
func TestLogDoesNotBlock(t *testing.T) {
	f := newFixture(t, "")
	f.c.Origin = OriginLog
	f.expect(f.c, "pop a 0", "*-1")
	f.idle()
}

func TestBlockedPropagateTheirEffects(t *testing.T) {
	f := newFixture(t, "")
	s := propagationtest.Attach(&f.e.Feed)
	f.block("pop a 0")
	f.expect(f.c, "push a 1", ":1")
	if got := strings.Join(s.Lines(), "; "); got != "0 push a 1; 0 LPOP a" {
		t.Errorf("propagated %s", got)
	}
}
