package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// open prepares the source for reading.
func (s *zsetSource) open(c *engine.Ctx) {
	if !s.entry.Exists() {
		return
	}
	// DB.Open would not do: it keeps only eight open at once.
	s.edit.Reset(c.E.KS.Heap, s.entry, c.DB)
	if s.zset() {
		s.n = object.AsZSet(&s.edit).Len()
	} else {
		s.n = object.AsSet(&s.edit).Len()
	}
}

func (s *zsetSource) zset() bool { return s.entry.Type() == object.ZSet }

// same reports whether both are the same key.
func (s *zsetSource) same(o *zsetSource) bool {
	return s.entry.Exists() && o.entry.Exists() && s.entry.Ref == o.entry.Ref
}

// each calls f for the members until f returns false. It goes through a sorted set in order.
func (s *zsetSource) each(f func(m listpack.Value, score float64) bool) {
	switch {
	case s.n == 0:
	case s.zset():
		object.AsZSet(&s.edit).Each(f)
	default:
		object.AsSet(&s.edit).Each(func(m listpack.Value) bool { return f(m, 1) })
	}
}

// score returns the score of a member.
func (s *zsetSource) score(member []byte) (float64, bool) {
	switch {
	case s.n == 0:
		return 0, false
	case s.zset():
		return object.AsZSet(&s.edit).Score(member)
	}
	return 1, object.AsSet(&s.edit).Has(member)
}

// run computes the result of the operation.
func (o *zsetOpCall) run(c *engine.Ctx) *object.ZBuilder {
	h := c.E.KS.Heap
	switch o.op {
	case zsetUnion:
		return o.union(h)
	case zsetInter:
		b := object.NewZBuilder(h, 0)
		o.inter(func(m listpack.Value, score float64) bool {
			b.Add(m, score)
			return true
		})
		return b
	}
	return o.diff(h)
}

// bySize sorts the sources, smallest first. Scores are added up in this order, which decides their
// last digits.
func (o *zsetOpCall) bySize() {
	slices.SortStableFunc(o.sources, func(a, b zsetSource) int { return a.n - b.n })
}

// inter calls emit for the members that all sources have, until emit returns false.
func (o *zsetOpCall) inter(emit func(m listpack.Value, score float64) bool) {
	o.bySize()
	first, others := &o.sources[0], o.sources[1:]
	var buf []byte
	first.each(func(m listpack.Value, own float64) bool {
		score := number(o.weigh(first, own))
		buf = m.Append(buf[:0])
		for i := range others {
			s := &others[i]
			other, ok := own, true
			if !s.same(first) {
				other, ok = s.score(buf)
			}
			if !ok {
				return true
			}
			score = o.agg.of(score, o.weigh(s, other))
		}
		return emit(m, score)
	})
}

// union returns the members of all sources.
func (o *zsetOpCall) union(h *object.Heap) *object.ZBuilder {
	o.bySize()
	n := 0
	for i := range o.sources {
		n += o.sources[i].n
	}
	b := object.NewZBuilder(h, n)
	add := b.Add
	if last := o.sources[len(o.sources)-1]; last.n < n {
		b.Merging(n, o.agg.of)
		add = b.Merge
	}
	for i := range o.sources {
		s := &o.sources[i]
		s.each(func(m listpack.Value, score float64) bool {
			add(m, number(o.weigh(s, score)))
			return true
		})
	}
	return b
}

// diff returns the members of the first source that no other has.
func (o *zsetOpCall) diff(h *object.Heap) *object.ZBuilder {
	b := object.NewZBuilder(h, 0)
	first, others := &o.sources[0], o.sources[1:]
	n := 0
	for i := range others {
		if others[i].same(first) {
			return b
		}
		n += others[i].n
	}
	has := func(member []byte) bool {
		return slices.ContainsFunc(others, func(s zsetSource) bool {
			_, has := s.score(member)
			return has
		})
	}
	if n < first.n/2 {
		has = gathered(h, others, n)
	}
	var buf []byte
	first.each(func(m listpack.Value, score float64) bool {
		buf = m.Append(buf[:0])
		if !has(buf) {
			b.Add(m, score)
		}
		return true
	})
	return b
}

// gathered returns a function that reports whether any of the sources has a member. It builds one
// small table, which is faster than looking in each source. n is the number of members in all of
// them.
func gathered(h *object.Heap, sources []zsetSource, n int) (has func(member []byte) bool) {
	b := object.NewZBuilder(h, n)
	b.Merging(n, aggregateSum.of)
	for i := range sources {
		sources[i].each(func(m listpack.Value, score float64) bool {
			b.Merge(m, score)
			return true
		})
	}
	return b.Has
}

// zsetOpReply runs ZUNION, ZINTER and ZDIFF.
func zsetOpReply(c *engine.Ctx, op zsetOp) {
	o := zsetOpCall{op: op}
	if !o.parse(c, c.Args[1:], takesScores) {
		return
	}
	b := o.run(c)
	b.Sort()
	scoredArray(c, b.Len(), o.withScores)
	for i := range b.Len() {
		m, score := b.At(i)
		scoredMember(c, listpack.Str(m), score, o.withScores)
	}
}

// zsetOpStore runs ZUNIONSTORE, ZINTERSTORE and ZDIFFSTORE. event is the command's name.
func zsetOpStore(c *engine.Ctx, op zsetOp, event string) {
	o := zsetOpCall{op: op}
	if !o.parse(c, c.Args[2:], 0) {
		return
	}
	storeZSet(c, c.Args[1], o.run(c), event)
	if o.agg == aggregateCount {
		propagateZSet(c, c.Args[1])
	}
}

func zintercardCmd(c *engine.Ctx) {
	o := zsetOpCall{op: zsetInter}
	if !o.parse(c, c.Args[1:], takesLimit) {
		return
	}
	n := int64(0)
	o.inter(func(listpack.Value, float64) bool {
		n++
		return n != o.limit
	})
	c.Int(n)
}
