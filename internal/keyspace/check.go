package keyspace

import (
	"fmt"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// CheckRecords verifies the wheels and what records.go says of their records, by a walk over all
// entries. O(n) with maps; for tests.
func (ks *Keyspace) CheckRecords() error {
	if err := ks.wheel.Check(); err != nil {
		return err
	}
	if err := ks.fields.Check(); err != nil {
		return fmt.Errorf("fields: %w", err)
	}
	if err := ks.checkCensus(); err != nil {
		return err
	}
	c := recordChecker{ks: ks, keys: map[arena.Ref]bool{}, hashes: map[notedRecord]bool{}}
	c.readWheels()
	expires, armed := 0, 0
	for _, db := range ks.dbs {
		if err := c.checkDB(db); err != nil {
			return fmt.Errorf("database %d: %w", db.id, err)
		}
		expires += db.store.expires
		armed += db.store.armed
	}
	switch {
	case expires != ks.wheel.live || armed != ks.fields.live:
		return fmt.Errorf("%d deadlines and %d records of fields, %d and %d counted",
			expires, armed, ks.wheel.live, ks.fields.live)
	case ks.wheel.Len()+len(ks.parked.keys) < expires ||
		ks.fields.Len()+len(ks.parked.fields) < armed:
		return fmt.Errorf("%d and %d records for %d deadlines and %d noted with hashes",
			ks.wheel.Len(), ks.fields.Len(), expires, armed)
	}
	return nil
}

// checkCensus compares what is counted of all streams with those that there are. What waits to be
// freed, or is being saved, may be counted.
func (ks *Keyspace) checkCensus() error {
	var found stream.Census
	x := &object.Edit{}
	for _, db := range ks.dbs {
		db.store.each(func(r arena.Ref) {
			e := object.View(ks.A, r)
			if e.Type() != object.Stream {
				return
			}
			x.Reset(ks.Heap, e, nil)
			s := x.Stream()
			if s.IDMP() != nil {
				found.IDMP++
			}
			for _, g := range s.Groups() {
				found.Groups++
				found.Nacked += min(g.Nacked(), 1)
			}
		})
	}
	counted := ks.Heap.Streams().Census()
	rest := ks.LazyFreeQueued() || ks.snap != nil || ks.shadow != nil
	if counted != found && !rest || counted.IDMP < found.IDMP ||
		counted.Groups < found.Groups || counted.Nacked < found.Nacked {
		return fmt.Errorf("census of streams: %+v, counted %+v", found, counted)
	}
	return nil
}

// recordChecker finds out which entries have the records that they count on.
type recordChecker struct {
	ks     *Keyspace
	keys   map[arena.Ref]bool   // entries that have one
	hashes map[notedRecord]bool // records that are noted with entries
}

type notedRecord struct {
	ref arena.Ref
	at  int64
}

func (c *recordChecker) readWheels() {
	ks := c.ks
	key := func(at int64, hash uint64, tag uint16) {
		db, gen := ks.untag(tag)
		if e := db.byHash(seek{kind: seekRecord, hash: hash, at: at, gen: gen}); e.Exists() {
			c.keys[e.Ref] = true
		}
	}
	fields := func(at int64, hash uint64, tag uint16) {
		db, gen := ks.untag(tag)
		noted := armedAt(at, gen)
		if e := db.byHash(seek{kind: seekFields, hash: hash, at: noted}); e.Exists() {
			c.hashes[notedRecord{e.Ref, noted}] = true
		}
	}
	ks.wheel.Each(key)
	ks.fields.Each(fields)
	for _, r := range ks.parked.keys {
		key(r.Deadline, r.Hash, r.DB)
	}
	for _, r := range ks.parked.fields {
		fields(r.Deadline, r.Hash, r.DB)
	}
}

func (c *recordChecker) checkDB(db *DB) (err error) {
	expires, armed, timed, ttlSum := 0, 0, 0, int64(0)
	look := func(r arena.Ref) {
		e := object.View(c.ks.A, r)
		if d := e.Deadline(); d != 0 {
			expires++
			ttlSum += d
			if !c.keys[r] {
				err = fmt.Errorf("no record for key %q with deadline %d", e.Key(), d)
			}
		}
		if c.ks.Heap.Armed(e)[0] != 0 {
			timed++
		}
		for _, at := range c.ks.Heap.Armed(e) {
			if at == 0 {
				continue
			}
			armed++
			if !c.hashes[notedRecord{r, at}] {
				err = fmt.Errorf("no record %#x for the fields of %q", at, e.Key())
			}
		}
	}
	db.store.each(look)
	s := db.store
	if err == nil && timed != s.timed {
		err = fmt.Errorf("%d hashes with deadlines of fields, %d counted", timed, s.timed)
	}
	if err == nil && (expires != s.expires || armed != s.armed || ttlSum != s.ttlSum) {
		err = fmt.Errorf("%d deadlines (sum %d) and %d records of fields, %d (%d) and %d counted",
			expires, ttlSum, armed, s.expires, s.ttlSum, s.armed)
	}
	return err
}

// AssertRecords panics if CheckRecords fails, in builds that check invariants and as long as that
// takes little time.
func (ks *Keyspace) AssertRecords() {
	if !invariant.Enabled || ks.wheel.Len()+ks.fields.Len() > 2000 {
		return
	}
	for _, db := range ks.dbs {
		if db.store.len() > 2000 {
			return
		}
	}
	if err := ks.CheckRecords(); err != nil {
		panic("keyspace: " + err.Error())
	}
}
