package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

// blockedModel models waiting in the simplest way: one list of waiters in the order in which they
// began.
type blockedModel struct {
	lists   map[string][]string
	ready   []string
	waiters []*modelWaiter
}

type modelWaiter struct {
	w     waiting
	keys  []string
	to    string // of move
	reply string
}

func (m *blockedModel) push(key, elem string) {
	if len(m.lists[key]) == 0 && !slices.Contains(m.ready, key) {
		m.ready = append(m.ready, key)
	}
	m.lists[key] = append(m.lists[key], elem)
}

func (m *blockedModel) serve() {
	for len(m.ready) > 0 {
		key := m.ready[0]
		m.ready = m.ready[1:]
		for _, w := range slices.Clone(m.waiters) {
			if len(m.lists[key]) == 0 {
				break
			}
			if slices.Contains(w.keys, key) {
				m.run(w)
			}
		}
	}
}

func (m *blockedModel) run(w *modelWaiter) {
	key := w.keys[slices.IndexFunc(w.keys, func(k string) bool { return len(m.lists[k]) > 0 })]
	elem := m.lists[key][0]
	m.lists[key] = m.lists[key][1:]
	w.reply = "+" + key + "=" + elem
	if w.to != "" {
		w.reply = "+" + elem
		m.push(w.to, elem)
	}
	m.leave(w)
}

func (m *blockedModel) leave(w *modelWaiter) {
	m.waiters = slices.DeleteFunc(m.waiters, func(o *modelWaiter) bool { return o == w })
}

// holds compares the replies to the waiters with the model.
func (f *fixture) holds(ws []*modelWaiter, what string) {
	f.t.Helper()
	for _, w := range ws {
		if got := w.w.reply(); got != w.reply || w.w.Waits() != (got == "") {
			f.t.Fatalf("%s: a waiter for %v: %q, want %q", what, w.keys, got, w.reply)
		}
		if w.reply != "" {
			f.e.Forget(w.w.Client)
		}
	}
}

// countsQueues compares the bytes that are counted for queues with those of the queues.
func (f *fixture) countsQueues(what string) {
	f.t.Helper()
	bytes := int64(0)
	for _, dbs := range f.e.blocking.dbs {
		for _, q := range dbs {
			bytes += q.bytes()
			for _, l := range q.lines {
				bytes += l.bytes()
			}
		}
	}
	if bytes != f.e.blocking.bytes {
		f.t.Fatalf("%s: queues of %d bytes, want %d", what, f.e.blocking.bytes, bytes)
	}
}

// TestBlockedAgainstModel blocks, fills, unblocks and disconnects at random over a few keys, and
// compares every reply and its order with the model.
func TestBlockedAgainstModel(t *testing.T) {
	rng := testseed.Rand(t)
	f := newFixture(t, "")
	m := &blockedModel{lists: map[string][]string{}}
	key := func() string { return string('a' + rune(rng.IntN(4))) }
	for step := range 20000 {
		before := slices.Clone(m.waiters)
		line := ""
		switch n := rng.IntN(10); {
		case n < 4 && len(m.waiters) < 12:
			w := &modelWaiter{keys: []string{key()}}
			line = "move " + w.keys[0] + " "
			if rng.IntN(2) == 0 {
				w.keys = append(w.keys, key(), key())
				line = "pop " + strings.Join(w.keys, " ")
			} else {
				w.to = key()
				line += w.to
			}
			if slices.ContainsFunc(w.keys, func(k string) bool { return len(m.lists[k]) > 0 }) {
				continue
			}
			w.w = f.block(line + fmt.Sprintf(" %d", rng.IntN(2)*100000))
			m.waiters = append(m.waiters, w)
		case n < 8:
			k := key()
			line = fmt.Sprintf("push %s", k)
			for i := range 1 + rng.IntN(3) {
				elem := fmt.Sprintf("%d.%d", step, i)
				line += " " + elem
				m.push(k, elem)
			}
			f.run(f.c, line)
			m.serve()
		case n == 8 && len(m.waiters) > 0:
			w := m.waiters[rng.IntN(len(m.waiters))]
			line = "unblock"
			f.e.Unblock(w.w.ID, false)
			w.reply = "*-1"
			m.leave(w)
		case len(m.waiters) > 0:
			w := m.waiters[rng.IntN(len(m.waiters))]
			line = "disconnect"
			f.e.Forget(w.w.Client)
			m.leave(w)
			before = slices.DeleteFunc(before, func(o *modelWaiter) bool { return o == w })
		}
		f.holds(before, fmt.Sprintf("step %d: %s", step, line))
		f.countsQueues(fmt.Sprintf("step %d: %s", step, line))
	}
	for _, w := range m.waiters {
		f.e.Forget(w.w.Client)
	}
	f.idle()
}
