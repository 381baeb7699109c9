package object

import (
	"math"

	"godwit/internal/dict"
	"godwit/internal/listpack"
)

// Hash is the type of hashes.
const Hash Type = 4

func init() {
	describe(Hash, Description{
		Name: "hash",
		Encodings: []EncodingName{
			{EncPairs, "listpack"}, {EncPairsBlock, "listpack"},
			{EncListpackEx, "listpackex"}, {EncListpackExBlock, "listpackex"},
			{EncHashtable, "hashtable"},
		},
		Len:       func(x *Edit) int { return AsHash(x).Len() },
		Outline:   func(x *Edit, o *Outline) { o.Len, o.MinDeadline = AsHash(x).StoredFields() },
		Each:      eachField,
		Digest:    digestFields,
		HashOrder: true,
	})
}

func eachField(x *Edit, visit func(el *Element) bool) {
	AsHash(x).EachStored(func(field, value listpack.Value, deadline int64) bool {
		x.el.Name, x.el.Value, x.el.Deadline = field, value, deadline
		return visit(&x.el)
	})
}

// Fields is the view of a hash: its fields with a value and perhaps a deadline each. There are
// three encodings:
//
//	EncPairs        field, value, field, value …, in the order of their creation (listpack/pairs.go)
//	EncListpackEx   16 bytes (see hash_listpackex.go), then a listpack of field, value, deadline …:
//	                by deadline, those without (0) last
//	EncHashtable    a hashTable
//
// The packed ones are O(fields) in everything, which the limits bound; the table is O(1). A hash
// turns into a table when a field or value is longer than HashMaxListpackValue or there are more
// fields than HashMaxListpackEntries. It never turns back.
//
// A field whose deadline has passed is never visible, though it stays where it is until ExpireDue
// removes it.
type Fields struct{ *Edit }

// AsHash returns the view of x, which must be of type Hash.
func AsHash(x *Edit) Fields { return Fields{x} }

// table returns the large form.
func (h Fields) table() *hashTable { return h.Large().(*hashTable) }

// changing returns the large form, about to be changed.
func (h Fields) changing() *hashTable {
	h.change()
	return h.table()
}

// due reports whether a field with that deadline (0: none) is gone.
func (h Fields) due(deadline int64) bool { return deadline != 0 && deadline < h.H.Now }

// Len returns the number of visible fields. It is O(1) unless fields are due; these are counted.
func (h Fields) Len() int { return h.length(math.MaxInt) }

// QuickLen is Len with a bounded cost: it looks at some thousands of due fields at most and counts
// the rest of them as visible.
func (h Fields) QuickLen() int { return h.length(4096) }

// length returns the number of visible fields. It looks at no more than limit due ones.
func (h Fields) length(limit int) int {
	switch h.Base() {
	case EncPairs:
		return listpack.PairsCount(h.Bytes())
	case EncListpackEx:
		return h.exLen()
	default:
		t := h.table()
		return t.Len() - t.heap.countDue(t.h.A, h.H.Now, limit)
	}
}

// Empty reports whether there are no fields at all, not even due ones. The key must be removed
// then.
func (h Fields) Empty() bool {
	switch h.Base() {
	case EncPairs:
		return listpack.PairsFirst(h.Bytes()) == 0
	case EncListpackEx:
		return listpack.First(h.exBytes()) == 0
	default:
		return h.table().Len() == 0
	}
}

// Get returns the value of the field. It aliases the hash.
func (h Fields) Get(field []byte) (v listpack.Value, ok bool) {
	switch h.Base() {
	case EncPairs:
		b := h.Bytes()
		p := listpack.PairsFind(b, field)
		if p == 0 {
			return v, false
		}
		return listpack.Get(b, listpack.PairsValue(b, p)), true
	case EncListpackEx:
		return h.exGet(field)
	default:
		return h.table().get(field, h.H.Now)
	}
}

// Lookahead returns what prefetches for a command that looks up the first of each step of fields.
// It does nothing unless the hash is large. The hash may be missing.
func (h Fields) Lookahead(fields [][]byte, step int) dict.Lookahead {
	if h.Edit == nil || h.Base() != EncHashtable {
		return dict.Lookahead{}
	}
	return h.table().d.Lookahead(h.H, fields, step)
}

// Has reports whether the field exists.
func (h Fields) Has(field []byte) bool {
	_, ok := h.Get(field)
	return ok
}

// Reserve turns the hash into a table at once if setting all of these (field, value, field, value
// …) is going to make it one: because one is too long, because together they would be more than a
// listpack holds, or because there are more of them than fields are allowed. It does not matter
// that some fields may be named twice or exist.
func (h Fields) Reserve(pairs [][]byte) {
	if h.Base() == EncHashtable {
		return
	}
	if len(pairs)/2 > h.H.Lim.HashMaxListpackEntries {
		h.toTable()
		return
	}
	sum := 0
	for _, b := range pairs {
		if len(b) > h.H.Lim.HashMaxListpackValue {
			h.toTable()
			return
		}
		sum += len(b)
	}
	if !listpack.SafeToAdd(h.Bytes(), sum) {
		h.toTable()
	}
}

// Set gives the field the value and removes its deadline. It reports whether the field is new.
// Neither may alias the hash.
func (h Fields) Set(field, value []byte) (created bool) { return h.set(field, value, false) }

// SetKeep is Set that leaves the deadline.
func (h Fields) SetKeep(field, value []byte) (created bool) { return h.set(field, value, true) }

func (h Fields) set(field, value []byte, keep bool) (created bool) {
	enc := h.Base()
	if limit := h.H.Lim.HashMaxListpackValue; enc != EncHashtable &&
		(len(field) > limit || len(value) > limit) {
		h.toTable()
		enc = EncHashtable
	}
	n := 0
	switch enc {
	case EncHashtable:
		return h.changing().set(field, value, keep, h.H.Now)
	case EncListpackEx:
		created = h.exSet(field, value, keep)
		n = listpack.Count(h.exBytes()) / 3
	default:
		if p := listpack.PairsFind(h.Bytes(), field); p != 0 {
			listpack.PairsReplace(h.Edit, p, value)
		} else {
			listpack.PairsAppend(h.Edit, field, value)
			created = true
		}
		n = listpack.PairsCount(h.Bytes())
	}
	if n > h.H.Lim.HashMaxListpackEntries {
		h.toTable()
	}
	return created
}

// Delete takes the field away and reports whether it was visible.
func (h Fields) Delete(field []byte) bool {
	switch h.Base() {
	case EncPairs:
		p := listpack.PairsFind(h.Bytes(), field)
		if p == 0 {
			return false
		}
		listpack.PairsDelete(h.Edit, p)
		return true
	case EncListpackEx:
		return h.exDelete(field)
	default:
		return h.changing().delete(field, h.H.Now)
	}
}

// Each calls f for every visible field and its value until f returns false. Both alias the hash,
// which f must not change.
func (h Fields) Each(f func(field, value listpack.Value) bool) {
	h.EachStored(func(field, value listpack.Value, deadline int64) bool {
		return h.due(deadline) || f(field, value)
	})
}

// EachDeadline is Each that tells deadlines too, in unix ms, 0 for none.
func (h Fields) EachDeadline(f func(field, value listpack.Value, deadline int64) bool) {
	h.EachStored(func(field, value listpack.Value, deadline int64) bool {
		return h.due(deadline) || f(field, value, deadline)
	})
}

// EachStored is EachDeadline for all fields, due ones included: what a file keeps.
func (h Fields) EachStored(f func(field, value listpack.Value, deadline int64) bool) {
	switch h.Base() {
	case EncPairs:
		b := h.Bytes()
		for p := listpack.PairsFirst(b); p != 0; p = listpack.PairsNext(b, p) {
			if !f(listpack.Get(b, p), listpack.Get(b, listpack.PairsValue(b, p)), 0) {
				return
			}
		}
	case EncListpackEx:
		exEach(h.exBytes(), f)
	default:
		h.table().each(f)
	}
}

// ScanStep makes one step of a walk over an EncHashtable hash. It calls f for the visible fields of
// one bucket index. It returns the next cursor, 0 at the end, and how many fields there were. f
// must not change the hash.
func (h Fields) ScanStep(
	cursor uint64, f func(field, value listpack.Value),
) (next uint64, seen int) {
	return h.table().scan(cursor, h.H.Now, f)
}

// toTable turns a packed hash into a table.
func (h Fields) toTable() {
	t := newHashTable(h.H)
	h.EachStored(func(field, value listpack.Value, deadline int64) bool {
		var fb, vb [20]byte
		t.add(text(field, &fb), text(value, &vb), deadline)
		return true
	})
	if h.Base() == EncListpackEx {
		t.armed = h.exArmed()
	}
	h.SetLarge(EncHashtable, t)
}

// text returns the element's bytes, printed into buf if it is an integer.
func text(v listpack.Value, buf *[20]byte) []byte {
	if v.IsInt {
		return v.Append(buf[:0])
	}
	return v.B
}
