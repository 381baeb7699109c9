package dict

import (
	"testing"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// round makes every offered block move from now on, until the function that it returns is called.
func (w *world) round() (end func()) {
	d := w.a.NewDrain()
	d.ChooseAll()
	for !d.Mark(1 << 20) {
	}
	return func() {
		d.Rewind()
		for done := false; !done; {
			_, done = d.End(1 << 20)
		}
	}
}

// TestDefrag walks over dicts that grow, shrink and are rehashed meanwhile, and moves all blocks.
// What stays for the whole walk must be offered.
func TestDefrag(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	offered := map[uint64]bool{}
	move := func(ref arena.Ref) arena.Ref {
		k := w.key(ref)
		offered[k] = true
		w.model[k] = w.a.Move(ref, entrySize, arena.Keys)
		return w.model[k]
	}
	for wave := range 24 {
		grow := wave/3%2 == 0
		for range 3000 {
			w.randomOp(r, 6000, grow)
		}
		clear(offered)
		hits := w.a.Moves.Hits
		stay := map[uint64]bool{}
		for _, k := range w.keys {
			stay[k] = true
		}
		end := w.round()
		for cursor := uint64(0); ; {
			if cursor = w.d.Defrag(cursor, move); cursor == 0 {
				break
			}
			for range r.IntN(8) {
				k := r.Uint64N(6000)
				if delete(stay, k); grow {
					w.insert(k)
				} else {
					w.delete(k)
				}
			}
		}
		end()
		w.checkAll()
		for k := range stay {
			if !offered[k] {
				t.Fatalf("key %#x was not offered", k)
			}
		}
		if len(w.keys) > 2000 && w.a.Moves.Hits-hits < int64(len(w.keys)/2) {
			t.Fatalf("%d blocks moved of %d entries", w.a.Moves.Hits-hits, len(w.keys))
		}
	}
	w.close()
}
