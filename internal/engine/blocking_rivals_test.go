package engine

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"godwit/internal/object"
	"godwit/internal/spec"
	"godwit/internal/testseed"
)

// offers is what there is to take at keys, for each group of rivals.
type offers struct {
	left map[string]int // by key and group
	runs int            // of take
	took []uint64       // clients, in order
}

// commands returns the commands of rivals. The keys are lists that exist.
//
//	offer key group n       n may be taken by members of the group
//	take events group key … waits for one; events as in eventCommands
func (o *offers) commands() []testCommand {
	return []testCommand{
		entry("offer", 4, spec.Write, func(c *Ctx) {
			n, _ := strconv.Atoi(string(c.Args[3]))
			o.left[string(c.Args[1])+string(c.Args[2])] += n
			c.Happened(c.Args[1], object.List, WaitArrival)
			c.OK()
		}),
		entry("take", -4, spec.Write|spec.Blocking, func(c *Ctx) {
			o.runs++
			keys := c.Args[3:]
			for _, key := range keys {
				at := string(key) + string(c.Args[2])
				if o.left[at] > 0 {
					o.left[at]--
					o.took = append(o.took, c.Client.ID)
					c.Simple(string(key))
					return
				}
			}
			c.Block(Wait{Keys: keys, Type: object.List, Rivals: c.Args[2], Events: testEvents(c)})
		}),
	}
}

// TestRivalsAgainstModel lets members of groups wait for what is offered to their group at several
// keys. They get it in the order in which they came, and beyond those who get something only one of
// each line runs again.
func TestRivalsAgainstModel(t *testing.T) {
	rng := testseed.Rand(t)
	o := &offers{left: map[string]int{}}
	f := newFixture(t, "", o.commands()...)
	for _, key := range []string{"a", "b", "c"} {
		f.run(f.c, "push "+key+" x")
	}
	type rival struct {
		waiting
		group string
		keys  []string
	}
	var ws []rival
	for step := range 20_000 {
		key, group := string('a'+rune(rng.IntN(3))), string('x'+rune(rng.IntN(3)))
		if rng.IntN(3) > 0 && len(ws) < 60 {
			line := fmt.Sprintf("take %d %s %s", 1+2*rng.IntN(2), group, key)
			w := rival{group: group, keys: []string{key}}
			if second := string('a' + rune(rng.IntN(3))); rng.IntN(3) == 0 && second != key {
				w.keys = append(w.keys, second)
				line += " " + second
			}
			w.waiting = f.block(line)
			ws = append(ws, w)
			continue
		}
		if len(ws) > 0 && rng.IntN(8) == 0 {
			i := rng.IntN(len(ws))
			f.e.Forget(ws[i].Client)
			ws = slices.Delete(ws, i, i+1)
			continue
		}
		n := 1 + rng.IntN(3)
		var want []uint64
		lines := 2
		for i := 0; i < len(ws) && len(want) < n; i++ {
			if w := ws[i]; w.group == group && slices.Contains(w.keys, key) {
				want = append(want, w.ID)
				ws = slices.Delete(ws, i, i+1)
				i--
			}
		}
		for _, q := range f.e.blocking.queuesOf(0) {
			for _, l := range q.lines {
				if string(q.key) == key && string(l.rivals) != group {
					lines++
				}
			}
		}
		o.runs, o.took = 0, nil
		f.run(f.c, fmt.Sprint("offer ", key, " ", group, " ", n))
		clear(o.left) // nobody wanted it
		if !slices.Equal(o.took, want) || o.runs > len(want)+lines {
			t.Fatalf("step %d: %d offered to %s at %s: %v took it, want %v; %d runs, lines %d",
				step, n, group, key, o.took, want, o.runs, lines)
		}
	}
	for _, w := range ws {
		f.e.Forget(w.Client)
	}
	f.idle()
}

// due is what a claim waits for: the time from which on it may take one of what is left.
type due struct {
	at   int64 // steady ms, 0: never
	left int
	runs int
}

func (d *due) commands() []testCommand {
	return []testCommand{
		entry("sooner", 2, spec.Write, func(c *Ctx) {
			c.Happened(c.Args[1], object.List, WaitDue)
			c.OK()
		}),
		entry("claim", 3, spec.Write|spec.Blocking, func(c *Ctx) {
			d.runs++
			if d.left > 0 && d.at != 0 && d.at <= c.E.Steady() {
				d.left--
				c.Simple("claimed")
				return
			}
			at := d.at
			if d.left == 0 {
				at = 0
			}
			ms, _ := strconv.ParseInt(string(c.Args[2]), 10, 64)
			w := Wait{Keys: c.Args[1:2], Type: object.List, Rivals: []byte("g"), Due: at,
				Events: WaitArrival | WaitDue, OnTimeout: func(c *Ctx) { c.NullArray() }}
			if ms > 0 {
				w.Deadline = c.E.Steady() + ms
			}
			c.Block(w)
		}),
	}
}

// TestWaitUntilDue lets clients wait for a time that comes nearer, passes, and is far away again.
func TestWaitUntilDue(t *testing.T) {
	d := &due{}
	f := newFixture(t, "", d.commands()...)
	alarms := 0
	f.e.Alarm = func() { alarms++ }
	f.run(f.c, "push k x")
	var ws []waiting
	for range 1000 {
		ws = append(ws, f.block("claim k 0"))
	}
	late := f.block("claim k 90000")
	if alarms != 1 || f.e.TimedClients() != 1 || f.e.UntilTimeout() < 80000 {
		t.Errorf("%d alarms, %d timed clients, %d ms until the first", alarms, f.e.TimedClients(),
			f.e.UntilTimeout())
	}
	began := f.e.Steady()
	d.at, d.left, d.runs = began+60000, 2, 0
	f.expect(f.c, "sooner k", "+OK")
	if left := f.e.UntilTimeout(); d.runs != 1 || alarms != 2 || left > 60001 {
		t.Errorf("a time: %d runs, %d alarms, %d ms", d.runs, alarms, left)
	}
	d.at = began + 30000
	f.expect(f.c, "sooner k", "+OK")
	if left := f.e.UntilTimeout(); d.runs != 2 || alarms != 3 || left > 30001 {
		t.Errorf("an earlier time: %d runs, %d alarms, %d ms", d.runs, alarms, left)
	}
	f.passTo(began + 30001)
	f.e.EndWaits()
	f.replies("the time has passed", ws[:3], "+claimed", "+claimed", "")
	if left := f.e.UntilTimeout(); d.runs != 5 || left < 30000 {
		t.Errorf("then: %d runs, %d ms until the next", d.runs, left)
	}
	f.passTo(began + 95000)
	f.e.EndWaits()
	f.replies("a wait that ends", []waiting{late}, "*-1")
	for _, w := range ws[2:] {
		f.e.Forget(w.Client)
	}
	f.idle()
}

// TestWaitUntilDueUnderPause serves a line whose time has come during a pause when the pause ends.
func TestWaitUntilDueUnderPause(t *testing.T) {
	d := &due{left: 1}
	f := newFixture(t, "", d.commands()...)
	f.run(f.c, "push k x")
	d.at = f.e.Steady() + 1000
	ws := []waiting{f.block("claim k 0"), f.block("claim k 0")}
	f.e.Pause(PauseByClient, f.e.Steady()+60000, false)
	f.passTo(d.at + 1)
	f.e.EndWaits()
	if left := f.e.UntilTimeout(); left < 1000 {
		t.Errorf("%d ms until the next, during a pause", left)
	}
	f.replies("during the pause", ws, "", "")
	f.e.Unpause(PauseByClient)
	f.expect(f.c, "read k", "+OK")
	f.replies("after the pause", ws, "+claimed", "")
	f.e.Forget(ws[1].Client)
	f.idle()
}

// TestLossOfAGroup tells those who wait for losses of one that no change of the key shows.
func TestLossOfAGroup(t *testing.T) {
	f := newFixture(t, "", entry("lose", 2, spec.Write, func(c *Ctx) {
		c.Happened(c.Args[1], object.List, WaitLoss)
		c.OK()
	}))
	f.run(f.c, "push k x")
	ws := []waiting{f.block("see 1 k"), f.block("see 4 k"), f.block("see 3 k")}
	f.expect(f.c, "lose k", "+OK")
	f.replies("a group has gone", ws, "", "+seen k=1", "")
	if n := f.e.BlockingKeysOnLoss(); n != 1 {
		t.Errorf("%d keys whose loss counts", n)
	}
	f.e.Forget(ws[0].Client)
	f.e.Forget(ws[2].Client)
	f.idle()
}
