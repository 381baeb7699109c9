package object

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// Sort puts the members in the order of a sorted set: by score, then by bytes. Nothing may be added
// any more.
func (b *ZBuilder) Sort() {
	b.flush()
	if b.sorted() {
		return
	}
	sortKeyed(b.items, func(it zitem) uint64 { return scoreKey(it.score) }, b.compare)
	if len(b.items) <= fewItems {
		return // compared as a whole
	}
	for i := 0; i < len(b.items); {
		j := i + 1
		for j < len(b.items) && b.items[j].score == b.items[i].score {
			j++
		}
		b.sortTies(b.items[i:j], 0)
		i = j
	}
}

// sorted reports whether the members are in order already. Those of one sorted set with a positive
// weight are.
func (b *ZBuilder) sorted() bool {
	for i := 1; i < len(b.items); i++ {
		prev, it := b.items[i-1], b.items[i]
		if prev.score > it.score ||
			prev.score == it.score && bytes.Compare(b.bytesOf(prev), b.bytesOf(it)) > 0 {
			return false
		}
	}
	return true
}

// sortTies sorts items of one score whose members agree in the first depth bytes, eight more bytes
// at a time.
func (b *ZBuilder) sortTies(items []zitem, depth int) {
	if len(items) < 2 {
		return
	}
	depth = b.common(items, depth)
	key := func(it zitem) uint64 { return prefixKey(b.bytesOf(it), depth) }
	sortKeyed(items, key, b.compare)
	if len(items) <= fewItems {
		return // compared as a whole
	}
	for i := 0; i < len(items); {
		j, k := i+1, key(items[i])
		for j < len(items) && key(items[j]) == k {
			j++
		}
		if tie := items[i:j]; b.ending(tie, depth+8) {
			slices.SortFunc(tie, b.compare) // a NUL byte and the end of a member have the same key
		} else {
			b.sortTies(tie, depth+8)
		}
		i = j
	}
}

// common returns how many bytes all members of the items have in common. At least depth are
// known to be.
func (b *ZBuilder) common(items []zitem, depth int) int {
	first := b.bytesOf(items[0])
	n := len(first)
	for _, it := range items[1:] {
		m := b.bytesOf(it)
		n = min(n, len(m))
		for i := depth; i < n; i++ {
			if m[i] != first[i] {
				n = i
			}
		}
	}
	return n
}

// ending reports whether a member of the items ends within the first depth bytes.
func (b *ZBuilder) ending(items []zitem, depth int) bool {
	return slices.ContainsFunc(items, func(it zitem) bool { return len(b.bytesOf(it)) < depth })
}

// compare orders items as a sorted set does.
func (b *ZBuilder) compare(x, y zitem) int {
	switch {
	case x.score < y.score:
		return -1
	case x.score > y.score:
		return 1
	}
	return bytes.Compare(b.bytesOf(x), b.bytesOf(y))
}

// scoreKey orders scores as unsigned integers. The bits of a negative one are turned round, a
// positive one gets the sign bit. -0 is 0.
func scoreKey(f float64) uint64 {
	bits := math.Float64bits(f)
	switch {
	case f == 0:
		return 1 << 63
	case f < 0:
		return ^bits
	}
	return bits | 1<<63
}

// prefixKey orders members by up to eight bytes from depth on; bytes behind the end count as NUL.
func prefixKey(m []byte, depth int) uint64 {
	m = m[min(depth, len(m)):]
	if len(m) >= 8 {
		return binary.BigEndian.Uint64(m)
	}
	var k uint64
	for i, ch := range m {
		k |= uint64(ch) << (56 - 8*i)
	}
	return k
}

// fewItems are sorted by comparing; more by radix.
const fewItems = 256

// sortKeyed sorts items by a key. It sorts few items by compare, which refines the order of the
// keys.
//
// It is a radix sort from the lowest byte up. It is linear, and each pass reads one array in order
// and writes to 256 places of another. A byte that is the same in all keys costs nothing: with a
// million whole scores, four of eight passes are left.
func sortKeyed(items []zitem, key func(zitem) uint64, compare func(a, b zitem) int) {
	if len(items) <= fewItems {
		slices.SortFunc(items, compare)
		return
	}
	type keyed struct {
		key  uint64
		item zitem
	}
	var counts [8][256]uint32
	from, to := make([]keyed, len(items)), make([]keyed, len(items))
	for i, it := range items {
		k := key(it)
		from[i] = keyed{k, it}
		for d := range counts {
			counts[d][byte(k>>(8*d))]++
		}
	}
	for d := range counts {
		n := &counts[d]
		if n[byte(from[0].key>>(8*d))] == uint32(len(items)) {
			continue
		}
		sum := uint32(0)
		for digit := range n {
			n[digit], sum = sum, sum+n[digit]
		}
		for _, k := range from {
			digit := byte(k.key >> (8 * d))
			to[n[digit]] = k
			n[digit]++
		}
		from, to = to, from
	}
	for i, k := range from {
		items[i] = k.item
	}
}
