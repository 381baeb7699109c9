package object

import (
	"encoding/binary"

	"godwit/internal/listpack"
)

// The packed hash with deadlines:
//
//	0        8        16
//	+--------+--------+----------------------------------------------+
//	| armed  | armed2 | listpack: field, value, deadline, field, …   |
//	+--------+--------+----------------------------------------------+
//
// armed and armed2 are the keyspace's: see Fields.Armed. Deadlines are unix ms. Fields stand in the
// order of their deadlines. Those without one (0) follow the rest in the order in which they lost
// it or came. So the next one due is the first, and due ones go in one cut.
const exHeader = 16

// exSpace is the listpack behind the header.
type exSpace struct{ *Edit }

// Bytes implements listpack.Space.
func (s exSpace) Bytes() []byte { return s.Edit.Bytes()[exHeader:] }

// Splice implements listpack.Space.
func (s exSpace) Splice(at, del, ins int) []byte {
	return s.Edit.Splice(at+exHeader, del, ins)[exHeader:]
}

func (h Fields) exBytes() []byte { return h.Bytes()[exHeader:] }

// exArmed reads the header.
func (h Fields) exArmed() (armed [2]int64) {
	b := h.Bytes()
	armed[0] = int64(binary.LittleEndian.Uint64(b))
	armed[1] = int64(binary.LittleEndian.Uint64(b[8:]))
	return armed
}

func (h Fields) exSetArmed(armed [2]int64) {
	b := h.Bytes()
	binary.LittleEndian.PutUint64(b, uint64(armed[0]))
	binary.LittleEndian.PutUint64(b[8:], uint64(armed[1]))
}

// toListpackEx gives a plain packed hash room for deadlines.
func (h Fields) toListpackEx() {
	s := listpack.NewSlice()
	h.EachStored(func(field, value listpack.Value, _ int64) bool {
		listpack.AppendValue(s, field)
		listpack.AppendValue(s, value)
		listpack.AppendInt(s, 0)
		return true
	})
	h.SetPacked(EncListpackEx, append(make([]byte, exHeader, exHeader+len(s.B)), s.B...))
}

// exDeadline returns the position and the deadline of the triple at p.
func exDeadline(lp []byte, p int) int64 { return listpack.Get(lp, listpack.Skip(lp, p, 2)).N }

func exFind(lp, field []byte) int { return listpack.Find(lp, listpack.First(lp), field, 2) }

func exEach(lp []byte, f func(field, value listpack.Value, deadline int64) bool) {
	for p := listpack.First(lp); p != 0; {
		v := listpack.Next(lp, p)
		d := listpack.Next(lp, v)
		if !f(listpack.Get(lp, p), listpack.Get(lp, v), listpack.Get(lp, d).N) {
			return
		}
		p = listpack.Next(lp, d)
	}
}

// exDue returns how many fields are due; they are the first ones.
func (h Fields) exDue() (n int) {
	exEach(h.exBytes(), func(_, _ listpack.Value, deadline int64) bool {
		if !h.due(deadline) {
			return false
		}
		n++
		return true
	})
	return n
}

func (h Fields) exLen() int { return listpack.Count(h.exBytes())/3 - h.exDue() }

func (h Fields) exGet(field []byte) (v listpack.Value, ok bool) {
	lp := h.exBytes()
	p := exFind(lp, field)
	if p == 0 || h.due(exDeadline(lp, p)) {
		return v, false
	}
	return listpack.Get(lp, listpack.Next(lp, p)), true
}

func (h Fields) exSet(field, value []byte, keep bool) (created bool) {
	s := exSpace(h)
	lp := s.Bytes()
	p := exFind(lp, field)
	if p != 0 {
		d := exDeadline(lp, p)
		created = h.due(d)
		if d == 0 || keep && !created {
			listpack.Replace(s, listpack.Next(lp, p), value)
			return false
		}
		listpack.Delete(s, p, 3)
	}
	listpack.AppendPair(s, field, value)
	listpack.AppendInt(s, 0)
	return created || p == 0
}

func (h Fields) exDelete(field []byte) bool {
	lp := h.exBytes()
	p := exFind(lp, field)
	if p == 0 {
		return false
	}
	due := h.due(exDeadline(lp, p))
	listpack.Delete(exSpace(h), p, 3)
	return !due
}

// exSetDeadline moves the triple at p to where its new deadline belongs.
func (h Fields) exSetDeadline(p int, deadline int64) {
	s := exSpace(h)
	lp := s.Bytes()
	var local [256]byte
	pair := append(local[:0], lp[p:listpack.Skip(lp, p, 2)]...)
	listpack.Delete(s, p, 3)
	lp = s.Bytes()
	at := listpack.End(lp)
	if deadline != 0 {
		for q := listpack.First(lp); q != 0; q = listpack.Skip(lp, q, 3) {
			if d := exDeadline(lp, q); d == 0 || d > deadline {
				at = q
				break
			}
		}
	}
	listpack.InsertInt(s, at, deadline)
	listpack.InsertRaw(s, at, pair, 2)
}

// exExpire takes all due fields away after emit saw them.
func (h Fields) exExpire(emit func(field []byte)) (n int) {
	n = h.exDue()
	if n == 0 {
		return 0
	}
	lp := h.exBytes()
	left := n
	exEach(lp, func(field, _ listpack.Value, _ int64) bool {
		var buf [20]byte
		emit(text(field, &buf))
		left--
		return left > 0
	})
	listpack.Delete(exSpace(h), listpack.First(lp), 3*n)
	return n
}
