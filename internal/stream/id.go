package stream

import (
	"cmp"
	"encoding/binary"
	"math"
	"strconv"
)

// ID is the ID of an entry: a time in ms and a number within that time.
type ID struct{ Ms, Seq uint64 }

// MaxID is the largest ID; the smallest is the zero value.
var MaxID = ID{math.MaxUint64, math.MaxUint64}

// IDLen is the length of an ID in bytes.
const IDLen = 16

// Compare returns a negative number if a comes before b, 0 if they are equal, else a positive one.
func (a ID) Compare(b ID) int {
	if c := cmp.Compare(a.Ms, b.Ms); c != 0 {
		return c
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// Less reports whether a comes before b.
func (a ID) Less(b ID) bool { return a.Ms < b.Ms || a.Ms == b.Ms && a.Seq < b.Seq }

// IsZero reports whether it is 0-0.
func (a ID) IsZero() bool { return a == ID{} }

// Next returns the ID that follows. ok is false for the largest.
func (a ID) Next() (next ID, ok bool) {
	switch {
	case a.Seq != math.MaxUint64:
		return ID{a.Ms, a.Seq + 1}, true
	case a.Ms != math.MaxUint64:
		return ID{a.Ms + 1, 0}, true
	}
	return a, false
}

// Prev returns the ID before it. ok is false for 0-0.
func (a ID) Prev() (prev ID, ok bool) {
	switch {
	case a.Seq != 0:
		return ID{a.Ms, a.Seq - 1}, true
	case a.Ms != 0:
		return ID{a.Ms - 1, math.MaxUint64}, true
	}
	return a, false
}

// Append appends the text of the ID, "ms-seq".
func (a ID) Append(dst []byte) []byte {
	dst = append(strconv.AppendUint(dst, a.Ms, 10), '-')
	return strconv.AppendUint(dst, a.Seq, 10)
}

// String returns the text of the ID.
func (a ID) String() string { return string(a.Append(nil)) }

// AppendBytes appends the 16 bytes of the ID as files have them: both numbers big endian.
func (a ID) AppendBytes(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, a.Ms), a.Seq)
}

// IDOf reads the 16 bytes that AppendBytes appends.
func IDOf(b []byte) ID {
	return ID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}
