package object

import (
	"math"
)

// Deadline returns the deadline of a visible field in unix ms, 0 for none.
func (h Fields) Deadline(field []byte) (deadline int64, ok bool) {
	switch h.Base() {
	case EncPairs:
		return 0, h.Has(field)
	case EncListpackEx:
		lp := h.exBytes()
		p := exFind(lp, field)
		if p == 0 {
			return 0, false
		}
		deadline = exDeadline(lp, p)
	default:
		t := h.table()
		r := t.d.Find(t.h.Hash(field), field)
		if r == 0 {
			return 0, false
		}
		deadline = t.deadline(t.h.A.From(r))
	}
	if h.due(deadline) {
		return 0, false
	}
	return deadline, true
}

// AllowDeadlines gives a plain packed hash room for deadlines. Redis does so before it looks at the
// fields, and OBJECT ENCODING shows it.
func (h Fields) AllowDeadlines() {
	if h.Base() == EncPairs {
		h.toListpackEx()
	}
}

// SetDeadline gives a visible field a deadline in unix ms; 0 removes it. Without the field it does
// nothing. The keyspace must learn of new deadlines (DB.ArmFields).
func (h Fields) SetDeadline(field []byte, deadline int64) {
	switch h.Base() {
	case EncPairs:
		if deadline == 0 || !h.Has(field) {
			return
		}
		h.toListpackEx()
		h.SetDeadline(field, deadline)
	case EncListpackEx:
		if p := exFind(h.exBytes(), field); p != 0 {
			h.exSetDeadline(p, deadline)
		}
	default:
		t := h.changing()
		if r := t.d.Find(t.h.Hash(field), field); r != 0 {
			t.setDeadline(field, r, deadline)
		}
	}
}

// NextDeadline returns the earliest deadline of a field, in unix ms.
func (h Fields) NextDeadline() (deadline int64, ok bool) {
	next := h.H.nextField(h.E)
	return next, next != math.MaxInt64
}

// nextField returns the earliest deadline of a field of the entry, MaxInt64 if there is none.
func (h *Heap) nextField(e Entry) int64 {
	if !e.mayHaveDeadlines() {
		return math.MaxInt64
	}
	if e.Encoding() == EncHashtable {
		if t := h.LargeOf(e).(*hashTable); t.heap.n > 0 {
			return t.heap.at(h.A, 0).deadline
		}
		return math.MaxInt64
	}
	x := Edit{H: h, E: e}
	if lp := AsHash(&x).exBytes(); lp[6] != 0xff {
		if d := exDeadline(lp, 6); d != 0 {
			return d
		}
	}
	return math.MaxInt64
}

// FieldsDue reports whether the entry is a hash with fields whose deadline has passed. For all
// other entries it costs a comparison.
func (h *Heap) FieldsDue(e Entry) bool { return e.mayHaveDeadlines() && h.nextField(e) < h.Now }

// HasFieldDeadlines reports whether the entry is a hash with a field that has a deadline.
func (h *Heap) HasFieldDeadlines(e Entry) bool { return h.nextField(e) != math.MaxInt64 }

// mayHaveDeadlines reports whether the entry is a hash in an encoding that has room for deadlines.
func (e Entry) mayHaveDeadlines() bool { return e.Type() == Hash && e.Encoding() >= EncListpackEx }

// ExpireDue removes about budget fields whose deadline has passed, after emit saw each. It returns
// how many.
func (h Fields) ExpireDue(budget int, emit func(field []byte)) (n int) {
	switch h.Base() {
	case EncPairs:
		return 0
	case EncListpackEx:
		return h.exExpire(emit)
	default:
		return h.changing().expire(h.H.Now, budget, emit)
	}
}

// Armed returns what the keyspace notes with a hash that has deadlines, of the timing-wheel records
// that the hash counts on: the earlier one first, 0 for none.
func (h Fields) Armed() [2]int64 {
	switch h.Base() {
	case EncPairs:
		return [2]int64{}
	case EncListpackEx:
		return h.exArmed()
	default:
		return h.table().armed
	}
}

// SetArmed changes what Armed returns. The hash must have deadlines.
func (h Fields) SetArmed(armed [2]int64) {
	if h.Base() == EncListpackEx {
		h.exSetArmed(armed)
	} else {
		h.table().armed = armed
	}
}

// Armed returns the same for any entry, zero if it is not a hash with room for deadlines.
func (h *Heap) Armed(e Entry) [2]int64 {
	if !e.mayHaveDeadlines() {
		return [2]int64{}
	}
	x := Edit{H: h, E: e}
	return AsHash(&x).Armed()
}

// SetArmed changes what Armed returns, which must not be zero for the entry.
func (h *Heap) SetArmed(e Entry, armed [2]int64) {
	x := Edit{H: h, E: e}
	AsHash(&x).SetArmed(armed)
}
