package wheel

import (
	"math/bits"

	"godwit/internal/arena"
)

// pickBlocks is how far down a chain Pick goes for a record.
const pickBlocks = 16

// Pick returns a record that has not fired, chosen by the random number: of any slot in use, one of
// the first two thousand. It is for finding keys that have a deadline where these are rare, and no
// fair choice. ok is false for an empty wheel. O(1).
func (w *Wheel) Pick(random uint64) (r Expiry, ok bool) {
	waiting := [...]*chain{&w.due, &w.moving, &w.sweep.chain}
	used := 0
	for _, c := range waiting {
		if c.head != 0 {
			used++
		}
	}
	for l := range w.level {
		for _, word := range w.level[l].used {
			used += bits.OnesCount64(word)
		}
	}
	if used == 0 {
		return r, false
	}
	nth, rest := bits.Mul64(random, uint64(used))
	for _, c := range waiting {
		if c.head == 0 {
			continue
		}
		if nth == 0 {
			return w.pickFrom(c, rest), true
		}
		nth--
	}
	return w.pickFrom(w.usedSlot(int(nth)), rest), true
}

// Near visits up to n of the records that time reaches first: those of one block, in no order.
// O(n).
func (w *Wheel) Near(n int, visit func(r Expiry)) {
	c := &w.due
	if c.head == 0 {
		c = &w.moving
	}
	if c.head == 0 {
		l, s, at, ok := w.earliest()
		switch {
		case w.sweep.chain.head != 0 && (!ok || w.sweep.at <= at):
			c = &w.sweep.chain
		case !ok:
			return
		default:
			c = &w.level[l].slot[s]
		}
	}
	h := w.a.Bytes(c.head, headerSize)
	b := w.a.Bytes(c.head, blockSize(h[offClass]))
	taken, filled := blockRange(h)
	for i := taken; i < min(taken+n, filled); i++ {
		visit(decode(b, i))
	}
}

// usedSlot returns the nth chain that is in a slot, which must exist.
func (w *Wheel) usedSlot(nth int) *chain {
	for l := range w.level {
		lv := &w.level[l]
		for i, word := range lv.used {
			n := bits.OnesCount64(word)
			if nth >= n {
				nth -= n
				continue
			}
			for ; nth > 0; nth-- {
				word &= word - 1
			}
			return &lv.slot[i*64+bits.TrailingZeros64(word)]
		}
	}
	panic("wheel: no such slot")
}

// pickFrom returns a record of one of the first blocks of c, which must not be empty.
func (w *Wheel) pickFrom(c *chain, random uint64) Expiry {
	ref := c.head
	for range random % pickBlocks {
		next := arena.Ref(blockNext(w.a.Bytes(ref, headerSize)))
		if next == 0 {
			next = c.head
		}
		ref = next
	}
	h := w.a.Bytes(ref, headerSize)
	taken, filled := blockRange(h)
	i, _ := bits.Mul64(random, uint64(filled-taken))
	return decode(w.a.Bytes(ref, blockSize(h[offClass])), taken+int(i))
}
