package arena

import "math/bits"

// Emptying sparse runs
//
// After blocks were freed at random, runs stay sparsely populated: a run goes back to its chunk
// only with its last block. A Drain is one round against that:
//
//	Survey  counts the runs of each class by how full they are
//	Choose  picks the emptiest: as many as the others have room for
//	Mark    takes these runs off their lists, so that nothing more is allocated from them
//	        … now the blocks' owners walk all they own and offer each block to Move …
//	End     puts what could not be emptied back on the lists
//
// So one walk over the owners is enough, a block moves at most once in it, and no memory is mapped
// for it. A class keeps at most 1/8 free, apart from the run that is being filled.
//
//	full   ├────────────┤ kept          bins of a class: runs by live blocks, 32 steps
//	  ↑    ├───────┤ kept               the bins up to a threshold are drained, and of the
//	bins   ├──────────────┤ some of it  next one as many runs as there is room for
//	       ├─────┤ drained
//
// All steps are bounded. Blocks come and go meanwhile: the counts are a plan and not a promise.

const (
	drainBins  = 32
	drainBelow = 28 // fuller bins are left alone: moving much would free little
)

// Drain is a round of emptying sparse runs. NewDrain makes it. There may be only one at a time.
type Drain struct {
	a    *Arena
	at   int // the next chunk
	bins [numClasses][drainBins]runCount
	open [numClasses]int64 // room in the run that is being filled
	goal [numClasses]drainGoal
}

type runCount struct{ runs, live int64 }

// drainGoal says which runs of a class are drained: all in the bins before the given one, and some
// of that one.
type drainGoal struct {
	bin  int
	some int64
}

// NewDrain starts a round.
func (a *Arena) NewDrain() *Drain { return &Drain{a: a} }

func binOf(r *run) int { return int(uint64(r.live) * drainBins / uint64(r.cap)) }

// candidate reports whether the run may be drained: it has blocks, and is not being filled.
func (a *Arena) candidate(r *run) bool {
	return r.live > 0 && (a.class[r.class].cur != r || a.moveFreely)
}

// eachRun calls f for each run of the chunk.
func (a *Arena) eachRun(k *chunk, f func(r *run)) {
	for used := ^k.freeUnits; used != 0; {
		r := &k.runs[bits.TrailingZeros64(used)]
		used &^= unitMask(uint32(r.unit), a.class[r.class].units)
		f(r)
	}
}

// Survey counts the runs of n more chunks and reports whether those were the last.
func (d *Drain) Survey(n int) (done bool) {
	for ; n > 0 && d.at < len(d.a.meta); n-- {
		if k := d.a.meta[d.at]; k != nil {
			d.a.eachRun(k, func(r *run) {
				switch {
				case d.a.class[r.class].cur == r:
					d.open[r.class] = int64(r.cap - r.live)
				case r.live < r.cap:
					b := &d.bins[r.class][binOf(r)]
					b.runs++
					b.live += int64(r.live)
				}
			})
		}
		d.at++
	}
	return d.at >= len(d.a.meta)
}

// Choose decides what is drained and returns how many bytes of runs that will empty.
func (d *Drain) Choose() (gain int64) {
	for c := range d.bins {
		gain += d.choose(c)
	}
	d.at = len(d.a.meta) - 1
	return gain
}

func (d *Drain) choose(c int) (gain int64) {
	cl := &d.a.class[c]
	most := int64(cl.units << unitShift / cl.size)
	bytes := int64(cl.units) << unitShift
	room, moving := d.open[c], int64(0)
	for _, b := range d.bins[c] {
		room += b.runs*most - b.live
	}
	room -= room / 64 // for blocks allocated meanwhile
	g := &d.goal[c]
	for g.bin = 0; g.bin < drainBelow; g.bin++ {
		b := d.bins[c][g.bin]
		left := room - (b.runs*most - b.live)
		if moving+b.live > left {
			g.some = min(max((room-moving)/most, 0), b.runs)
			break
		}
		room, moving = left, moving+b.live
		gain += b.runs * bytes
	}
	return gain + g.some*bytes
}

// ChooseAll picks every run and lets Move take new memory. It is for tests of the owners.
func (d *Drain) ChooseAll() {
	for c := range d.goal {
		d.goal[c].bin = drainBins + 1
	}
	d.at, d.a.moveFreely = len(d.a.meta)-1, true
}

// Mark takes the chosen runs of n more chunks off their lists and reports whether those were the
// last. High chunks come first, so that they empty.
func (d *Drain) Mark(n int) (done bool) {
	a := d.a
	d.at = min(d.at, len(a.meta)-1)
	for ; n > 0 && d.at > 0; n-- {
		if k := a.meta[d.at]; k != nil {
			a.eachRun(k, func(r *run) {
				g := &d.goal[r.class]
				b := binOf(r)
				if b > g.bin || b == g.bin && g.some == 0 || !a.candidate(r) {
					return
				}
				if b == g.bin {
					g.some--
				}
				a.unlist(&a.class[r.class], r)
				k.drained |= unitMask(uint32(r.unit), a.class[r.class].units)
			})
		}
		d.at--
	}
	return d.at <= 0
}

// End puts the remaining runs of n more chunks back on their lists and reports whether those were
// the last. left is the bytes of runs that were not emptied. Rewind must be called before the first
// End.
func (d *Drain) End(n int) (left int64, done bool) {
	a := d.a
	a.moveFreely = false
	for ; n > 0 && d.at < len(a.meta); n-- {
		if k := a.meta[d.at]; k != nil && k.drained != 0 {
			a.eachRun(k, func(r *run) {
				if k.drained>>r.unit&1 != 0 {
					left += int64(a.class[r.class].units) << unitShift
					k.drained &^= unitMask(uint32(r.unit), a.class[r.class].units)
					if r.live < r.cap {
						a.list(&a.class[r.class], r)
					}
				}
			})
		}
		d.at++
	}
	return left, d.at >= len(a.meta)
}

// Rewind prepares for End. It is called after marking, finished or not.
func (d *Drain) Rewind() { d.at = 0 }

// Drained reports whether the block lies in a run that is being emptied; if not, it counts a miss.
// It costs a few ns and does not touch the block. An owner that must read a block to know its size
// asks this first.
func (a *Arena) Drained(ref Ref) bool {
	k := a.meta[ref>>32]
	if k == nil || k.drained>>(uint32(ref)>>unitShift&(unitsPerChunk-1))&1 == 0 {
		a.Moves.Misses++
		return false
	}
	return true
}

// Move returns where the block of n bytes is from now on: elsewhere if its run is being emptied and
// another one has room, else where it was. n and p are those that it was allocated with. The owner
// calls it and stores the result in all places that hold the Ref.
func (a *Arena) Move(ref Ref, n int, p Purpose) Ref {
	if !a.Drained(ref) {
		return ref
	}
	if !a.moveFreely && a.class[classOf(padded(n))].cur == nil {
		a.Moves.Misses++
		return ref
	}
	a.moving = true
	to := a.Alloc(n, p)
	a.moving = false
	copy(a.Bytes(to, n), a.Bytes(ref, n))
	a.Free(ref, n, p)
	a.Moves.Hits++
	a.Moves.Bytes += int64(n)
	return to
}

// Moves counts the calls of Move.
type Moves struct {
	Hits, Misses int64 // blocks moved, blocks left
	Bytes        int64 // bytes moved
}

// Fragmentation returns the bytes that runs take and no block uses. They include the ends of runs
// that were never used, although these have no pages.
func (a *Arena) Fragmentation() int64 {
	return max(a.Held()-a.dyingLeft-a.kept.bytes-int64(a.free)<<unitShift-a.Used(), 0)
}

// ClassUse describes how blocks of one size are laid out.
type ClassUse struct {
	Size        int   // bytes of a block
	Runs        int   // runs of such blocks
	Live, Room  int64 // blocks handed out; blocks that the runs hold
	Run, Unused int64 // bytes of a run; bytes of used pages without a block
}

// Classes describes the sizes in use. It looks at every run.
func (a *Arena) Classes() (use []ClassUse) {
	var all [numClasses]ClassUse
	for _, k := range a.meta {
		if k == nil {
			continue
		}
		a.eachRun(k, func(r *run) {
			c, u := &a.class[r.class], &all[r.class]
			u.Size, u.Run = int(c.size), int64(c.units)<<unitShift
			u.Runs++
			u.Live += int64(r.live)
			u.Room += int64(r.cap)
			u.Unused += int64(r.bump-uint32(r.unit)<<unitShift) - int64(r.live)*int64(c.size)
		})
	}
	for _, u := range all {
		if u.Runs > 0 {
			use = append(use, u)
		}
	}
	return use
}
