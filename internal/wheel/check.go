package wheel

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"godwit/internal/arena"
)

// Check walks all records and reports the first broken invariant of the design comment. O(n).
func (w *Wheel) Check() error {
	var n int
	var bytes int64
	walk := func(c *chain, visit func(r Expiry) error) error {
		k, b, err := w.checkChain(c, visit)
		n, bytes = n+k, bytes+b
		return err
	}
	for l := range w.level {
		for s := range w.level[l].slot {
			c := &w.level[l].slot[s]
			if used := w.level[l].used[s/64]>>(s%64)&1 != 0; used != (c.head != 0) {
				return fmt.Errorf("wheel: level %d slot %d: bitmap says %v", l, s, used)
			}
			err := walk(c, func(r Expiry) error {
				ord := ordinal(r.Deadline)
				level := (63 - bits.LeadingZeros64(ord^w.cur)) / slotBits
				if ord <= w.cur || level != l || int(ord>>(l*slotBits))&slotMask != s {
					return fmt.Errorf("wheel: deadline %d in level %d slot %d at time %d",
						r.Deadline, l, s, instant(w.cur))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if err := walk(&w.due, func(r Expiry) error {
		if ordinal(r.Deadline) > w.cur {
			return fmt.Errorf("wheel: deadline %d is due at time %d", r.Deadline, instant(w.cur))
		}
		return nil
	}); err != nil {
		return err
	}
	if err := walk(&w.moving, func(Expiry) error { return nil }); err != nil {
		return err
	}
	if err := walk(&w.sweep.chain, func(r Expiry) error {
		ord, slot := ordinal(r.Deadline), w.sweep.from < fromDue
		if slot && (ord < w.sweep.at || w.sweep.at <= w.cur) ||
			w.sweep.from == fromDue && ord > w.cur {
			return fmt.Errorf("wheel: deadline %d in a swept chain of time %d at time %d",
				r.Deadline, instant(w.sweep.at), instant(w.cur))
		}
		return nil
	}); err != nil {
		return err
	}
	if n != w.count {
		return fmt.Errorf("wheel: %d records, counted %d", n, w.count)
	}
	if err := walk(&w.trash, func(Expiry) error { return nil }); err != nil {
		return err
	}
	if bytes != w.bytes {
		return fmt.Errorf("wheel: %d bytes of blocks, counted %d", bytes, w.bytes)
	}
	return nil
}

// Each calls visit for every record that has not fired, in no order. O(n); visit must not use the
// wheel.
func (w *Wheel) Each(visit func(deadlineMs int64, hash uint64, db uint16)) {
	each := func(c *chain) {
		_, _, _ = w.checkChain(c, func(r Expiry) error {
			visit(r.Deadline, r.Hash, r.DB)
			return nil
		})
	}
	each(&w.due)
	each(&w.moving)
	each(&w.sweep.chain)
	for l := range w.level {
		for s := range w.level[l].slot {
			each(&w.level[l].slot[s])
		}
	}
}

// checkChain visits the records of c and returns how many they are and the bytes of its blocks.
func (w *Wheel) checkChain(c *chain, visit func(r Expiry) error) (n int, bytes int64, err error) {
	last := arena.Ref(0)
	for ref := c.head; ref != 0; {
		h := w.a.Bytes(ref, headerSize)
		class, level := h[offClass], h[offLevel]
		taken, filled := blockRange(h)
		if class >= classes || level > whole ||
			taken >= filled || filled > int(capacities[class][level]) {
			return n, bytes, fmt.Errorf("wheel: a block of class %d, level %d: records %d to %d",
				class, level, taken, filled)
		}
		if base := blockBase(h); baseOf(base, level) != base {
			return n, bytes, fmt.Errorf("wheel: block of level %d with base %x", level, base)
		}
		b := w.a.Bytes(ref, blockSize(class))
		for i := taken; i < filled; i++ {
			if err := visit(decode(b, i)); err != nil {
				return n, bytes, err
			}
		}
		n += filled - taken
		bytes += int64(arena.ClassSize(blockSize(class)))
		last, ref = ref, arena.Ref(binary.LittleEndian.Uint64(h[offNext:]))
	}
	if last != c.tail {
		return n, bytes, fmt.Errorf("wheel: a chain ends at %x, its tail is %x", last, c.tail)
	}
	return n, bytes, nil
}
