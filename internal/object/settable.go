package object

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/dict"
)

// setTable is the large form of a set: a dict of member blocks.
//
// # Member block
//
//	0       1           then
//	+-------+-----------+--------+
//	| epoch | length    | bytes  |
//	+-------+-----------+--------+
//
//	epoch   the snapshot epoch in which the member was saved or born, see Meta.Epoch
//	length  unsigned varint
//
// A member of 14 bytes takes 16 and 9 to 13 for its place in the dict.
//
// # Invariants
//
// The table owns its blocks. bytes is the sum of their size classes, so that Size is O(1). Members
// come and go only through insert and drop, where a running snapshot looks at what changes.
type setTable struct {
	captured
	h     *Heap
	d     *dict.Dict
	bytes int64
}

const memberHeader = 1 // bytes before the length

// newSetTable makes an empty table with room for n members.
func newSetTable(h *Heap, n int) *setTable {
	t := &setTable{h: h}
	t.d = dict.New(h.A, dict.Funcs{Hash: t.hash, Match: t.match})
	t.d.Expand(n)
	return t
}

// member returns the bytes of the member in block r.
func (t *setTable) member(r arena.Ref) []byte {
	b := t.h.A.From(r)
	if n := int(b[memberHeader]); n < 0x80 {
		return b[memberHeader+1 : memberHeader+1+n : memberHeader+1+n]
	}
	n, w := binary.Uvarint(b[memberHeader:])
	w += memberHeader
	return b[w : w+int(n) : w+int(n)]
}

func (t *setTable) hash(r arena.Ref) uint64 { return t.h.Hash(t.member(r)) }

func (t *setTable) match(r arena.Ref, m []byte) bool { return string(t.member(r)) == string(m) }

func memberSize(n int) int { return memberHeader + uvarintLen(uint64(n)) + n }

// Len implements Large.
func (t *setTable) Len() int { return t.d.Len() }

// Size implements Large.
func (t *setTable) Size() int64 { return t.bytes + t.d.TableBytes() }

// Drain implements Large.
func (t *setTable) Drain(n int) bool { return t.d.Drain(n, t.free) }

// HeaderBytes implements Large.
func (t *setTable) HeaderBytes() int64 { return 192 }

// Clone implements Large.
func (t *setTable) Clone(h *Heap) Large {
	c := newSetTable(h, t.Len())
	t.each(func(_ arena.Ref, m []byte) bool {
		c.insert(h.Hash(m), m)
		return true
	})
	return c
}

// free gives back the block of a member that is not in the dict any more.
func (t *setTable) free(r arena.Ref) {
	n := memberSize(len(t.member(r)))
	t.bytes -= int64(arena.ClassSize(n))
	t.h.A.Free(r, n, arena.Values)
}

// insert adds a member with hash h that is known to be absent.
func (t *setTable) insert(h uint64, m []byte) {
	n := memberSize(len(m))
	r := t.h.A.Alloc(n, arena.Values)
	b := t.h.A.Bytes(r, n)
	b[0] = t.h.Epoch
	w := binary.PutUvarint(b[memberHeader:], uint64(len(m)))
	copy(b[memberHeader+w:], m)
	t.bytes += int64(arena.ClassSize(n))
	t.d.Insert(h, r)
}

// drop removes the member in block r, whose hash is h.
func (t *setTable) drop(h uint64, r arena.Ref) {
	t.keep(r)
	t.d.Delete(h, r)
	t.free(r)
}

func (t *setTable) has(m []byte) bool { return t.d.Find(t.h.Hash(m), m) != 0 }

func (t *setTable) add(m []byte) bool {
	h := t.h.Hash(m)
	if t.d.Find(h, m) != 0 {
		return false
	}
	t.insert(h, m)
	return true
}

func (t *setTable) remove(m []byte) bool {
	h := t.h.Hash(m)
	r := t.d.Find(h, m)
	if r == 0 {
		return false
	}
	t.drop(h, r)
	return true
}

// setBatch is how many members are brought into the cache at once: their misses overlap.
const setBatch = 32

// each calls visit for every member until it returns false. visit may drop the member that it is
// given.
func (t *setTable) each(visit func(r arena.Ref, m []byte) bool) {
	var buf [2 * setBatch]arena.Ref
	t.d.Pause++ // a rehash would bring up members twice
	defer t.d.Unpause()
	for cursor := uint64(0); ; {
		refs := buf[:0]
		for {
			cursor = t.d.Scan(cursor, func(r arena.Ref) { refs = append(refs, r) })
			if cursor == 0 || len(refs) >= setBatch {
				break
			}
		}
		for _, r := range refs {
			t.d.PrefetchRef(r)
		}
		for _, r := range refs {
			if !visit(r, t.member(r)) {
				return
			}
		}
		if cursor == 0 {
			return
		}
	}
}

// random returns a member's block, each with the same probability.
func (t *setTable) random() arena.Ref { return t.d.Uniform(t.h.Rand.Uint64) }

// settle ends a removal of many members. It makes the table as small as they allow. Else every
// random choice would search a nearly empty table.
func (t *setTable) settle() {
	for t.d.RehashSlice(1 << 10) {
	}
}

// begin implements Large.
func (t *setTable) begin(c *Capture) {
	c.visit = func(r arena.Ref) {
		if b := t.h.A.From(r); b[0] != t.h.Epoch {
			t.give(r, b)
		}
	}
}

// step implements Large.
func (t *setTable) step(c *Capture, n int) bool { return c.scan(n, t.d.Scan, t.d.PrefetchRef) }

// keep is called before a member's block is freed.
func (t *setTable) keep(r arena.Ref) {
	if b := t.h.A.From(r); t.older(t.h, b[0]) {
		t.give(r, b)
	}
}

func (t *setTable) give(r arena.Ref, b []byte) {
	t.capture.el.Name.B = t.member(r)
	t.capture.give()
	b[0] = t.h.Epoch
}
