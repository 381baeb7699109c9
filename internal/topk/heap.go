package topk

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"godwit/internal/invariant"
)

// Item is one item of the list.
type Item struct {
	Name  []byte // valid until the list changes
	Count uint32
}

// Has reports whether the item is in the list.
func (l *List) Has(item []byte) bool {
	_, ok := l.find(item, fingerprint(item))
	return ok
}

// Count returns the estimate of how often the item was added, or 0 if nothing is known of it.
func (l *List) Count(item []byte) (best uint32) {
	fp := fingerprint(item)
	least := l.entry(0).count()
	_, listed := l.find(item, fp)
	for row := range l.Depth {
		b := l.mem.Block(0)[l.bucket(item, row):]
		if count := binary.LittleEndian.Uint32(b[4:]); binary.LittleEndian.Uint32(b) == fp &&
			(!listed || count >= least) {
			best = max(best, count)
		}
	}
	return best
}

// List returns the items in the list, the most frequent first. Equally frequent ones are in the
// order of the heap.
func (l *List) List() []Item {
	items := make([]Item, 0, l.items)
	for i := range l.K {
		if e := l.entry(i); e.where() != 0 {
			items = append(items, Item{l.item(e), e.count()})
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		switch {
		case a.Count > b.Count:
			return -1
		case a.Count < b.Count:
			return 1
		}
		return 0
	})
	return items
}

// sink moves entry i down until no entry below it has a smaller count. Among equal counts only the
// first step goes down, so that the order is RedisBloom's.
func (l *List) sink(i uint32) {
	child, ok := l.child(i)
	if !ok || l.entry(child).count() > l.entry(i).count() {
		return
	}
	var top [EntrySize]byte
	copy(top[:], l.entry(i))
	count := entry(top[:]).count()
	for {
		l.move(i, l.entry(child))
		i = child
		if child, ok = l.child(i); !ok || l.entry(child).count() >= count {
			l.move(i, top[:])
			return
		}
	}
}

// rise moves entry i up until no entry above it has a larger count.
func (l *List) rise(i uint32) {
	var low [EntrySize]byte
	copy(low[:], l.entry(i))
	count := entry(low[:]).count()
	for i > 0 {
		parent := (i - 1) / 2
		if l.entry(parent).count() <= count {
			break
		}
		l.move(i, l.entry(parent))
		i = parent
	}
	l.move(i, low[:])
}

// child returns the entry below i that has the smaller count.
func (l *List) child(i uint32) (uint32, bool) {
	c := 2*uint64(i) + 1
	if c >= uint64(l.K) {
		return 0, false
	}
	if c+1 < uint64(l.K) && l.entry(uint32(c)).count() > l.entry(uint32(c+1)).count() {
		c++
	}
	return uint32(c), true
}

// move copies e to entry i.
func (l *List) move(i uint32, e entry) {
	copy(l.entry(i), e)
	if e.where() != 0 {
		l.setSlot(e.slot(), i+1)
	}
}

// put gives a free entry to the item.
func (l *List) put(i uint32, item []byte, fp, count uint32) {
	where := l.store(item)
	l.entry(i).set(fp, uint32(len(item)), where+1, count, 0)
	l.link(i, fp)
	l.items++
}

// unlink removes the item of an entry from the index and from the live bytes. The entry is free
// then.
func (l *List) unlink(i uint32) {
	e := l.entry(i)
	l.live -= uint64(e.length())
	l.items--
	l.dropSlot(e.slot())
	l.entry(i).set(0, 0, 0, 0, 0)
}

// store writes the bytes of an item and returns where.
func (l *List) store(item []byte) uint64 {
	need := uint64(len(item))
	if l.used+need > uint64(len(l.bytes())) {
		l.gather(need)
	}
	at := l.used
	copy(l.bytes()[at:], item)
	l.used += need
	l.live += need
	return at
}

// gather moves the live items together and makes room for as much again and need bytes more.
func (l *List) gather(need uint64) {
	all := make([]byte, 0, l.live)
	for i := range l.K {
		e := l.entry(i)
		if e.where() == 0 {
			continue
		}
		at := uint64(len(all))
		all = append(all, l.item(e)...)
		binary.LittleEndian.PutUint64(l.entry(i)[8:], at+1)
	}
	invariant.Check(uint64(len(all)) == l.live, "topk: %d bytes of items are live, not %d",
		len(all), l.live)
	if size := uint64(len(l.bytes())); 2*l.live+need > size || 8*(l.live+need) < size {
		l.mem.ResizeHead(l.bytesAt() + int(max(2*l.live+2*need, firstBytes)))
	}
	copy(l.bytes(), all)
	l.used = l.live
}

// find returns the entry of the item.
func (l *List) find(item []byte, fp uint32) (uint32, bool) {
	mask := l.mask()
	for s := home(fp, mask); ; s = (s + 1) & mask {
		n := l.slot(s)
		if n == 0 {
			return 0, false
		}
		if e := l.entry(n - 1); e.fp() == fp && int(e.length()) == len(item) &&
			bytes.Equal(l.item(e), item) {
			return n - 1, true
		}
	}
}

// home returns the slot where the search for a fingerprint begins.
func home(fp, mask uint32) uint32 { return fp * 0x9e3779b1 >> (32 - bits.Len32(mask)) & mask }

// mask returns the number of slots less 1.
func (l *List) mask() uint32 { return uint32(slotBytes(l.K)/4 - 1) }

func (l *List) slot(s uint32) uint32 {
	return binary.LittleEndian.Uint32(l.mem.Head()[l.slotsAt()+4*int(s):])
}

func (l *List) setSlot(s, v uint32) {
	binary.LittleEndian.PutUint32(l.mem.Head()[l.slotsAt()+4*int(s):], v)
}

// link gives entry i a slot.
func (l *List) link(i, fp uint32) {
	mask := l.mask()
	s := home(fp, mask)
	for l.slot(s) != 0 {
		s = (s + 1) & mask
	}
	l.setSlot(s, i+1)
	binary.LittleEndian.PutUint32(l.entry(i)[20:], s)
}

// dropSlot empties a slot and moves back the entries after it that would not be found otherwise.
func (l *List) dropSlot(s uint32) {
	mask := l.mask()
	for next := (s + 1) & mask; ; next = (next + 1) & mask {
		n := l.slot(next)
		if n == 0 {
			break
		}
		// The entry at next may move to s unless its search begins after s.
		if h := home(l.entry(n-1).fp(), mask); (next-h)&mask < (next-s)&mask {
			continue
		}
		l.setSlot(s, n)
		binary.LittleEndian.PutUint32(l.entry(n - 1)[20:], s)
		s = next
	}
	l.setSlot(s, 0)
}
