package object

import (
	"godwit/internal/listpack"
	"godwit/internal/quicklist"
)

// What a file or a payload brings is built here: large collections whose number of elements is
// known, from elements that come one after the other. Equal elements mean that the input is
// corrupt. The builders find them on the way, because they look for each element's place anyway.

// Next returns the next element of a collection. It may print an integer into buf.
type Next func(buf []byte) []byte

// Forget frees the entry of a collection of NewDetached whose value was given to another entry.
func (x *Edit) Forget() {
	x.E.FreeBlock(x.H.A)
	x.E = Entry{}
}

// detachLarge makes the large collection the value of an entry without a key.
func detachLarge(h *Heap, t Type, enc Encoding, l Large) *Edit {
	v := Value{Type: t, Enc: enc, H: h.add(l)}
	return &Edit{H: h, E: Build(h.A, nil, &v, Meta{Epoch: h.Epoch}), slot: unplaced{}}
}

// loadBatch is how many elements are looked up together, so that their cache misses overlap.
const loadBatch = 32

// LoadSet builds a hash table of n members. ok is false, and nothing is left, if two are equal.
func LoadSet(h *Heap, n int, next Next) (x *Edit, ok bool) {
	t := newSetTable(h, n)
	var member [loadBatch][]byte
	var hash [loadBatch]uint64
	var digits [loadBatch][24]byte
	for n > 0 {
		k := min(n, loadBatch)
		n -= k
		for i := range k {
			member[i] = next(digits[i][:0])
			hash[i] = h.Hash(member[i])
			t.d.Prefetch(hash[i])
		}
		for i := range k {
			if t.d.Find(hash[i], member[i]) != 0 {
				freeLarge(t)
				return nil, false
			}
			t.insert(hash[i], member[i])
		}
	}
	return detachLarge(h, Set, EncHashtable, t), true
}

func freeLarge(l Large) {
	for !l.Drain(1 << 20) {
	}
}

// LoadHash builds a hash table of n fields. next returns field, value and deadline in unix ms, 0
// for none. ok is false if two fields are equal; nothing is left then.
func LoadHash(
	h *Heap, n int, next func(fbuf, vbuf []byte) (field, value []byte, deadline int64),
) (x *Edit, ok bool) {
	t := newHashTable(h)
	t.d.Expand(n)
	var batch [loadBatch]struct {
		field, value []byte
		deadline     int64
		hash         uint64
		fbuf, vbuf   [24]byte
	}
	for n > 0 {
		some := batch[:min(n, loadBatch)]
		n -= len(some)
		for i := range some {
			f := &some[i]
			f.field, f.value, f.deadline = next(f.fbuf[:0], f.vbuf[:0])
			f.hash = h.Hash(f.field)
			t.d.Prefetch(f.hash)
		}
		for i := range some {
			f := &some[i]
			if t.d.Find(f.hash, f.field) != 0 {
				freeLarge(t)
				return nil, false
			}
			t.add(f.field, f.value, f.deadline)
		}
	}
	return detachLarge(h, Hash, EncHashtable, t), true
}

// Load makes the members a sorted set of the encoding that its size asks for. ok is false if two
// members are equal; nothing is left then.
func (b *ZBuilder) Load() (x *Edit, ok bool) {
	if n := len(b.items); n > 1 && b.compare(b.items[0], b.items[n-1]) > 0 {
		b.Reverse() // files have the highest score first
	}
	b.Sort()
	if b.h.Lim.zsetPacks(len(b.items), b.longest) && len(b.members) < maxPacked {
		if !b.distinct() {
			return nil, false
		}
		return NewDetached(b.h, ZSet, EncListpack, b.packed()), true
	}
	l, ok := b.large(false)
	if !ok {
		return nil, false
	}
	return detachLarge(b.h, ZSet, EncSkiplist, l), true
}

// distinct reports whether all members differ. It is for a small number of members.
func (b *ZBuilder) distinct() bool {
	seen := make(map[string]bool, len(b.items))
	for _, it := range b.items {
		seen[string(b.bytesOf(it))] = true
	}
	return len(seen) == len(b.items)
}

// ListBuilder builds a list from the nodes or elements of another.
type ListBuilder struct {
	h *Heap
	q *quicklist.List
}

// NewListBuilder begins a list under the current limits.
func NewListBuilder(h *Heap) ListBuilder {
	return ListBuilder{h,
		quicklist.New(h.lists, h.Lim.ListMaxListpackSize, h.Lim.ListCompressDepth)}
}

// Node adds a node as it is: a listpack, or one element if plain.
func (b ListBuilder) Node(payload []byte, plain bool) {
	if plain {
		b.q.AppendPlain(payload)
	} else {
		b.q.AppendListpack(payload)
	}
}

// Push adds an element at the end.
func (b ListBuilder) Push(e []byte) { b.q.PushTail(e) }

// List returns the finished list: a listpack if it is one node within the limits, else a quicklist.
// The builder must not be empty.
func (b ListBuilder) List() *Edit {
	if lp := b.q.Single(); lp != nil && b.h.Lim.PacksList(lp) {
		x := NewDetached(b.h, List, EncListpack, lp)
		freeLarge(newQuickList(b.q))
		return x
	}
	return detachLarge(b.h, List, EncQuicklist, newQuickList(b.q))
}

// PacksList reports whether a list that is this listpack is within the limits of one.
func (l *Limits) PacksList(lp []byte) bool {
	return !quicklist.Exceeds(l.ListMaxListpackSize, len(lp), listpack.Count(lp))
}

// IntsetMax returns the longest intset.
func (l *Limits) IntsetMax() int { return l.intset() }

// What a file keeps of collections is read here.

// StoredFields returns the number of fields of a hash, including due ones that are not yet removed.
// earliest is the earliest deadline in unix ms, 0 if no field has one.
func (h Fields) StoredFields() (n int, earliest int64) {
	if next, ok := h.NextDeadline(); ok {
		earliest = next
	}
	switch h.Base() {
	case EncPairs:
		n = listpack.PairsCount(h.Bytes())
	case EncListpackEx:
		n = listpack.Count(h.exBytes()) / 3
	default:
		n = h.table().Len()
	}
	return n, earliest
}

// PackedDeadlines returns the listpack of field, value, deadline … of an EncListpackEx hash, in the
// order that files keep it in.
func (h Fields) PackedDeadlines() []byte { return h.exBytes() }

// PackedDeadlines returns the listpack in a payload that AppendPackedDeadlines made.
func PackedDeadlines(payload []byte) []byte { return payload[exHeader:] }

// AppendPackedDeadlines appends the payload of an EncListpackEx hash to dst. lp is its listpack of
// field, value, deadline …
func AppendPackedDeadlines(dst, lp []byte) []byte {
	return append(append(dst, make([]byte, exHeader)...), lp...)
}

// Descending calls f for every member of a sorted set from the highest score down.
func (z SortedSet) Descending(f func(m listpack.Value, score float64)) {
	for it := z.ByRank(0, -1, true); it.Next(); {
		f(it.Member, it.Score)
	}
}

// PackedScore reads a score of the packed form; ok is false if it is none.
func PackedScore(v listpack.Value) (score float64, ok bool) {
	if v.IsInt {
		return float64(v.N), true
	}
	f, n, _ := scanFloat(v.B)
	return f, n == len(v.B) && n > 0 && f == f
}

// CompareMembers orders members with equal scores by their bytes.
func CompareMembers(a, b listpack.Value) int {
	var buf [20]byte
	return compareValue(a, text(b, &buf))
}
