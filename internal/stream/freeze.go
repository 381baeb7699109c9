package stream

import (
	"container/heap"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// frozenIndex is an index as it was at one moment, given out block by block in ascending order
// while the index goes on changing.
//
// Blocks of another generation than the index's are those of the moment that have not been given
// out. A block gets the generation when it is given out, copied or made. What happens to an old
// block before its turn: its first change copies it (keep), its removal hands it over (adopt). Both
// become relics, which wait in a heap. What comes next is the smaller of the next old block in the
// index and the first relic. The walk knows the index by a first ID only: no block up to it is old.
//
// An index that is dropped meanwhile is an orphan, and closing the walk frees it.
type frozenIndex struct {
	x      *index
	last   ID   // of the block that was given out last
	begun  bool // there is one
	left   int  // blocks to be given out
	relics relics
	bytes  int64 // of relics
	kept   int64 // of all that ever were
	all    *kept // if not nil, the sum of several
	orphan bool
}

// kept is the memory that several frozen indexes keep in bytes, and all that they ever kept.
type kept struct{ now, ever int64 }

// count counts memory that is kept, or no more.
func (f *frozenIndex) count(n int64) {
	f.bytes += n
	f.kept += max(n, 0)
	if f.all != nil {
		f.all.now += n
		f.all.ever += max(n, 0)
	}
}

// relics are blocks that have changed or are gone, as a heap with the smallest first ID on top.
// They may be a tenth of a large index, so the slice, which is copied when it grows, has only
// pointers.
type relics []*block

// Len implements heap.Interface.
func (r relics) Len() int { return len(r) }

// Less implements heap.Interface.
func (r relics) Less(i, j int) bool { return r[i].first.Less(r[j].first) }

// Swap implements heap.Interface.
func (r relics) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push implements heap.Interface.
func (r *relics) Push(d any) { *r = append(*r, d.(*block)) }

// Pop implements heap.Interface.
func (r *relics) Pop() any {
	last := len(*r) - 1
	d := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	return d
}

// freeze begins to give out the index as it is now.
func (x *index) freeze() *frozenIndex {
	invariant.Check(x.frozen == nil, "stream: an index is frozen twice")
	x.gen++
	x.frozen = &frozenIndex{x: x, left: x.blocks}
	return x.frozen
}

// keep is called before the block at p changes in any way. It may change the generation in the
// descriptor: read that afterwards.
func (x *index) keep(p pos) {
	if x.frozen == nil {
		return
	}
	d := x.at(p)
	if d.gen == x.gen {
		return
	}
	c := d
	c.room = arena.ClassSize(max(d.n, 1))
	c.ref = x.sh.A.Alloc(c.room, arena.Values)
	copy(x.data(&c), x.data(&d))
	x.frozen.hold(c)
	d.gen = x.gen
	x.put(p, d)
}

// adopt takes a block that leaves the index, if its turn is still to come.
func (f *frozenIndex) adopt(d block) bool {
	if d.gen == f.x.gen {
		return false
	}
	f.x.bytes -= int64(d.room)
	f.hold(d)
	return true
}

func (f *frozenIndex) hold(d block) {
	heap.Push(&f.relics, &d)
	f.count(int64(d.room))
}

// drop frees the index, or leaves it to its walk. It must not be used again.
func (x *index) drop() {
	if f := x.frozen; f != nil {
		f.orphan = true
		f.count(x.bytes)
		return
	}
	x.empty()
}

// empty frees all blocks of an index that is not frozen.
func (x *index) empty() {
	n := 1<<63 - 1
	x.drain(&n)
}

// step gives out up to *n blocks and takes them from *n. It reports whether there are no more.
func (f *frozenIndex) step(n *int, emit func(d *block, b []byte)) (done bool) {
	for f.left > 0 {
		if *n <= 0 {
			return false
		}
		*n--
		p, ok := f.next()
		x := f.x
		if len(f.relics) > 0 && !ok {
			d := heap.Pop(&f.relics).(*block)
			f.give(d, emit)
			f.release(d)
			continue
		}
		invariant.Check(ok, "stream: %d frozen blocks were not given out", f.left)
		d := x.at(p)
		f.give(&d, emit)
		d.gen = x.gen
		x.put(p, d)
	}
	return true
}

func (f *frozenIndex) give(d *block, emit func(d *block, b []byte)) {
	f.left--
	emit(d, f.x.data(d))
}

func (f *frozenIndex) release(d *block) {
	f.count(-int64(d.room))
	f.x.sh.A.Free(d.ref, d.room, arena.Values)
}

// next returns the place of the next old block in the index, if there is one before the first
// relic. What it finds to be new stays new, so the walk has passed that too.
func (f *frozenIndex) next() (p pos, ok bool) {
	if f.left == len(f.relics) {
		return p, false
	}
	x := f.x
	if p, ok = x.head(); f.begun {
		if q, found := x.find(f.last); found {
			p = q
		}
	}
	for ; ok; p, ok = x.next(p) {
		d := x.at(p)
		if len(f.relics) > 0 && !d.first.Less(f.relics[0].first) {
			break // what has changed may be most of the index: it is passed relic by relic
		}
		if d.gen != x.gen {
			return p, true
		}
		f.last, f.begun = d.first, true
	}
	return p, false
}

// close ends the walk, done or not.
func (f *frozenIndex) close() {
	for _, d := range f.relics {
		f.release(d)
	}
	f.relics = nil
	f.x.frozen = nil
	if f.orphan {
		f.x.empty()
	}
}
