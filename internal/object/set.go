package object

import (
	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/intset"
	"godwit/internal/listpack"
)

// Set is the type of sets.
const Set Type = 2

func init() {
	describe(Set, Description{
		Name: "set",
		Encodings: []EncodingName{
			{EncIntset, "intset"}, {EncIntsetBlock, "intset"},
			{EncListpack, "listpack"}, {EncListpackBlock, "listpack"},
			{EncHashtable, "hashtable"},
		},
		Len:       func(x *Edit) int { return AsSet(x).Len() },
		Outline:   func(x *Edit, o *Outline) { o.Len = AsSet(x).Len() },
		Each:      eachMember,
		Digest:    digestMembers,
		Range:     rangeSet,
		HashOrder: true,
	})
}

func eachMember(x *Edit, visit func(el *Element) bool) {
	AsSet(x).Each(func(v listpack.Value) bool {
		x.el.Name = v
		return visit(&x.el)
	})
}

func rangeSet(x *Edit, from, to int, _ bool, emit func(v listpack.Value)) {
	if from == to {
		return
	}
	i := 0
	AsSet(x).Each(func(v listpack.Value) bool {
		if i >= from {
			emit(v)
		}
		i++
		return i < to
	})
}

// Members is a set of byte strings, a view of its key's value. Its encodings are
//
//	intset     integers only, up to set-max-intset-entries of them
//	listpack   up to set-max-listpack-entries members, none longer than set-max-listpack-value bytes
//	hashtable  everything else, see setTable
//
// A set only moves down that list as members are added, by the rules of Redis 7.2, so that OBJECT
// ENCODING answers the same after the same commands. A member that spells a canonical integer may
// come back as an integer (listpack.Value); its text is the same.
//
// Values handed out alias the set: they are valid until it changes.
type Members struct{ *Edit }

// AsSet returns the set that x holds.
func AsSet(x *Edit) Members { return Members{x} }

// maxIntset bounds set-max-intset-entries.
const maxIntset = 1 << 30

func (l *Limits) intset() int { return min(l.SetMaxIntsetEntries, maxIntset) }

// NewSetEncoding returns the packed form in which a set is created that n members will be added to,
// beginning with first. Reserve has to follow.
func NewSetEncoding(l *Limits, first []byte, n int) (Encoding, []byte) {
	if _, ok := ParseInt(first); ok && n <= l.intset() {
		return EncIntset, intset.Empty()
	}
	return EncListpack, listpack.Empty()
}

// Reserve prepares the set for n members that a command is about to add. A packed set that could
// not hold as many becomes a hash table at once, whether or not some of them are there already.
func (s Members) Reserve(n int) {
	if s.Base() == EncListpack && n > s.H.Lim.SetMaxListpackEntries ||
		s.Base() == EncIntset && n > s.H.Lim.intset() {
		s.toTable(max(n, s.Len()))
	}
}

func (s Members) table() *setTable { return s.Large().(*setTable) }

// changing returns the large form, about to be changed.
func (s Members) changing() *setTable {
	s.change()
	return s.table()
}

// Len returns the number of members.
func (s Members) Len() int {
	switch s.Base() {
	case EncIntset:
		return intset.Len(s.Bytes())
	case EncListpack:
		return listpack.Count(s.Bytes())
	}
	return s.table().Len()
}

// Has reports whether m is a member.
func (s Members) Has(m []byte) bool {
	switch s.Base() {
	case EncIntset:
		n, ok := ParseInt(m)
		return ok && intset.Has(s.Bytes(), n)
	case EncListpack:
		b := s.Bytes()
		return listpack.Find(b, listpack.First(b), m, 0) != 0
	}
	return s.table().has(m)
}

// Lookahead returns what prefetches for a command that looks up the first of each step of members.
// It does nothing unless the set is large. The set may be missing.
func (s Members) Lookahead(members [][]byte, step int) dict.Lookahead {
	if s.Edit == nil || s.Base() != EncHashtable {
		return dict.Lookahead{}
	}
	return s.table().d.Lookahead(s.H, members, step)
}

// Add makes m a member and reports whether it was none before.
func (s Members) Add(m []byte) bool {
	switch s.Base() {
	case EncIntset:
		if n, ok := ParseInt(m); ok {
			return s.addInt(n)
		}
		if s.widestInt(len(m)) {
			s.toListpack()
			listpack.Append(s.Edit, m)
			return true
		}
		s.toTable(s.Len() + 1)
	case EncListpack:
		b := s.Bytes()
		if listpack.Find(b, listpack.First(b), m, 0) != 0 {
			return false
		}
		if l := s.H.Lim; listpack.Count(b) < l.SetMaxListpackEntries &&
			len(m) <= l.SetMaxListpackValue && listpack.SafeToAdd(b, listpack.EncodedSize(m)) {
			listpack.Append(s.Edit, m)
			return true
		}
		s.toTable(listpack.Count(b) + 1)
	}
	return s.changing().add(m)
}

// AddValue is Add for a member of another set, which must not alias this one.
func (s Members) AddValue(v listpack.Value) bool {
	if !v.IsInt {
		return s.Add(v.B)
	}
	if s.Base() == EncIntset {
		return s.addInt(v.N)
	}
	var tmp [24]byte
	return s.Add(v.Append(tmp[:0]))
}

// addInt adds to an intset, which becomes a hash table when it is too long then.
func (s Members) addInt(n int64) bool {
	if !intset.Add(s.Edit, n) {
		return false
	}
	if c := intset.Len(s.Bytes()); c > s.H.Lim.intset() {
		s.toTable(c)
	}
	return true
}

// widestInt reports whether the integers of the intset and a string of n bytes fit the limits of a
// listpack.
func (s Members) widestInt(n int) bool {
	b, l := s.Bytes(), s.H.Lim
	count, widest := intset.Len(b), 0
	if count > 0 {
		widest = max(intLen(intset.Min(b)), intLen(intset.Max(b)))
	}
	return count < l.SetMaxListpackEntries && max(n, widest) <= l.SetMaxListpackValue &&
		listpack.SafeToAdd(listpack.Empty(), count*widest+n)
}

// toListpack turns an intset into a listpack.
func (s Members) toListpack() {
	lp := listpack.NewSlice()
	b := s.Bytes()
	for i := range intset.Len(b) {
		listpack.AppendInt(lp, intset.At(b, i))
	}
	s.SetPacked(EncListpack, lp.B)
}

// toTable turns a packed set into a hash table with room for n members.
func (s Members) toTable(n int) {
	t := newSetTable(s.H, n)
	var tmp [24]byte
	s.Each(func(v listpack.Value) bool {
		m := v.B
		if v.IsInt {
			m = v.Append(tmp[:0])
		}
		t.insert(s.H.Hash(m), m)
		return true
	})
	s.SetLarge(EncHashtable, t)
}

// ToIntset turns the set into an intset if all its members are integers and few enough.
func (s Members) ToIntset() {
	n := s.Len()
	if s.Base() == EncIntset || n > s.H.Lim.intset() {
		return
	}
	is := listpack.Slice{B: append(make([]byte, 0, 64+8*n), intset.Empty()...)}
	fits := true
	s.Each(func(v listpack.Value) bool {
		if !v.IsInt {
			v.N, fits = ParseInt(v.B)
		}
		if fits {
			intset.Add(&is, v.N)
		}
		return fits
	})
	if fits {
		s.SetPacked(EncIntset, is.B)
	}
}

// Remove removes m and reports whether it was a member. The caller deletes a set that has become
// empty.
func (s Members) Remove(m []byte) bool {
	switch s.Base() {
	case EncIntset:
		n, ok := ParseInt(m)
		return ok && intset.Remove(s.Edit, n)
	case EncListpack:
		b := s.Bytes()
		pos := listpack.Find(b, listpack.First(b), m, 0)
		if pos == 0 {
			return false
		}
		listpack.Delete(s.Edit, pos, 1)
		return true
	}
	return s.changing().remove(m)
}

// RemoveValue is Remove for a member of another set, which must not alias this one.
func (s Members) RemoveValue(v listpack.Value) bool {
	var tmp [24]byte
	if v.IsInt {
		return s.Remove(v.Append(tmp[:0]))
	}
	return s.Remove(v.B)
}

// Each calls visit for every member, until it returns false. The set must not be changed meanwhile.
func (s Members) Each(visit func(v listpack.Value) bool) {
	switch s.Base() {
	case EncIntset:
		b := s.Bytes()
		for i := range intset.Len(b) {
			if !visit(listpack.Int(intset.At(b, i))) {
				return
			}
		}
	case EncListpack:
		b := s.Bytes()
		for pos := listpack.First(b); pos != 0; pos = listpack.Next(b, pos) {
			if !visit(listpack.Get(b, pos)) {
				return
			}
		}
	default:
		s.table().each(func(_ arena.Ref, m []byte) bool { return visit(listpack.Str(m)) })
	}
}

// Scan calls emit for some members of a hash table and returns the next cursor. See dict.Scan for
// what it guarantees. Each walks packed sets.
func (s Members) Scan(cursor uint64, emit func(m []byte)) uint64 {
	t := s.table()
	return t.d.Scan(cursor, func(r arena.Ref) { emit(t.member(r)) })
}
