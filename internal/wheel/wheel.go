// Package wheel is a hierarchical timing wheel for the deadlines of keys: the exact, ordered
// alternative to looking at random keys in the hope that they have expired.
//
// # Why
//
// Expiry needs three things: adding a deadline must cost almost nothing (it is on the SET EX path),
// a deadline must take few bytes (there may be one for every key), and a million deadlines in the
// same millisecond must be worked off in slices. A heap costs O(log n) cache misses to add; a wheel
// costs O(1) and stores plain packed records.
//
// # Shape
//
// Eight levels of 256 slots, one level for each byte of the deadline in milliseconds, so that every
// int64 has a place. cur is the wheel's own time. A record stands at the level of the highest byte
// in which its deadline differs from cur, in the slot of that byte's value:
//
//	cur      00 00 01 98 A2 3C 10 05
//	deadline 00 00 01 98 A2 3F 00 00
//	                        ^^ level 2, slot 3F
//
// Hence, for all records in the wheel, bytes above their level equal cur's, and their slot is
// greater than cur's byte at that level. All of a lower level is due before any of a higher one,
// and the earliest slot is found in the bitmaps. When time reaches a slot of level 0 its records
// are due together. When it reaches a slot of a higher level they are moved to lower ones: each at
// most 7 times in its life, and typically 2.
//
// A slot is a chain of blocks in the arena, filled at the tail and emptied at the head:
//
//	0        8     10    12    13    14 16     24
//	+--------+-----+-----+-----+-----+--+------+--------+--------+----
//	| next   | n   | off | cls | lvl |  | base | record | record | ...    little endian
//	+--------+-----+-----+-----+-----+--+------+--------+--------+----
//	record: hash (6) db (2) deadline (lvl bytes)
//
// off counts the records already taken, n those written, cls picks the size. All deadlines of a
// slot of level lvl agree in their bytes from that level on. These are the block's base; a record
// holds only those below. Blocks of records that were late when they came hold whole deadlines.
//
// A chain's first block has 88 bytes and each next about twice as many, up to 1280. So a lone far
// deadline takes 88 bytes, and one of a full slot 10 bytes within 4.6 hours and 11 within 49 days.
//
// # Slices
//
// Reaching a slot takes its whole chain over in O(1): into the due chain (level 0) or into the
// moving chain (higher levels). Both are worked off against Advance's budget, and both keep what is
// left for the next call. So no call does more than budget steps, whatever falls due at once.
//
// # Dead records
//
// There is no removal of a record: whoever deletes a key or changes its deadline leaves a dead one
// behind. The owner knows how many records it counts on, and so how many are dead. When these are
// too many it calls Sweep, which walks the wheel in slices and has the owner judge each record.
// Finding a record to remove it would take a place in the entry, or a search in its chain; a sweep
// costs some look-ups for each dead record, and no memory.
//
// # Limits and invariants
//
// Not safe for concurrent use: the executor owns it. Check verifies the placement rule, the bitmaps
// and the counts.
//
// Source of the idea: G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP
// 1987), scheme 7.
package wheel

import (
	"math/bits"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

const (
	levels    = 8
	slotBits  = 8
	slots     = 1 << slotBits
	slotMask  = slots - 1
	backStep  = 64 // ms: a clock that goes back less than this is waited for
	bitsWords = slots / 64
)

// Wheel holds records (deadline, key hash, database) until they are due. Use New.
type Wheel struct {
	a   *arena.Arena
	cur uint64 // ordinal(time) that has been reached; see ordinal

	due    chain // reached: to be fired
	moving chain // of a reached higher slot, or of all after a step back: to be placed again
	trash  chain // thrown away by Reset: blocks to be freed

	count int   // records that will still fire
	bytes int64 // arena bytes of all blocks
	sweep sweep // the walk that drops dead records

	level [levels]level
}

// level is one ring; used has a bit for each slot with a non-empty chain.
type level struct {
	used [bitsWords]uint64
	slot [slots]chain
}

// New returns an empty wheel whose time is nowMs (Unix time in milliseconds). The rings themselves
// take 33 KiB of Go memory; blocks come from a as they are needed.
func New(a *arena.Arena, nowMs int64) *Wheel {
	return &Wheel{a: a, cur: ordinal(nowMs)}
}

// ordinal maps times to unsigned numbers in the same order, so that negative times need no special
// case in the byte arithmetic.
func ordinal(ms int64) uint64 { return uint64(ms) ^ 1<<63 }

func instant(ord uint64) int64 { return int64(ord ^ 1<<63) }

// Len returns the number of records that have not fired.
func (w *Wheel) Len() int { return w.count }

// MemoryBytes returns the arena bytes that the records' blocks take.
func (w *Wheel) MemoryBytes() int64 { return w.bytes }

// Add stores a record to be fired once deadlineMs is reached; one that is not in the future fires
// at the next Advance. Of the hash the low HashBits are kept and given back. Records are not
// unique: adding one twice fires it twice. Callable from a fire callback. O(1), no Go allocation.
func (w *Wheel) Add(deadlineMs int64, hash uint64, db uint16) {
	w.count++
	w.place(Expiry{Deadline: deadlineMs, Hash: hash, DB: db})
}

// place puts a counted record where the design comment says.
func (w *Wheel) place(r Expiry) {
	ord := ordinal(r.Deadline)
	if ord <= w.cur {
		w.append(&w.due, r, whole)
		return
	}
	l := (63 - bits.LeadingZeros64(ord^w.cur)) / slotBits
	s := int(ord>>(l*slotBits)) & slotMask
	lv := &w.level[l]
	lv.used[s/64] |= 1 << (s % 64)
	w.append(&lv.slot[s], r, uint8(l))
}

// earliest returns the level and slot that time reaches first, and when.
func (w *Wheel) earliest() (l, s int, at uint64, ok bool) {
	for l = range levels {
		for i, word := range w.level[l].used {
			if word != 0 {
				s = i*64 + bits.TrailingZeros64(word)
				return l, s, w.reachedAt(l, s), true
			}
		}
	}
	return 0, 0, 0, false
}

// reachedAt returns when time reaches a slot that is after it.
func (w *Wheel) reachedAt(l, s int) uint64 {
	shift := l * slotBits
	// The shift count of the top level is 64, which gives 0 in Go: no byte is above it.
	return w.cur>>(shift+slotBits)<<(shift+slotBits) | uint64(s)<<shift
}

// Next returns a lower bound of the time at which Advance next has something to do: the wheel's own
// time when work is left over, the exact deadline when it is less than about a quarter of a second
// away, else the start of the slot. ok is false for an empty wheel.
func (w *Wheel) Next() (ms int64, ok bool) {
	if w.due.head != 0 || w.moving.head != 0 {
		return instant(w.cur), true
	}
	_, _, at, ok := w.earliest()
	if w.sweep.chain.head != 0 && (!ok || w.sweep.at < at) {
		return instant(w.sweep.at), true
	}
	return instant(at), ok
}

// Advance moves the wheel's time towards nowMs and calls fire for records that are due, at most
// budget of them. Moving a record to a lower level or freeing a thrown-away block counts against
// the budget too, so a call may use it up and fire nothing. It reports whether work that could be
// done now is left: call again, then or in the next turn.
//
// Records fire in the order of their deadlines, except those added after their deadline, and while
// records are placed again after a step back. A record is gone before fire sees it; fire may Add.
// No record fires before its deadline as nowMs tells it, unless the clock went back by less than 64
// ms: then the wheel waits for the clock. A larger step back makes it place all of its records
// again, in slices like everything else.
//
// O(budget), no Go allocation.
func (w *Wheel) Advance(nowMs int64, budget int,
	fire func(deadlineMs int64, hash uint64, db uint16)) (more bool) {
	now := ordinal(nowMs)
	if now < w.cur {
		if !w.TurnBack(nowMs) {
			return false
		}
	}
	for {
		for ; w.due.head != 0; budget-- {
			if budget <= 0 {
				return true
			}
			r := w.take(&w.due)
			w.count--
			fire(r.Deadline, r.Hash, r.DB)
		}
		for ; w.moving.head != 0 && w.due.head == 0; budget-- {
			if budget <= 0 {
				return true
			}
			w.place(w.take(&w.moving))
		}
		if w.due.head == 0 && !w.reach(now) {
			break
		}
	}
	for ; w.trash.head != 0; budget-- {
		if budget <= 0 {
			return true
		}
		w.freeHead(&w.trash)
	}
	return false
}

// reach moves time to the earliest slot, if it is not after now, and takes its chain over; else to
// now. It needs empty due and moving chains. It reports whether a slot was reached.
func (w *Wheel) reach(now uint64) bool {
	l, s, at, ok := w.earliest()
	// Only when its turn has come: put back earlier, the sweep would begin with the slot anew.
	if c := &w.sweep; c.chain.head != 0 && c.at <= now && (!ok || c.at <= at) {
		if w.unsweep(); w.due.head != 0 || w.moving.head != 0 {
			return true
		}
		l, s, at, ok = w.earliest()
	}
	if !ok || at > now {
		// No record lies between cur and now, so all keep their level and slot.
		w.cur = max(w.cur, now)
		return false
	}
	w.cur = at
	lv := &w.level[l]
	lv.used[s/64] &^= 1 << (s % 64)
	if l == 0 {
		w.due, lv.slot[s] = lv.slot[s], chain{}
	} else {
		w.moving, lv.slot[s] = lv.slot[s], chain{}
	}
	return true
}

// TurnBack tells the wheel that the clock shows nowMs, which may be before its own time. It is to
// be called when the clock goes back, or records added before the next Advance would count as due.
// A step back of more than 64 ms has every record placed again by Advance or Sweep; TurnBack
// reports whether it was one. O(slots in use).
func (w *Wheel) TurnBack(nowMs int64) bool {
	now := ordinal(nowMs)
	if now >= w.cur || w.cur-now <= backStep {
		return false
	}
	w.gather(&w.moving)
	w.cur = now
	return true
}

// gather moves all records of the rings, of the due chain and of the chain that is swept to the end
// of dst, in O(slots in use). A sweep begins anew.
func (w *Wheel) gather(dst *chain) {
	w.concat(dst, &w.due)
	w.concat(dst, &w.sweep.chain)
	w.sweep.on = false
	for l := range w.level {
		lv := &w.level[l]
		for i, word := range lv.used {
			for ; word != 0; word &= word - 1 {
				w.concat(dst, &lv.slot[i*64+bits.TrailingZeros64(word)])
			}
			lv.used[i] = 0
		}
	}
}

// Reset forgets all records and sets the time. Their memory goes back in later calls of Add and
// Advance, in slices; O(slots in use). Not to be called from a fire callback.
func (w *Wheel) Reset(nowMs int64) {
	w.gather(&w.trash)
	w.concat(&w.trash, &w.moving)
	w.count = 0
	w.cur = ordinal(nowMs)
}

// Free forgets all records and gives all memory back at once. The wheel may be used again.
// O(blocks).
func (w *Wheel) Free() {
	w.Reset(instant(w.cur))
	for w.trash.head != 0 {
		w.freeHead(&w.trash)
	}
	invariant.Check(w.bytes == 0, "wheel: %d bytes left after Free", w.bytes)
}
