package lua

import "errors"

// MeasureAlways makes each growth measure what is in use, which clears all that is not.
func (b *Budget) MeasureAlways() {
	b.room = 0
	b.Collect = func(int) { b.room = 0 }
}

// RoomLeft returns how many bytes may be allocated until the next measure.
func (b *Budget) RoomLeft() int { return b.room }

// Next returns what the function next returns, with its error.
func (t *Table) Next(k Value) (key, v Value, err error) {
	_, key, v, err = t.NextFrom(-1, k)
	return key, v, err
}

// NextFrom is Thread.Next, with its error.
func (t *Table) NextFrom(hint int, k Value) (at int, key, v Value, err error) {
	m := NewState().Main
	m.Push(NativeValue(&Native{Fn: func(m *Thread) int {
		at, key, v = m.NextFrom(t, hint, k)
		return 0
	}}))
	if e, ok := m.Try(0, 0); !ok {
		err = errors.New(e.Str())
	}
	return at, key, v, err
}

// Each calls fn for all keys in the order of Next until it returns false.
func (t *Table) Each(fn func(k, v Value) bool) {
	for i, k, v := t.NextIndex(0); i != 0 && fn(k, v); i, k, v = t.NextIndex(i) {
	}
}
