package keyspace

import (
	"math"

	"godwit/internal/object"
	"godwit/internal/wheel"
)

// Records of the timing wheels
//
// A key with a deadline counts on one record: the one that has its hash and generation and does not
// fire after its deadline. A hash counts on the one or two records that are noted with its fields
// (see fields.go). All other records are dead: those of keys that are gone, that lost their
// deadline or got an earlier one. Both wheels know how many records they hold, and the keyspace how
// many deadlines it holds; the difference is dead.
//
//	wheel.Len()  = keys with a deadline + dead
//	fields.Len() = records noted with hashes + dead
//
// When more than a sixth is dead, the wheel is swept (wheel.Sweep): every record is looked up, and
// dead ones are dropped. Slices do that between commands; a client that makes dead records faster
// pays with each new deadline, so that they stay under a fifth while one command runs.
//
// A generation has 6 bits. That of a new deadline is random, so that a dead record passes for the
// one that counts once in 64 times. Then the key counts on two. So a sweep gives each key that it
// meets a new generation, which goes with the record it has just seen: from then on the other is
// dead, and it is dropped when its turn comes, or in the next sweep. With more than 1024 databases
// a record has no room for a generation; a key that was written anew under the same name may then
// keep old records until they fire.

const (
	// sweepFloor is how many dead records are not worth a sweep.
	sweepFloor = 512
	// sweepShare is the part of all records that may be dead before a sweep begins: one in so many.
	sweepShare = 6
	// paidSweep is how many records are swept with each new one while dead ones are nearly a fifth.
	paidSweep = 64
)

// maxTagged is how many databases leave room for a generation in a wheel record's 16-bit tag.
const maxTagged = 1 << (16 - object.GenBits)

// generations reports whether records carry one.
func (ks *Keyspace) generations() bool { return len(ks.dbs) <= maxTagged }

// tag returns what a wheel record says of its entry: which content it is in and the record's
// generation.
func (db *DB) tag(gen byte) uint16 {
	if !db.ks.generations() {
		return db.wheelID
	}
	return db.wheelID | uint16(gen)<<(16-object.GenBits)
}

// untag reverses tag. The generation is 0 where there is none.
func (ks *Keyspace) untag(tag uint16) (db *DB, gen byte) {
	if !ks.generations() {
		return ks.byWheel[tag], 0
	}
	return ks.byWheel[tag&(maxTagged-1)], byte(tag >> (16 - object.GenBits))
}

// newGen returns a random generation other than old, 0 where records carry none.
func (ks *Keyspace) newGen(old byte) byte {
	if !ks.generations() {
		return 0
	}
	ks.gens = ks.gens*6364136223846793005 + 1442695040888963407
	gen := byte(ks.gens >> (64 - object.GenBits))
	if gen == old {
		gen ^= 1
	}
	return gen
}

// wakeAt returns when a key with the deadline is gone: in the ms after it, if there is one.
func wakeAt(deadline int64) int64 { return min(deadline, math.MaxInt64-1) + 1 }

// arm adds a wheel record for the entry, which counts on no other from now on.
func (db *DB) arm(h uint64, e object.Entry, deadline int64) {
	ks := db.ks
	gen := ks.newGen(e.Gen())
	e.SetGen(gen)
	ks.wheel.Add(wakeAt(deadline), h, db.tag(gen))
	// The wheel may have records to move to lower levels before that; they are not late if it moves
	// them then.
	ks.dueAt = min(ks.dueAt, wakeAt(deadline))
	ks.wheel.pay(ks.now)
}

// fire handles one record of the timing wheel: the key is deleted, or put back when its deadline
// has moved.
func (ks *Keyspace) fire(at int64, h uint64, tag uint16) {
	if ks.park(&ks.parked.keys, at, h, tag) {
		return
	}
	db, gen := ks.untag(tag)
	if e := db.byHash(seek{kind: seekDue, hash: h, at: ks.now}); e.Exists() {
		db.expire(h, e)
		return
	}
	// Not due any more: put it back if it is the record that the entry counts on.
	if e := db.byHash(seek{kind: seekRecord, hash: h, at: at, gen: gen}); e.Exists() {
		gen = ks.newGen(gen)
		e.SetGen(gen)
		ks.wheel.Add(wakeAt(e.Deadline()), h, db.tag(gen))
	}
}

// records is a wheel with what the keyspace knows of its records and of their sweep.
type records struct {
	*wheel.Wheel
	live  int // records that somebody counts on
	judge func(batch []wheel.Expiry)

	sweeping bool // a pass is under way
	start    int  // dead records when it began
	dropped  int  // records that it has dropped
	left     int  // dead records that the last pass could not tell from live ones
}

// passYield is which part of the dead records that are left a pass must have dropped for another
// one to be worth it. So passes end: each takes away a part of what the one before has left.
const passYield = 8

// tooMany reports whether more than num/den of the records are dead, beside the floor and those
// that the last pass has left.
func (w *records) tooMany(num, den int) bool {
	n := w.Len()
	return n-w.live > sweepFloor+w.left+n*num/den
}

// pending reports whether the wheel is to be swept.
func (w *records) pending() bool {
	w.left = min(w.left, max(w.Len()-w.live, 0))
	return w.sweeping || w.Trash() || w.tooMany(1, sweepShare)
}

// pay sweeps a little for a new record while nearly a fifth is dead.
func (w *records) pay(now int64) {
	if w.tooMany(9, 50) {
		w.sweep(paidSweep, now)
	}
}

// sweep looks at about n records and drops the dead ones.
func (w *records) sweep(n int, now int64) {
	if w.live == 0 && w.Len() > 0 {
		w.Reset(now)
	}
	before := w.Len()
	if !w.sweeping {
		w.start = before - w.live
	}
	w.sweeping = w.Sweep(n, w.judge)
	if w.dropped += before - w.Len(); w.sweeping {
		return
	}
	dead := max(w.Len()-w.live, 0)
	// If there are more than at its start, new ones have come where it had been: the next finds
	// them.
	if w.left = 0; dead <= w.start && w.dropped < dead/passYield {
		w.left = dead
	}
	w.dropped = 0
}

// SweepPending reports whether SweepSlice has something to do. It costs a few comparisons: every
// turn of a loop asks. It becomes false after a bounded number of slices if nobody makes new dead
// records, whatever the clock does.
func (ks *Keyspace) SweepPending() bool { return ks.wheel.pending() || ks.fields.pending() }

// SweepSlice looks at about n records of a wheel with too many dead ones, or frees n blocks of one
// that was emptied, and reports whether there is more to do.
func (ks *Keyspace) SweepSlice(n int) (more bool) {
	if ks.wheel.pending() {
		ks.wheel.sweep(n, ks.now)
	} else if ks.fields.pending() {
		ks.fields.sweep(n, ks.now)
	}
	ks.AssertRecords()
	return ks.SweepPending()
}

// Records returns how many records the wheels hold: one for each deadline, and dead ones.
func (ks *Keyspace) Records() int { return ks.wheel.Len() + ks.fields.Len() }

// RecordBytes returns the mean size of a record in bytes.
func (ks *Keyspace) RecordBytes() int64 {
	return (ks.wheel.MemoryBytes() + ks.fields.MemoryBytes()) / int64(max(ks.Records(), 1))
}

// turnBack follows a clock that is set back: what gets a deadline from now on is not due before it.
func (ks *Keyspace) turnBack(now int64) {
	keys := ks.wheel.TurnBack(now)
	if ks.fields.TurnBack(now) || keys {
		ks.dueAt = ks.nextDue()
	}
}

// prefetch brings the entries of the records into the cache: their misses overlap.
func (ks *Keyspace) prefetch(batch []wheel.Expiry) {
	for i := range batch {
		db, _ := ks.untag(batch[i].DB)
		db.store.prefetch(batch[i].Hash)
	}
	for i := range batch {
		db, _ := ks.untag(batch[i].DB)
		db.store.prefetchEntry(batch[i].Hash)
	}
}

// judge marks the dead ones of some records of keys.
func (ks *Keyspace) judge(batch []wheel.Expiry) {
	ks.prefetch(batch)
	for i := range batch {
		r := &batch[i]
		db, gen := ks.untag(r.DB)
		e := db.byHash(seek{kind: seekRecord, hash: r.Hash, at: r.Deadline, gen: gen})
		if r.Drop = !e.Exists(); !r.Drop {
			gen = ks.newGen(gen)
			e.SetGen(gen)
			r.DB = db.tag(gen)
		}
	}
}

// judgeFields marks the dead ones of some records of hashes.
func (ks *Keyspace) judgeFields(batch []wheel.Expiry) {
	ks.prefetch(batch)
	for i := range batch {
		r := &batch[i]
		db, gen := ks.untag(r.DB)
		was := armedAt(r.Deadline, gen)
		e := db.byHash(seek{kind: seekFields, hash: r.Hash, at: was})
		if r.Drop = !e.Exists(); r.Drop {
			continue
		}
		gen = ks.newGen(gen)
		r.DB = db.tag(gen)
		a := ks.Heap.Armed(e)
		if a[0] == was {
			a[0] = armedAt(r.Deadline, gen)
		} else {
			a[1] = armedAt(r.Deadline, gen)
		}
		ks.Heap.SetArmed(e, a)
	}
}

// resetWheels drops the records after a flush if all are dead: at once, or to be freed in slices.
func (ks *Keyspace) resetWheels(async bool) {
	for _, w := range []*records{&ks.wheel, &ks.fields} {
		if w.live > 0 {
			continue
		}
		if w.Reset(ks.now); !async {
			w.Free()
		}
	}
	ks.dueAt = ks.nextDue()
}
