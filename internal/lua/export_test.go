package lua

// MeasureAlways makes each growth measure what is in use, which clears all that is not.
func (b *Budget) MeasureAlways() {
	b.room = 0
	b.collect, b.sweep = func(int) { b.room = 0 }, func() {}
}

// RoomLeft returns how many bytes may be allocated until the next measure.
func (b *Budget) RoomLeft() int { return b.room }

// Next returns the key that follows k in the traversal and its value: the first one if k is nil.
// After the last it returns nil. A value of the table may be removed while it is traversed. For a
// key that the table does not have it returns an error.
func (t *Table) Next(k Value) (key, v Value, err error) {
	_, key, v, err = t.NextFrom(-1, k)
	return key, v, err
}

// NextFrom is Next with a hint, which makes it faster if it is right: the number that NextFrom
// returned together with key k. Any number will do.
func (t *Table) NextFrom(hint int, k Value) (next int, key, v Value, err error) {
	if !t.at(hint, k) {
		i, ok := t.cursor(k, hashOf(k))
		if !ok {
			return 0, Nil, Nil, errNextKey
		}
		hint = i
	}
	next, key, v = t.NextIndex(hint)
	return next, key, v, nil
}

// Each calls fn for all keys in the order of Next until it returns false. fn may change the values
// of keys that are there.
func (t *Table) Each(fn func(k, v Value) bool) {
	for i := 0; ; {
		next, k, v := t.NextIndex(i)
		if next == 0 || !fn(k, v) {
			return
		}
		i = next
	}
}
