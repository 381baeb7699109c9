package lua

import "errors"

// MeasureAlways makes each growth measure what is in use, which clears all that is not.
func (b *Budget) MeasureAlways() {
	b.room = 0
	b.collect = func(int) { b.room = 0 }
}

// Next returns what the function next returns, with its error.
func (t *Table) Next(k Value) (key, v Value, err error) {
	_, key, v, err = t.NextFrom(-1, k)
	return key, v, err
}

// NextFrom is Thread.Next, with its error.
func (t *Table) NextFrom(hint int, k Value) (at int, key, v Value, err error) {
	m := NewState().Main
	m.Push(NativeValue(&Native{Fn: func(m *Thread) int {
		at, key, v = m.Next(t, hint, k)
		return 0
	}}))
	if e, ok := m.Try(0, 0); !ok {
		err = errors.New(e.Str())
	}
	return at, key, v, err
}
