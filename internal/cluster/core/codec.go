package core

import (
	"encoding/binary"
	"errors"
)

// errFrame reports bytes that are no frame.
var errFrame = errors.New("malformed frame")

// maxText bounds ids and texts within frames. Bodies (entries, raft's messages) are bounded by the
// frame's own length, which is the transport's to limit.
const maxText = 4096

// writer appends the fields of a frame.
type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)   { w.b = binary.AppendVarint(w.b, v) }

func (w *writer) flag(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) bytes(v []byte) {
	w.uint(uint64(len(v)))
	w.b = append(w.b, v...)
}

func (w *writer) text(v string) {
	if len(v) > maxText {
		v = v[:maxText]
	}
	w.uint(uint64(len(v)))
	w.b = append(w.b, v...)
}

// reader takes the fields of a frame off. After the first error all fields are zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.bad, r.b = true, nil }

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 { // the second: longer than needed
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	u := r.uint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) flag() bool {
	if len(r.b) == 0 || r.b[0] > 1 {
		r.fail()
		return false
	}
	v := r.b[0] == 1
	r.b = r.b[1:]
	return v
}

// bytes returns a part of the frame, without a copy.
func (r *reader) bytes() []byte {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) text() string {
	v := r.bytes()
	if len(v) > maxText {
		r.fail()
		return ""
	}
	return string(v)
}

// done returns errFrame if a field was bad or if bytes are left.
func (r *reader) done() error {
	if r.bad || len(r.b) != 0 {
		return errFrame
	}
	return nil
}
