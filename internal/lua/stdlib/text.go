package stdlib

import "godwit/internal/lua"

// scratch is what the functions of strings use again and again. There is one for a State.
type scratch struct {
	buffer []byte // for strings of unknown length that are being made
}

// Sizes of buffers: of a new one, and of the largest that is kept.
const (
	newBuffer  = 1 << 10
	keptBuffer = 64 << 10
)

// text is a string that is being made.
type text struct {
	t *lua.Thread
	b []byte
}

// begin returns an empty text. The buffer is gone until the text ends, because a function of Lua
// that is called meanwhile may want one.
func (a *scratch) begin(t *lua.Thread) text {
	x := text{t, a.buffer[:0]}
	a.buffer = nil
	return x
}

// end returns what the text has become, and keeps its buffer.
func (a *scratch) end(x *text) lua.Value {
	n := len(x.b)
	x.t.Spend(n / bytesPerStep / 4)
	if cap(x.b) <= keptBuffer {
		a.buffer = x.b
	} else if n >= cap(x.b)-cap(x.b)/8 {
		return lua.Bytes(x.b)
	}
	if n == 1 {
		return single(x.b[0])
	}
	x.account(n)
	return x.t.State().NewString(x.b)
}

// add adds a string.
func (x *text) add(s string) {
	x.room(len(s))
	x.b = append(x.b, s...)
}

// room makes room for n more bytes.
func (x *text) room(n int) {
	if n > cap(x.b)-len(x.b) {
		x.grow(n)
	}
}

// grow allocates room for n more bytes, after it has accounted for it.
func (x *text) grow(n int) {
	need := len(x.b) + n
	if need > lua.MaxString {
		x.t.Error("resulting string too large")
	}
	size := min(max(2*cap(x.b), need, newBuffer), lua.MaxString)
	x.account(size)
	b := make([]byte, len(x.b), size)
	copy(b, x.b)
	x.b = b
}

// account accounts for memory that is needed besides the text.
func (x *text) account(n int) {
	s := x.t.State()
	s.Held += cap(x.b)
	x.t.Grow(n)
	s.Held -= cap(x.b)
}
