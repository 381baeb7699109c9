package redislib

import (
	"math"

	"godwit/internal/lua"
)

const (
	// keptBuffer is the size in bytes of the largest buffer that is used again.
	keptBuffer = 1 << 20
	// bytesPerStep is how many bytes are read or written in the time of a step.
	bytesPerStep = 64
)

// writer makes a string in a buffer whose growth is accounted for.
type writer struct {
	t *lua.Thread
	b []byte
}

// reserve makes room for n more bytes.
func (w *writer) reserve(n int) {
	if n > cap(w.b)-len(w.b) {
		w.grow(n)
	}
}

func (w *writer) grow(n int) {
	size := max(len(w.b)+n, min(2*cap(w.b), lua.MaxString), 256)
	w.t.Grow(size)
	b := make([]byte, len(w.b), size)
	copy(b, w.b)
	w.b = b
}

// byte adds a byte.
func (w *writer) byte(c byte) {
	w.reserve(1)
	w.b = append(w.b, c)
}

// text adds a string.
func (w *writer) text(s string) {
	w.reserve(len(s))
	if len(s) >= bytesPerStep {
		w.t.Spend(len(s) / bytesPerStep)
	}
	w.b = append(w.b, s...)
}

// end returns the string. It puts the buffer where the next writer finds it, unless it is large.
func (w *writer) end(buffer *[]byte) lua.Value {
	switch {
	case cap(w.b) <= keptBuffer:
		*buffer = w.b[:0]
	case len(w.b) >= cap(w.b)/2:
		return lua.Bytes(w.b)
	}
	return w.t.NewString(w.b)
}

// countKeys counts the pairs of a table. largest is the largest key if all keys are whole and from
// 1 to limit, else -1. It accounts for looking at all places of the table, which may be empty.
func (w *writer) countKeys(t *lua.Table, limit float64) (pairs, largest int) {
	w.t.Spend(t.Bytes() / bytesPerStep)
	isArray := true
	for at, k, _ := t.NextIndex(0); at != 0; at, k, _ = t.NextIndex(at) {
		pairs++
		f := k.Num()
		if !k.IsNumber() || f < 1 || f > limit || f != math.Floor(f) {
			isArray = false
		} else if f > float64(largest) {
			largest = math.MinInt32 // what the original makes of a key beyond a C int
			if f <= math.MaxInt32 {
				largest = int(f)
			}
		}
	}
	if !isArray {
		largest = -1
	}
	return pairs, largest
}
