package rdb

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

func insert(db *keyspace.DB, key []byte, v *Value, m Meta) error {
	if v.Empty() {
		return ErrEmpty
	}
	h := db.Heap()
	if ov, ok := v.direct(h); ok {
		_, ok := db.Load(key, ov, m.Deadline, keyspace.Access{Idle: m.Idle, Freq: m.Freq})
		if !ok {
			object.Owned{Block: ov.S}.Free(h)
			return ErrBusy
		}
		return nil
	}
	x, err := v.t.Build(h, v)
	if err != nil {
		return err
	}
	if _, ok := db.Load(key, x.E.Value(), m.Deadline,
		keyspace.Access{Idle: m.Idle, Freq: m.Freq}); !ok {
		x.Discard()
		return ErrBusy
	}
	x.Forget()
	return nil
}

// direct returns the value as it goes into an entry, if nothing has to be built: a string, or a
// packed collection within the limits.
func (v *Value) direct(h *object.Heap) (ov object.Value, ok bool) {
	switch v.form {
	case formInt:
		return object.IntValue(v.n), true
	case formString:
		return object.StringValue(v.b), true
	case formPacked:
		if v.t.Fits(h.Lim, v) {
			return object.PackedValue(h.A, v.t.Object, v.enc, v.b), true
		}
	}
	return ov, false
}
