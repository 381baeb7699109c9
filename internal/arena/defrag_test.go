package arena

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/testseed"
)

// fillAndThin allocates n blocks of the sizes that size returns and frees each with probability
// 7/10.
func fillAndThin(a *Arena, r *rand.Rand, n int, size func() int) (live []modelBlock) {
	all := make([]modelBlock, 0, n)
	for range n {
		m := modelBlock{data: make([]byte, size()), p: Values}
		m.ref = a.Alloc(len(m.data), m.p)
		m.fill(a, r, 0)
		all = append(all, m)
	}
	for _, m := range all {
		if r.IntN(10) < 7 {
			a.Free(m.ref, len(m.data), m.p)
		} else {
			live = append(live, m)
		}
	}
	return live
}

// drainAll runs a whole round as an owner of all blocks does. Between calls it changes what lives.
func drainAll(a *Arena, live *[]modelBlock, between func()) (gain int64) {
	d := a.NewDrain()
	for !d.Survey(3) {
		between()
	}
	gain = d.Choose()
	for !d.Mark(3) {
		between()
	}
	for i := 0; i < len(*live); i++ {
		m := &(*live)[i]
		m.ref = a.Move(m.ref, len(m.data), m.p)
		if i%50 == 0 {
			between()
		}
	}
	d.Rewind()
	for done := false; !done; {
		_, done = d.End(3)
	}
	return gain
}

// TestDrain thins an arena out and drains it. All blocks must be unchanged, and little may be left
// over.
func TestDrain(t *testing.T) {
	r := testseed.Rand(t)
	a := New()
	live := fillAndThin(a, r, 150_000, func() int { return 40 * (1 + r.IntN(8)) })
	before := a.Fragmentation()
	gain := drainAll(a, &live, func() {})
	verify(t, a, live)
	if !invariant.Enabled { // whose blocks take more than they count for
		if f := a.Fragmentation(); f > a.Used()/6 || f > before-gain*9/10 {
			t.Errorf("%d bytes of %d unused, %d before, %d promised", f, a.Used(), before, gain)
		}
	}
	if a.Moves.Hits == 0 || gain <= 0 {
		t.Errorf("moves %+v, gain %d", a.Moves, gain)
	}
	again := drainAll(a, &live, func() {})
	if again > gain/20 {
		t.Errorf("a second round would gain %d after %d", again, gain)
	}
	verify(t, a, live)
	for _, m := range live {
		a.Free(m.ref, len(m.data), m.p)
	}
	a.Trim()
	if a.Mapped() != 0 || a.Fragmentation() != 0 {
		t.Errorf("%d mapped, %d unused of an empty arena", a.Mapped(), a.Fragmentation())
	}
	a.Close()
}

// TestDrainUnderChange allocates, frees and resizes in the middle of rounds.
func TestDrainUnderChange(t *testing.T) {
	r := testseed.Rand(t)
	a := New()
	size := func() int { return 1 + r.IntN(1<<(4+r.IntN(12))) }
	live := fillAndThin(a, r, 20_000, size)
	free := func(i int) {
		m := live[i]
		if !bytes.Equal(a.Bytes(m.ref, len(m.data)), m.data) {
			t.Fatalf("block %#x of %d bytes changed", m.ref, len(m.data))
		}
		a.Free(m.ref, len(m.data), m.p)
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
	}
	change := func() {
		for range r.IntN(20) {
			switch r.IntN(4) {
			case 0:
				m := modelBlock{data: make([]byte, size()), p: Values}
				m.ref = a.Alloc(len(m.data), m.p)
				m.fill(a, r, 0)
				live = append(live, m)
			case 1:
				if len(live) > 0 {
					m := &live[r.IntN(len(live))]
					old, n := len(m.data), size()
					m.ref = a.Resize(m.ref, old, n, m.p)
					m.data = append(make([]byte, 0, n), m.data[:min(old, n)]...)[:n]
					m.fill(a, r, min(old, n))
				}
			case 2:
				a.BeginTrim()
				a.TrimSlice()
				a.Release()
			default:
				if len(live) > 0 {
					free(r.IntN(len(live)))
				}
			}
		}
	}
	for range 6 {
		drainAll(a, &live, change)
		verify(t, a, live)
		for range len(live) / 2 {
			free(r.IntN(len(live)))
		}
	}
	for len(live) > 0 {
		free(0)
	}
	a.Trim()
	if a.Mapped() != 0 {
		t.Errorf("%d bytes mapped at the end", a.Mapped())
	}
	a.Close()
}
