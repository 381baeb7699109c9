package wheel

import "math/bits"

// Record is a record as Sweep and Pick show it.
type Record struct {
	Deadline int64 // ms
	Hash     uint64
	DB       uint16
	Drop     bool // set by Sweep's callback: nobody counts on the record any more
}

// sweepBatch is how many records Sweep shows at once, so that the cache misses of judging them overlap.
const sweepBatch = 16

// sweep is a walk over all slots that drops dead records. It goes from the highest level to the lowest and takes over the chain
// of one slot at a time; what is kept goes back where place puts it. Records move to lower levels only as time goes by, so the
// walk does not miss one, but for those of a slot that time reaches while it is swept.
type sweep struct {
	on    bool
	level int // of the slot to be taken next
	slot  int
	chain chain  // taken over and not yet shown
	from  int    // the slot that chain comes from, level<<slotBits | slot
	at    uint64 // when time reaches that slot
	batch [sweepBatch]Record
}

// Sweep shows about n of the records that wait for their time to judge, in batches, and drops those that it marks; judge may also
// change DB. The calls of a pass together show each record once, also those added meanwhile. It reports whether the pass goes
// on: the call after the last begins a new one. Freeing a thrown-away block counts as a record. judge must not use the wheel.
// Callable from a fire callback.
// O(n), no Go allocation.
func (w *Wheel) Sweep(n int, judge func(batch []Record)) (more bool) {
	for ; w.trash.head != 0; n-- {
		if n <= 0 {
			return true
		}
		w.freeHead(&w.trash)
	}
	s := &w.sweep
	if !s.on {
		s.on, s.level, s.slot = true, levels-1, slots-1
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

// sweepNext takes over the chain of the next slot that has one.
func (w *Wheel) sweepNext() bool {
	s := &w.sweep
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
func (w *Wheel) sweepSome(judge func(batch []Record)) int {
	s := &w.sweep
	n := 0
	for ; n < sweepBatch && s.chain.head != 0; n++ {
		r := w.take(&s.chain)
		s.batch[n] = Record{Deadline: r.deadline, Hash: r.hash, DB: r.db}
	}
	judge(s.batch[:n])
	for _, r := range s.batch[:n] {
		if r.Drop {
			w.count--
		} else {
			w.place(record{r.Deadline, r.Hash, r.DB})
		}
	}
	return n
}

// unsweep puts what is left of the chain that is swept back into its slot.
func (w *Wheel) unsweep() {
	s := &w.sweep
	if s.chain.head == 0 {
		return
	}
	lv, slot := &w.level[s.from>>slotBits], s.from&slotMask
	lv.used[slot/64] |= 1 << (slot % 64)
	w.concat(&lv.slot[slot], &s.chain)
}

// Trash reports whether blocks wait to be freed since Reset.
func (w *Wheel) Trash() bool { return w.trash.head != 0 }
