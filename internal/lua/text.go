package lua

import "strings"

// This file is how functions of Go make and read long strings: what they do is accounted for, and
// no work takes so long that the host is not asked meanwhile whether to go on.

const (
	// LongWork is how many bytes a function of Go handles without asking.
	LongWork = 1 << 20
	// HandledPerStep is how many bytes it handles in the time of a step.
	HandledPerStep = 64
	// scannedPerStep is how many bytes are searched for a byte in the time of a step.
	scannedPerStep = 256
)

// Aside does work on so many bytes, which must not change what the State refers to. If they are
// many, another goroutine does it, and the host is asked meanwhile.
func (t *Thread) Aside(bytes int, work func()) {
	t.s.asideIf(bytes >= LongWork, work)
	t.Spend(bytes / HandledPerStep)
}

// Scan returns what f makes of a string and something else.
func Scan[A, R any](t *Thread, s string, a A, f func(s string, a A) R) R {
	if len(s) >= LongWork {
		return scanLong(t, s, a, f)
	}
	t.Spend(len(s) / scannedPerStep)
	return f(s, a)
}

func scanLong[A, R any](t *Thread, s string, a A, f func(s string, a A) R) (r R) {
	t.Aside(len(s), func() { r = f(s, a) })
	return r
}

func (b *Budget) asideIf(long bool, work func()) {
	if long {
		b.aside(work)
	} else {
		work()
	}
}

// CString cuts a string where C ends it: before its first zero byte.
func CString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// CString returns argument n as a string, cut where C ends it.
func (t *Thread) CString(n int) string {
	s := CString(t.String(n))
	t.s.Left -= len(s) / scannedPerStep
	return s
}

// Make returns a new string of n bytes, which fill makes of a string and a byte.
func (t *Thread) Make(n int, s string, c byte, fill func(b []byte, s string, c byte)) Value {
	t.Grow(n)
	if n < LongWork {
		b := t.s.Room(n)
		fill(b, s, c)
		return Bytes(b)
	}
	var b []byte
	t.Aside(n, func() {
		b = make([]byte, n)
		fill(b, s, c)
	})
	return Bytes(b)
}

// Copy returns a new string with the bytes of s.
func (t *Thread) Copy(s string) Value { return t.Make(len(s), s, 0, copyBytes) }

func copyBytes(b []byte, s string, _ byte) { copy(b, s) }

// Join returns a string made of parts.
func (t *Thread) Join(parts ...string) Value {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	t.Grow(size)
	var s string
	t.Aside(size, func() { s = strings.Join(parts, "") })
	return String(s)
}

// Buffer is a string of unknown length that is being made. Its memory is accounted for.
type Buffer struct {
	B []byte // the bytes so far. Whoever appends some must Reserve their room first
	T *Thread
}

const (
	newBuffer  = 512     // bytes of a new buffer
	keptBuffer = 1 << 20 // of the largest that the next Buffer uses again
)

// Buffer returns an empty buffer. Until it ends, others are new ones.
func (t *Thread) Buffer() Buffer {
	b := Buffer{t.s.text[:0], t}
	t.s.text = nil
	return b
}

// End returns what the buffer has become. The buffer must not be used any more.
func (b *Buffer) End() Value {
	t, size := b.T, cap(b.B)
	if t.Spend(len(b.B) / scannedPerStep); size <= keptBuffer {
		t.s.text = b.B
	} else if len(b.B) >= size-size/8 {
		return Bytes(b.B)
	}
	t.s.Held += size
	defer func() { t.s.Held -= size }()
	if len(b.B) >= LongWork {
		return t.Copy(Bytes(b.B).Str())
	}
	t.Grow(len(b.B))
	return t.s.NewString(b.B)
}

// Add adds a string.
func (b *Buffer) Add(s string) {
	b.Reserve(len(s))
	if len(s) < LongWork {
		b.B = append(b.B, s...)
	} else {
		b.addLong(s)
	}
}

func (b *Buffer) addLong(s string) {
	n := len(b.B)
	b.B = b.B[:n+len(s)]
	room := b.B[n:]
	b.T.Aside(len(s), func() { copy(room, s) })
}

// AddByte adds a byte.
func (b *Buffer) AddByte(c byte) {
	b.Reserve(1)
	b.B = append(b.B, c)
}

// Reserve makes room for n more bytes.
func (b *Buffer) Reserve(n int) {
	if n > cap(b.B)-len(b.B) {
		b.grow(n)
	}
}

func (b *Buffer) grow(n int) {
	need := len(b.B) + n
	if need > MaxString {
		b.T.Error("resulting string too large")
	}
	size := min(max(2*cap(b.B), need, newBuffer), MaxString)
	b.T.s.Held += cap(b.B)
	b.T.Grow(size)
	b.T.s.Held -= cap(b.B)
	b.B = b.T.enlarged(b.B, size)
}

// enlarged returns a copy of b with another capacity.
func (t *Thread) enlarged(b []byte, size int) []byte {
	if size < LongWork {
		return append(make([]byte, 0, size), b...)
	}
	var larger []byte
	t.Aside(size, func() { larger = append(make([]byte, 0, size), b...) })
	return larger
}
