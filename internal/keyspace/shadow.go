package keyspace

import (
	"math"
	"slices"

	"godwit/internal/invariant"
	"godwit/internal/wheel"
)

// Shadow is a second set of databases that is filled while the first one is served, and then takes
// its place: a replica that gets its master's data set anew (repl-diskless-load swapdb).
//
//	           Keyspace ──→ databases, wheels     what clients see
//	          ↗
//	heap, arena
//	          ↖
//	           Shadow.ks ─→ databases, wheels     what is being loaded
//
// Both are keyspaces over one arena and one heap, with one seed. Deadlines are counted, and their
// records kept, in wheels of their own. So nothing of the first set knows of the second, and Adopt
// exchanges a few pointers for each database, whatever their sizes. What is dropped, the old set or
// the new one, is freed in slices like flushed databases.
//
// Time does nothing in the shadow. No snapshot may run while there is one: what is in it bears
// marks of earlier epochs.
type Shadow struct {
	main, ks *Keyspace
}

// NewShadow makes an empty shadow. There can be one. The caller must Adopt or Drop it.
func (ks *Keyspace) NewShadow() *Shadow {
	ks.endRenewal()
	if ks.snap != nil || ks.shadow != nil {
		panic("keyspace: a shadow during a snapshot, or a second one")
	}
	p := ks.P
	p.Events, p.FieldEvents = 0, false
	sh := &Keyspace{A: ks.A, Heap: ks.Heap, P: p, slots: ks.slots, slotBytes: ks.slotBytes,
		seed: ks.seed, rng: ks.rng, hooks: NoHooks{}, gens: ks.rng.Uint64(), mode: ExpireIgnore,
		past: math.MinInt64}
	sh.begin(ks.now)
	sh.SetClocks(ks.now, ks.steady)
	sh.keepSizes(ks.sizes != nil)
	ks.shadow = &Shadow{main: ks, ks: sh}
	sh.shadow = ks.shadow
	return ks.shadow
}

// Fill runs fn, which loads keys into the keyspace that it is given.
func (s *Shadow) Fill(fn func(ks *Keyspace)) {
	s.ks.KeepTables = s.main.KeepTables
	s.ks.SetClocks(s.main.now, s.main.steady)
	h := s.main.Heap
	was := h.Now
	h.Now = math.MinInt64
	fn(s.ks)
	h.Now = was
}

// Keyspace returns the keyspace that is filled, within Fill.
func (s *Shadow) Keyspace() *Keyspace { return s.ks }

// RehashSlice moves about n buckets of each table of the shadow that is being resized.
func (s *Shadow) RehashSlice(n int) { s.ks.RehashSlice(n) }

// Len returns the number of keys in the shadow.
func (s *Shadow) Len() (n int) {
	for _, db := range s.ks.dbs {
		n += db.store.len()
	}
	return n
}

// Adopt puts the shadow's databases in the place of the keyspace's, which are freed in slices. It
// is O(databases).
func (s *Shadow) Adopt() {
	ks, sh := s.main, s.ks
	invariant.Check(ks.snap == nil, "keyspace: a shadow is adopted during a snapshot")
	ks.settleSizes()
	sh.settleSizes()
	old := make([]*store, len(ks.dbs))
	for i, db := range ks.dbs {
		old[i] = db.store
		old[i].unlist()
		db.content = sh.dbs[i].content
		db.store.ks = ks
		db.evictCursor = 0
	}
	ks.byWheel = slices.Clone(ks.dbs)
	ks.rehash = append(ks.rehash, sh.rehash...)
	ks.pool.n = 0
	for _, p := range []struct{ to, from *records }{{&ks.wheel, &sh.wheel},
		{&ks.fields, &sh.fields}} {
		ks.retire(p.to.Wheel)
		judge := p.to.judge
		*p.to = *p.from
		p.to.judge = judge
	}
	ks.dueAt = ks.nextDue()
	s.end(old)
}

// Drop throws the shadow away. What it holds is freed in slices.
func (s *Shadow) Drop() {
	stores := make([]*store, len(s.ks.dbs))
	for i, db := range s.ks.dbs {
		stores[i] = db.store
		db.store.unlist()
		db.store.ks = s.main
	}
	s.main.retire(s.ks.wheel.Wheel)
	s.main.retire(s.ks.fields.Wheel)
	s.end(stores)
}

// end frees the stores that no database has any more.
func (s *Shadow) end(stores []*store) {
	ks := s.main
	invariant.Check(!s.ks.LazyFreeQueued(), "keyspace: a shadow has freed something")
	ks.shadow, s.ks = nil, nil
	others := ks.keys()
	for _, st := range stores {
		others += st.len()
	}
	for _, st := range stores {
		others -= st.len()
		if st.len() == 0 {
			for !st.drain(1, ks.freeRef) { // its tables
			}
			continue
		}
		ks.queueStore(st, others)
	}
}

// retire frees a wheel that nobody needs any more in slices.
func (ks *Keyspace) retire(w *wheel.Wheel) {
	if w.MemoryBytes() > 0 {
		w.Reset(ks.now)
		ks.lazy.pushLarge(oldWheel{w})
	}
}

// oldWheel is a wheel without records whose blocks are to be freed.
type oldWheel struct{ w *wheel.Wheel }

// Size returns its bytes.
func (o oldWheel) Size() int64 { return o.w.MemoryBytes() }

// Drain frees about n blocks, and reports whether that was all.
func (o oldWheel) Drain(n int) (done bool) {
	o.w.Sweep(n, nil)
	return !o.w.Trash()
}
