package wheel

import "math/bits"

// Expiry is a record of the wheel. It says that a key falls due.
type Expiry struct {
	Deadline int64 // ms
	Hash     uint64
	DB       uint16
	Drop     bool // set by Sweep's callback: nobody counts on the record any more
}

// sweepBatch is how many records Sweep shows at once, so that the cache misses of judging them
// overlap.
const sweepBatch = 16

// sweep is a walk over all records that drops dead ones. It begins with the due chain and goes on
// from the highest level of slots to the lowest. It takes over one chain at a time; what is kept
// goes back where place puts it. The moving chain is taken whenever there is one, as its records
// may have a place that the walk has passed. Otherwise records move to lower levels only as time
// goes by, so the walk misses none, but for those that time reaches before their turn: these fire.
type sweep struct {
	on    bool
	level int // of the slot to be taken next; levels stands for the due chain
	slot  int
	chain chain  // taken over and not yet shown
	from  int    // the slot that chain comes from, level<<slotBits | slot; or one of those below
	at    uint64 // when time reaches that slot
	batch [sweepBatch]Expiry
}

// Where else a chain that is swept may come from.
const (
	fromDue = levels<<slotBits + iota
	fromMoving
)

// Sweep shows about n records to judge, in batches, and drops those that it marks; judge may also
// change DB. The calls of a pass together show each record that does not fire meanwhile, also those
// added: once, or again when time has moved it. Sweep reports whether the pass goes on: the call
// after the last begins a new one. Without calls of Advance between them, a pass over k records
// ends after k/n + 1 calls. Freeing a thrown-away block counts as a record. judge must not use the
// wheel. Callable from a fire callback.
// O(n), no Go allocation.
func (w *Wheel) Sweep(n int, judge func(batch []Expiry)) (more bool) {
	for ; w.trash.head != 0; n-- {
		if n <= 0 {
			return true
		}
		w.freeHead(&w.trash)
	}
	s := &w.sweep
	if !s.on {
		s.on, s.level, s.slot = true, levels, slots-1
	}
	for n > 0 {
		if s.chain.head == 0 && !w.sweepNext() {
			s.on = false
			return false
		}
		n -= 1 + w.sweepSome(judge)
	}
	return true
}

// sweepNext takes over the next chain that has records. It reports false at the end of the pass.
func (w *Wheel) sweepNext() bool {
	s := &w.sweep
	if s.level == levels {
		s.level--
		if w.due.head != 0 {
			s.from, s.at = fromDue, w.cur
			s.chain, w.due = w.due, chain{}
			return true
		}
	}
	if w.moving.head != 0 {
		s.from, s.at = fromMoving, w.cur
		s.chain, w.moving = w.moving, chain{}
		return true
	}
	for ; s.level >= 0; s.level, s.slot = s.level-1, slots-1 {
		lv := &w.level[s.level]
		for ; s.slot >= 0; s.slot = s.slot&^63 - 1 {
			word := lv.used[s.slot/64] & (^uint64(0) >> (63 - s.slot%64))
			if word == 0 {
				continue
			}
			s.slot = s.slot&^63 + bits.Len64(word) - 1
			s.from, s.at = s.level<<slotBits|s.slot, w.reachedAt(s.level, s.slot)
			s.chain, lv.slot[s.slot] = lv.slot[s.slot], chain{}
			lv.used[s.slot/64] &^= 1 << (s.slot % 64)
			s.slot--
			return true
		}
	}
	return false
}

// sweepSome shows a batch of the chain that is swept and returns its size.
func (w *Wheel) sweepSome(judge func(batch []Expiry)) int {
	s := &w.sweep
	n := 0
	for ; n < sweepBatch && s.chain.head != 0; n++ {
		s.batch[n] = w.take(&s.chain)
	}
	judge(s.batch[:n])
	for _, r := range s.batch[:n] {
		if r.Drop {
			w.count--
		} else {
			w.place(r)
		}
	}
	return n
}

// unsweep puts what is left of the chain that is swept back where it comes from. The walk comes to
// a slot once more, unless time empties it before: the records that it has not seen are the first.
func (w *Wheel) unsweep() {
	s := &w.sweep
	if s.chain.head == 0 {
		return
	}
	switch s.from {
	case fromDue:
		w.concat(&w.due, &s.chain)
	case fromMoving:
		w.concat(&w.moving, &s.chain)
	default:
		s.level, s.slot = s.from>>slotBits, s.from&slotMask
		lv := &w.level[s.level]
		lv.used[s.slot/64] |= 1 << (s.slot % 64)
		w.concat(&s.chain, &lv.slot[s.slot]) // those that were kept come last
		lv.slot[s.slot], s.chain = s.chain, chain{}
	}
}

// Trash reports whether blocks wait to be freed since Reset.
func (w *Wheel) Trash() bool { return w.trash.head != 0 }
