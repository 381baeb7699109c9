package rdb

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// Insert puts a value under a key that is not there. It chooses the encodings that Redis would
// choose under the current limits. Neither key nor value is aliased afterwards. A key whose
// deadline has passed is inserted like others and expires. ErrBusy reports that the key exists,
// ErrEmpty that the value has no elements, ErrDuplicate that it is broken; nothing is changed then.
// Keyspace events are the caller's.
func Insert(db *keyspace.DB, key []byte, v *Value, m Meta) error {
	return insert(db, key, v, m, false)
}

// Replace is Insert for a key that may be there. What it holds is deleted once nothing can be wrong
// with the new value any more.
func Replace(db *keyspace.DB, key []byte, v *Value, m Meta) error {
	return insert(db, key, v, m, true)
}

func insert(db *keyspace.DB, key []byte, v *Value, m Meta, replace bool) error {
	if v.Empty() {
		return ErrEmpty
	}
	h := db.Heap()
	access := keyspace.Access{Idle: m.Idle, Freq: m.Freq}
	if ov, ok := v.direct(h); ok {
		if replace {
			db.Delete(key)
		}
		if _, ok := db.Load(key, ov, m.Deadline, access); !ok {
			object.Owned{Block: ov.S}.Free(h)
			return ErrBusy
		}
		return nil
	}
	x, err := v.t.Build(h, v)
	if err != nil {
		return err
	}
	if replace {
		db.Delete(key)
	}
	if _, ok := db.Load(key, x.E.Value(), m.Deadline, access); !ok {
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
