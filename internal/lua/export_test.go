package lua

// MeasureAlways makes each growth measure what is in use, which clears all that is not.
func (b *Budget) MeasureAlways() {
	b.room = 0
	b.collect, b.sweep = func(int) { b.room = 0 }, func() {}
}
