package object

import (
	"encoding/binary"
	"math"
	"slices"

	"godwit/internal/listpack"
)

// ZBuilder is a sorted set in the making: members and scores in the order in which an operation
// found them, sorted once in the end. An insert into a skiplist for each would cost a search with a
// cache miss on every level. It holds copies, so the result may replace one of the sets that it is
// made of.
//
//	items    | score | offset |  one for each member
//	members  | length, u32 LE | bytes |  one after the other; an item's offset is its length's
//	table    | hash, upper 32 bits | index of the item + 1 |
//	         open addressing, linear probes; only where members may come twice
//
// Nothing in it is a pointer, so the collector does not look into it. Members are fewer than
// 2^32-1.
//
// Adding is O(1). Members that are merged wait in a batch, to be looked up in the table together:
// their slots are read first, and none waits for another's cache miss.
type ZBuilder struct {
	h       *Heap
	items   []zitem
	members []byte
	longest int // bytes of the longest member
	table   []uint64
	combine func(have, score float64) float64
	batch   zbatch
}

type zitem struct {
	score float64
	at    uint64
}

// zbatchLen is how many members are looked up together.
const zbatchLen = 32

// zbatch holds members on their way into the table.
type zbatch struct {
	n      int
	hash   [zbatchLen]uint64
	score  [zbatchLen]float64
	end    [zbatchLen]int // where the member ends in bytes
	bytes  []byte
	warmed uint64 // keeps the first reads from being optimised away
}

// NewZBuilder begins a sorted set of about n members.
func NewZBuilder(h *Heap, n int) *ZBuilder {
	return &ZBuilder{h: h, items: make([]zitem, 0, n), members: make([]byte, 0, 16*n)}
}

// Merging prepares for Merge, with up to n calls of it. The builder must be empty.
func (b *ZBuilder) Merging(n int, combine func(have, score float64) float64) {
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	b.table, b.combine = make([]uint64, size), combine
}

// Add adds a member that is not there yet. Of one builder either Add is used or Merge.
func (b *ZBuilder) Add(m listpack.Value, score float64) {
	at := len(b.members)
	b.members = m.Append(append(b.members, 0, 0, 0, 0))
	n := len(b.members) - at - 4
	binary.LittleEndian.PutUint32(b.members[at:], uint32(n))
	b.longest = max(b.longest, n)
	b.items = append(b.items, zitem{score, uint64(at)})
}

// Merge adds a member, or gives it the score combine(what it has, score) if it is there.
func (b *ZBuilder) Merge(m listpack.Value, score float64) {
	w := &b.batch
	if w.n == zbatchLen {
		b.flush()
	}
	at := len(w.bytes)
	w.bytes = m.Append(w.bytes)
	w.hash[w.n], w.score[w.n], w.end[w.n] = b.h.Hash(w.bytes[at:]), score, len(w.bytes)
	w.n++
}

// flush puts the batch into the table.
func (b *ZBuilder) flush() {
	w := &b.batch
	mask := uint64(len(b.table) - 1)
	for _, h := range w.hash[:w.n] {
		w.warmed += b.table[h&mask]
	}
	at := 0
	for i, h := range w.hash[:w.n] {
		m := w.bytes[at:w.end[i]]
		at = w.end[i]
		item, slot := b.find(h, m)
		if item >= 0 {
			it := &b.items[item]
			it.score = b.combine(it.score, w.score[i])
			continue
		}
		b.Add(listpack.Str(m), w.score[i])
		b.table[slot] = h&^math.MaxUint32 | uint64(uint32(len(b.items)))
	}
	w.n, w.bytes = 0, w.bytes[:0]
}

// find looks a member up by its hash: its item, or -1 and the slot of the table where it belongs.
func (b *ZBuilder) find(h uint64, member []byte) (item, slot int) {
	mask := len(b.table) - 1
	for slot = int(h) & mask; ; slot = (slot + 1) & mask {
		w := b.table[slot]
		if w == 0 {
			return -1, slot
		}
		if w>>32 == h>>32 {
			i := int(uint32(w)) - 1
			if string(b.bytesOf(b.items[i])) == string(member) {
				return i, slot
			}
		}
	}
}

// Has reports whether a member was merged.
func (b *ZBuilder) Has(member []byte) bool {
	b.flush()
	item, _ := b.find(b.h.Hash(member), member)
	return item >= 0
}

// Len returns the number of members.
func (b *ZBuilder) Len() int {
	b.flush()
	return len(b.items)
}

// At returns the member with that rank, once sorted, and its score.
func (b *ZBuilder) At(rank int) (member []byte, score float64) {
	it := b.items[rank]
	return b.bytesOf(it), it.score
}

func (b *ZBuilder) bytesOf(it zitem) []byte {
	m := b.members[it.at:]
	n := binary.LittleEndian.Uint32(m)
	return m[4 : 4+n : 4+n]
}

// Reverse turns the order round. Nothing is left to sort then for members that came from the
// highest down.
func (b *ZBuilder) Reverse() { slices.Reverse(b.items) }

// Store sorts the members and makes them the value of x, a sorted set that was just created, in the
// encoding that its size asks for. There must be at least one member.
func (b *ZBuilder) Store(x *Edit) {
	b.Sort()
	if b.h.Lim.zsetPacks(len(b.items), b.longest) && len(b.members) < maxPacked {
		x.SetPacked(EncListpack, b.packed())
		return
	}
	l, _ := b.large(true)
	x.SetLarge(EncSkiplist, l)
}

// maxPacked keeps a listpack far from its own limit of 1 GiB, in bytes.
const maxPacked = 1 << 29

func (b *ZBuilder) packed() []byte {
	s := listpack.NewSlice()
	for _, it := range b.items {
		if n, ok := wholeScore(it.score); ok {
			listpack.InsertPairInt(s, listpack.End(s.B), b.bytesOf(it), n)
			continue
		}
		var scratch [32]byte
		listpack.AppendPair(s, b.bytesOf(it), AppendScore(scratch[:0], it.score))
	}
	return s.B
}

// large builds the large form. Nodes are made in order, so that a walk over the set reads memory in
// order too. The dict's buckets are fetched some members ahead. Unless the members are known to be
// distinct they are looked up. ok is false if two are equal; nothing is left then.
func (b *ZBuilder) large(distinct bool) (l *zsetLarge, ok bool) {
	l = newZSetLarge(b.h)
	l.dict.Expand(len(b.items))
	ap := l.list.Append()
	var hash [zbatchLen]uint64
	for rest := b.items; len(rest) > 0; {
		some := rest[:min(zbatchLen, len(rest))]
		rest = rest[len(some):]
		for i, it := range some {
			hash[i] = b.h.Hash(b.bytesOf(it))
			l.dict.Prefetch(hash[i])
		}
		for i, it := range some {
			m := b.bytesOf(it)
			if !distinct && l.dict.Find(hash[i], m) != 0 {
				freeLarge(l)
				return nil, false
			}
			ap.Add(l.loose(hash[i], it.score, m))
		}
	}
	return l, true
}
