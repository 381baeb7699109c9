package object

import (
	"slices"

	"godwit/internal/arena"
)

// ZBuilder collects members and scores in any order and becomes a sorted set at the end: the result of ZUNIONSTORE and its like, which may
// replace one of the sets that it is made of. It sorts once instead of finding a place for each. Until Store or Free it owns memory of the arena.
type ZBuilder struct {
	l       *zsetLarge
	refs    []arena.Ref
	longest int
}

// NewZBuilder begins a sorted set of about n members.
func NewZBuilder(h *Heap, n int) *ZBuilder {
	b := &ZBuilder{l: newZSetLarge(h), refs: make([]arena.Ref, 0, n)}
	b.l.dict.Expand(n)
	return b
}

// Len is the number of members so far.
func (b *ZBuilder) Len() int { return len(b.refs) }

// Score is the score that a member has so far.
func (b *ZBuilder) Score(member []byte) (float64, bool) { return b.l.score(member) }

// Add adds a member that is not there yet.
func (b *ZBuilder) Add(member []byte, score float64) {
	b.add(b.l.h.Hash(member), member, score)
}

func (b *ZBuilder) add(hash uint64, member []byte, score float64) {
	b.refs = append(b.refs, b.l.loose(hash, score, member))
	b.longest = max(b.longest, len(member))
}

// Merge adds a member, or gives it the score combine(what it has, score) if it is there.
func (b *ZBuilder) Merge(member []byte, score float64, combine func(have, score float64) float64) {
	hash := b.l.h.Hash(member)
	if r := b.l.dict.Find(hash, member); r != 0 {
		b.l.list.SetLoose(r, combine(b.l.list.Score(r), score))
		return
	}
	b.add(hash, member, score)
}

// Iterate sorts and walks over the members, from the highest score down if reverse. Nothing may be added any more.
func (b *ZBuilder) Iterate(reverse bool) ZIter {
	b.link()
	it := ZIter{left: b.l.Len(), reverse: reverse, l: b.l, node: b.l.list.First()}
	if reverse {
		it.node = b.l.list.Last()
	}
	return it
}

// Store makes the members, of which there is at least one, the value of x, a sorted set that was just created, in the encoding that its size
// asks for. The builder is used up.
func (b *ZBuilder) Store(x *Edit) {
	b.link()
	if x.H.Lim.zsetPacks(b.l.Len(), b.longest) {
		x.SetPacked(EncListpack, b.l.packed())
		b.Free()
		return
	}
	x.SetLarge(EncSkiplist, b.l)
	b.l = nil
}

// Free gives the memory back. A builder that was stored has none.
func (b *ZBuilder) Free() {
	if b.l == nil {
		return
	}
	for !b.l.Drain(1 << 20) {
	}
	b.l = nil
}

// link sorts the nodes and puts them into the list.
func (b *ZBuilder) link() {
	if b.l.Len() == len(b.refs) {
		return
	}
	list := b.l.list
	slices.SortFunc(b.refs, list.Compare)
	ap := list.Append()
	for _, r := range b.refs {
		ap.Add(r)
	}
}
