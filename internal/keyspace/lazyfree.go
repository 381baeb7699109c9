package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
)

// How memory is freed in slices
//
// Walking a collection of a million elements takes tens of milliseconds, and so does giving back
// hundreds of megabytes. Whatever drops something that large queues it: collections and flushed
// tables here, the mappings of long strings in the arena (arena.Release).
//
//	DEL, UNLINK, FLUSHALL, expiry ──▶ queue ──▶ slices between commands (Engine.Slice)
//	                                    │
//	                                    └─────▶ whoever allocates (pay)
//
// Slices between commands alone would let the queue outgrow memory: a client that overwrites a
// large key again and again is faster than they are. So who takes memory pays. While more waits
// than WaitingBound, each run of blocks and each big block that the arena takes frees twice its
// size first. That holds for single commands, pipelines, transactions, scripts and loading alike,
// because it is the arena that asks (arena.Growing). Commands that only delete do not pay, but for
// the smaller table that a delete may make room for.
//
// Nobody pays more than that: what counts is the work done, not how far Waiting falls. It does not
// fall while the last blocks of a chunk make the whole chunk wait for Release.
//
// The queue knows its bytes. Those of a collection are its Size. Those of a flushed table are the
// database's share of all that keys and values take; what they really were turns out as it drains.

// The sizes from which a collection is freed in slices: bytes, and elements.
const (
	lazyFreeBytes = 64 << 10 // when the caller asked for lazy freeing
	lazyFreeMax   = 4 << 20  // always
	lazyFreeItems = 64
	lazyItemsMax  = 4096
)

const (
	// payStride is how many entries are freed between two looks at what is paid.
	payStride = 64
	// minEntry is the least that an entry of a flushed table is taken to occupy, in bytes.
	minEntry = 32
	// keptIdle is how many bytes of empty chunks are kept for whoever allocates while more is
	// queued.
	keptIdle = 8 << 20
)

// lazyQueue holds what is out of the keyspace but not yet freed.
type lazyQueue struct {
	large  []lazyLarge
	stores []lazyStore
	bytes  int64 // of all of them
	moved  int64 // ever queued as large, bytes: what a draining table hands over
	debt   int64 // bytes that those who took memory have still to free; below 0 if they freed more
	paying bool
}

type lazyLarge struct {
	drainable
	left int64 // bytes not yet freed
}

// drainable is a large collection, a part of one, or what a frozen string has left.
type drainable interface {
	Size() int64
	Drain(n int) (done bool)
}

type lazyStore struct {
	*store
	left int64
}

func (q *lazyQueue) pushLarge(l drainable) {
	n := l.Size()
	q.large = append(q.large, lazyLarge{l, n})
	q.bytes += n
	q.moved += n
}

// queueStore queues the keys that a database has dropped. others is the number of all other keys.
func (ks *Keyspace) queueStore(s *store, others int) {
	q := &ks.lazy
	all := max(ks.A.UsedBy(arena.Keys)+ks.A.UsedBy(arena.Values)-q.bytes, 0)
	share := float64(s.len()) / float64(max(s.len()+others, 1))
	n := max(s.tableBytes()+int64(float64(all)*share), int64(s.len())*minEntry)
	q.stores = append(q.stores, lazyStore{s, n})
	q.bytes += n
}

// LazyFreeSlice frees about n queued entries and reports whether more is queued.
func (ks *Keyspace) LazyFreeSlice(n int) (more bool) {
	q := &ks.lazy
	switch {
	case len(q.large) > 0:
		l := &q.large[len(q.large)-1]
		used := ks.A.Used()
		done := l.Drain(n)
		q.settle(&l.left, used-ks.A.Used(), 0, done)
		if done {
			q.large[len(q.large)-1] = lazyLarge{}
			q.large = q.large[:len(q.large)-1]
			ks.Stats.LazyFreed++
		}
	case len(q.stores) > 0:
		s := &q.stores[0]
		used, moved := ks.A.Used(), q.moved
		done := s.drain(n, ks.freeRef)
		q.settle(&s.left, used-ks.A.Used()+q.moved-moved, int64(s.len())*minEntry, done)
		if done {
			q.stores[0] = lazyStore{}
			q.stores = q.stores[1:]
		}
	}
	return ks.LazyFreeQueued()
}

// settle takes what was freed off an item's bytes. At least floor bytes stay until it is done.
func (q *lazyQueue) settle(left *int64, freed, floor int64, done bool) {
	now := max(*left-freed, floor)
	if done {
		now = 0
	}
	q.bytes += now - *left
	*left = now
}

// LazyFreePending returns the number of objects that wait to be freed.
func (ks *Keyspace) LazyFreePending() int {
	n := len(ks.lazy.large)
	for _, s := range ks.lazy.stores {
		n += s.len()
	}
	return n
}

// LazyFreeBytes returns the bytes of the objects that wait to be freed.
func (ks *Keyspace) LazyFreeBytes() int64 { return ks.lazy.bytes }

// LazyFreeQueued reports whether anything waits to be freed.
func (ks *Keyspace) LazyFreeQueued() bool { return len(ks.lazy.large)+len(ks.lazy.stores) > 0 }

// Waiting returns the bytes that nothing needs and that wait to be freed or given back.
func (ks *Keyspace) Waiting() int64 { return ks.lazy.bytes + ks.A.Waiting() }

// WaitingBound returns how many bytes may wait before whoever allocates has to pay.
func (ks *Keyspace) WaitingBound() int64 { return max(1<<20, ks.A.Used()/100) }

// FreeSlice frees a little of what waits, and reports whether more does.
func (ks *Keyspace) FreeSlice() (more bool) {
	_, more = ks.freeSlice()
	return more
}

// freeSlice is FreeSlice. It also returns what the work amounts to in bytes: blocks that were
// freed, or memory that went back to the system. A big block counts when it goes back, since
// freeing it only queues it for that, or keeps its mapping.
func (ks *Keyspace) freeSlice() (work int64, more bool) {
	a := ks.A
	if a.Dying() || a.Idle() && (!ks.LazyFreeQueued() || a.Waiting() > keptIdle) {
		held := a.Held()
		a.Release()
		work = held - a.Held()
	} else {
		before := a.Used() + a.WaitingBig()
		ks.LazyFreeSlice(payStride)
		work = before - a.Used() - a.WaitingBig()
	}
	return max(work, payStride*minEntry), ks.LazyFreeQueued() || a.Idle()
}

// pay frees twice the n bytes that are about to be taken, as far as more waits than may. What a
// slice frees beyond that is to the credit of the next. The arena calls it in the middle of
// allocations: it touches nothing but what is queued.
func (ks *Keyspace) pay(n int64) {
	q := &ks.lazy
	if q.paying {
		return
	}
	if waiting := ks.Waiting(); waiting <= 1<<20 || waiting <= ks.WaitingBound() {
		q.debt = 0
		return
	}
	q.paying = true
	q.debt += 2 * n
	for more := true; more && q.debt > 0 && ks.Waiting() > ks.WaitingBound(); {
		var work int64
		work, more = ks.freeSlice()
		q.debt -= work
	}
	q.paying = false
}

// GiveBack frees what waits until n bytes went back to the system or nothing waits.
func (ks *Keyspace) GiveBack(n int64) {
	for goal := ks.A.Held() - n; ks.A.Held() > goal && ks.FreeSlice(); {
	}
}

// freeRef frees the entry at r.
func (ks *Keyspace) freeRef(r arena.Ref) {
	ks.freeEntry(object.View(ks.A, r), true)
	ks.Stats.LazyFreed++
}

// freeOwned frees what an entry owned: a large collection in slices, anything else at once. Walking
// many elements takes long enough to be felt whether or not the caller asked for lazy freeing; lazy
// lowers the bar.
func (ks *Keyspace) freeOwned(o object.Owned, lazy bool) {
	if o.Orphan(ks.Heap) {
		return
	}
	if l := o.Large; l != nil {
		n, size := l.Len(), l.Size()
		if n > lazyItemsMax || size > lazyFreeMax ||
			lazy && (n > lazyFreeItems || size > lazyFreeBytes) {
			ks.lazy.pushLarge(l)
			return
		}
	}
	o.Free(ks.Heap)
}

// FreeDropped frees a part of a value that a command has taken out of it, such as a group of a
// stream, in slices if it is large.
func (ks *Keyspace) FreeDropped(d drainable) {
	if d.Size() > lazyFreeBytes {
		ks.lazy.pushLarge(d)
		return
	}
	for !d.Drain(lazyItemsMax) {
	}
}

// Thaw ends the freezing of a string. Many copies of pages are freed in slices.
func (ks *Keyspace) Thaw(f *object.FrozenString) {
	if t := ks.Heap.Thaw(f); t.Len() > lazyFreeItems {
		ks.lazy.pushLarge(t)
	} else {
		t.Drain(t.Len())
	}
}
