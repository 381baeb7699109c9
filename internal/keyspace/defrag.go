package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
)

// Active defragmentation
//
// A round empties sparse runs of the arena by moving their blocks: see arena.Drain. It takes many
// slices, between commands; what commands do meanwhile does no harm, for every owner is always
// right about where its blocks are.
//
//	survey → mark → entries, strings and packed values → large collections → end
//
// The walk over a table gives scan's guarantee. A key that it misses because it was renamed
// meanwhile keeps its place until the next round.

// Defrag is the running round.
type Defrag struct {
	ks    *Keyspace
	stage defragStage
	drain *arena.Drain
	least int64 // bytes for which a round is worth the walk

	// All makes the round move every block, whether that frees anything or not. It is for tests.
	All bool

	db     int
	cursor uint64
	walk   object.DefragWalk
	move   func(r arena.Ref) arena.Ref

	// Gain is the bytes of the runs that the round is to empty, 0 if it is not worth it.
	Gain int64
	// Stuck is how many of these bytes are in runs that still have blocks at the end.
	Stuck int64
}

type defragStage uint8

const (
	defragSurvey defragStage = iota
	defragMark
	defragEntries
	defragLarge
	defragEnd
	defragDone
)

// chainKeys is how many keys a chain of a table counts as.
const chainKeys = 6

// chunksPerStep is how many chunks a step looks at, for each 64 that it was told to do.
const chunksPerStep = 16

// BeginDefrag begins a round, if it can empty runs of that many bytes; one at a time may run.
func (ks *Keyspace) BeginDefrag(least int64) *Defrag {
	d := &Defrag{ks: ks, drain: ks.A.NewDrain(), least: least}
	d.move = d.entry
	return d
}

// Step goes on with the round, for about n blocks, and reports whether it is at its end.
func (d *Defrag) Step(n int) (done bool) {
	d.ks.settleSizes() // open entries would be looked for where they were
	switch chunks := max(n*chunksPerStep/64, 1); d.stage {
	case defragSurvey:
		if d.All {
			d.drain.ChooseAll()
			d.stage = defragMark
		} else if d.drain.Survey(chunks) {
			if d.Gain = d.drain.Choose(); d.Gain < d.least {
				d.Gain = 0
				d.stage = defragDone
				break
			}
			d.stage = defragMark
		}
	case defragMark:
		if d.drain.Mark(chunks) {
			d.stage = defragEntries
		}
	case defragEntries:
		d.entries(n)
	case defragLarge:
		was := d.walk
		if d.ks.Heap.Defrag(&d.walk, n) {
			d.Stop()
		}
		d.ks.Stats.DefragKeyHits += d.walk.Moved - was.Moved
		d.ks.Stats.DefragKeyMisses += d.walk.Found - d.walk.Moved - (was.Found - was.Moved)
	case defragEnd:
		left, done := d.drain.End(chunks)
		d.Stuck += left
		if done {
			d.stage = defragDone
		}
	}
	return d.stage == defragDone
}

// Stop makes the round end with the next steps, wherever it stands.
func (d *Defrag) Stop() {
	switch d.stage {
	case defragSurvey:
		d.stage = defragDone
	case defragMark, defragEntries, defragLarge:
		d.drain.Rewind()
		d.stage = defragEnd
	}
}

// entries offers the blocks of about n keys.
func (d *Defrag) entries(n int) {
	ks := d.ks
	for n > 0 {
		if d.db == len(ks.dbs) {
			d.stage = defragLarge
			return
		}
		bytes := ks.A.Moves.Bytes
		d.cursor = ks.dbs[d.db].store.defrag(d.cursor, d.move)
		n -= chainKeys + int((ks.A.Moves.Bytes-bytes)>>10)
		if d.cursor == 0 {
			d.db++
		}
	}
}

// entry offers the blocks of one key.
func (d *Defrag) entry(r arena.Ref) arena.Ref {
	ks := d.ks
	was := ks.A.Moves.Hits
	r = ks.Heap.DefragEntry(r)
	if ks.A.Moves.Hits > was {
		ks.Stats.DefragKeyHits++
	} else {
		ks.Stats.DefragKeyMisses++
	}
	return r
}
