package object

import (
	"math"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/listpack"
)

// ZSet is the type of sorted sets.
const ZSet Type = 3

func init() {
	describe(ZSet, Description{
		Name: "zset",
		Encodings: []EncodingName{
			{EncListpack, "listpack"}, {EncListpackBlock, "listpack"}, {EncSkiplist, "skiplist"},
		},
		Awaited: true,
		Len:     func(x *Edit) int { return AsZSet(x).Len() },
		Outline: func(x *Edit, o *Outline) { o.Len = AsZSet(x).Len() },
		Each:    eachScore,
		Digest:  digestScores,
		Range:   rangeZSet,
	})
}

func eachScore(x *Edit, visit func(el *Element) bool) {
	AsZSet(x).Each(func(m listpack.Value, score float64) bool {
		x.el.Name, x.el.Score = m, score
		return visit(&x.el)
	})
}

func rangeZSet(x *Edit, from, to int, reverse bool, emit func(v listpack.Value)) {
	for it := AsZSet(x).ByRank(from, to-1, reverse); it.Next(); {
		emit(it.Member)
	}
}

// SortedSet is a sorted set that is read or changed: members in the order of their scores, equal
// scores in the order of the members' bytes. Ranks count from 0.
//
// Up to the limits of its encoding it is a listpack of member, score, member, score …. A score is
// an integer there if it is a whole number of up to 62 bits, else its %.17g text (so -0 turns into
// 0, as in Redis). Above the limits it is a skiplist whose nodes a dict finds by member. It never
// goes back by itself.
//
// Members and iterators that methods return are valid until the next change.
type SortedSet struct{ *Edit }

// AsZSet returns the sorted set of an Edit whose value is one.
func AsZSet(x *Edit) SortedSet { return SortedSet{x} }

// ZAddFlags say what Add may do.
type ZAddFlags uint8

// The options of ZADD.
const (
	ZAddIncr ZAddFlags = 1 << iota // the score is added to the one that the member has
	ZAddNX                         // only members that are not there
	ZAddXX                         // only members that are there
	ZAddGT                         // update only to a greater score
	ZAddLT                         // update only to a smaller score
)

// ZAddResult is what Add did.
type ZAddResult uint8

// The results of Add.
const (
	ZAddNone    ZAddResult = iota // the flags forbade it
	ZAddNaN                       // the new score would not be a number; nothing changed
	ZAddAdded                     // a new member
	ZAddUpdated                   // another score
	ZAddSame                      // the member had the score
)

// Len returns the number of members.
func (z SortedSet) Len() int {
	if l, ok := z.large(); ok {
		return l.list.Len()
	}
	return listpack.Count(z.Bytes()) / 2
}

// large returns the sorted set's large form, if it has that form.
func (z SortedSet) large() (*zsetLarge, bool) {
	if z.Base() != EncSkiplist {
		return nil, false
	}
	return z.Large().(*zsetLarge), true
}

// Score returns the score of a member. O(1) when large.
func (z SortedSet) Score(member []byte) (score float64, ok bool) {
	if l, ok := z.large(); ok {
		return l.score(member)
	}
	lp := z.Bytes()
	if pos := zlFind(lp, member); pos != 0 {
		return zlScore(lp, listpack.Next(lp, pos)), true
	}
	return 0, false
}

// Lookahead returns what prefetches for a command that looks up the first of each step of members.
// It does nothing unless the set is large. The set may be missing.
func (z SortedSet) Lookahead(members [][]byte, step int) dict.Lookahead {
	if z.Edit == nil {
		return dict.Lookahead{}
	}
	if l, ok := z.large(); ok {
		return l.dict.Lookahead(z.H, members, step)
	}
	return dict.Lookahead{}
}

// Warm asks for the memory that Score will read for the members, so that it is on its way for all
// of them at once.
func (z SortedSet) Warm(members ...[]byte) {
	l, ok := z.large()
	if !ok {
		return
	}
	for _, m := range members {
		l.dict.Prefetch(z.H.Hash(m))
	}
	for _, m := range members {
		l.dict.PrefetchEntry(z.H.Hash(m))
	}
}

// Add gives the member the score, or adds the score to its own with ZAddIncr, as the flags allow.
// now is the score that the member has then (0 with ZAddNone and ZAddNaN). O(log N) when large.
func (z SortedSet) Add(
	score float64, member []byte, flags ZAddFlags,
) (res ZAddResult, now float64) {
	if math.IsNaN(score) {
		return ZAddNaN, 0
	}
	if l, ok := z.large(); ok {
		z.change()
		return l.add(score, member, flags)
	}
	return z.addPacked(score, member, flags)
}

// Reserve prepares the set for n members, whether or not they are new: if they alone are too many
// for the packed form, the set takes the large one.
func (z SortedSet) Reserve(n int) {
	if n > z.H.Lim.ZSetMaxListpackEntries && z.Base() != EncSkiplist {
		z.grow()
	}
}

// decide returns what becomes of a member with the score old: the score to give it and the result.
func (flags ZAddFlags) decide(old, score float64) (ZAddResult, float64) {
	if flags&ZAddNX != 0 {
		return ZAddNone, 0
	}
	if flags&ZAddIncr != 0 {
		score += old
		if math.IsNaN(score) {
			return ZAddNaN, 0
		}
	}
	switch {
	case flags&ZAddLT != 0 && score >= old, flags&ZAddGT != 0 && score <= old:
		return ZAddNone, 0
	case score == old:
		return ZAddSame, score
	}
	return ZAddUpdated, score
}

// Remove removes the member and reports whether it was there. The caller deletes the key of a set
// that is empty then.
func (z SortedSet) Remove(member []byte) bool {
	if l, ok := z.large(); ok {
		z.change()
		return l.remove(member)
	}
	pos := zlFind(z.Bytes(), member)
	if pos != 0 {
		listpack.Delete(z, pos, 2)
	}
	return pos != 0
}

// Rank returns the number of members before this one, counted from the other end if reverse, and
// its score. O(log N) when large.
func (z SortedSet) Rank(member []byte, reverse bool) (rank int, score float64, ok bool) {
	if l, large := z.large(); large {
		rank, score, ok = l.rank(member)
	} else {
		rank, score, ok = zlRank(z.Bytes(), member)
	}
	if ok && reverse {
		rank = z.Len() - 1 - rank
	}
	return rank, score, ok
}

// span is a part of a sorted set: n members from rank first on. low and high are the nodes of its
// first and last member in the large form, 0 where they are not known.
type span struct {
	first, n  int
	low, high arena.Ref
}

// scoreSpan returns the part with scores in the range.
func (z SortedSet) scoreSpan(r *ScoreRange) span {
	if r.Empty() {
		return span{}
	}
	if l, ok := z.large(); ok {
		return bounds{l: l, score: r}.span()
	}
	return zlScoreSpan(z.Bytes(), r)
}

// lexSpan returns the part with members in the range.
func (z SortedSet) lexSpan(r *LexRange) span {
	if r.Empty() {
		return span{}
	}
	if l, ok := z.large(); ok {
		return bounds{l: l, lex: r}.span()
	}
	return zlLexSpan(z.Bytes(), r)
}

// rankSpan returns the part between two ranks, both included. Negative ones count from the end as
// in ZRANGE.
func (z SortedSet) rankSpan(start, stop int) span {
	n := z.Len()
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return span{}
	}
	return span{first: start, n: stop - start + 1}
}

// CountByScore returns the number of members with scores in the range. O(log N) when large.
func (z SortedSet) CountByScore(r ScoreRange) int { return z.scoreSpan(&r).n }

// CountByLex returns the number of members in the range. O(log N) when large.
func (z SortedSet) CountByLex(r LexRange) int { return z.lexSpan(&r).n }

// ByRank iterates over the members with ranks from start to stop, both included, negative ones
// counting from the end (ZRANGE). With reverse the order is turned round first, so that rank 0 is
// the highest score. O(log N) when large, and O(1) for each member.
func (z SortedSet) ByRank(start, stop int, reverse bool) ZIter {
	s := z.rankSpan(start, stop)
	if reverse {
		s.first = z.Len() - s.first - s.n
	}
	return z.iterate(s, reverse)
}

// ByScore iterates over the members with scores in the range, from the highest down if reverse. It
// skips the first offset of them and yields at most limit (below 0: all). A negative offset counts
// from the end in the large form and leaves none in the packed one, as in Redis.
func (z SortedSet) ByScore(r ScoreRange, reverse bool, offset, limit int) ZIter {
	var s span
	if l, ok := z.large(); ok && !r.Empty() {
		s = bounds{l: l, score: &r}.near(reverse, offset, limit)
		if offset < 0 {
			offset += s.n
		}
	} else {
		s = z.scoreSpan(&r)
	}
	return z.iterate(s.limited(reverse, offset, limit), reverse)
}

// ByLex is ByScore for a range of members.
func (z SortedSet) ByLex(r LexRange, reverse bool, offset, limit int) ZIter {
	var s span
	if l, ok := z.large(); ok && !r.Empty() {
		s = bounds{l: l, lex: &r}.near(reverse, offset, limit)
		if offset < 0 {
			offset += s.n
		}
	} else {
		s = z.lexSpan(&r)
	}
	return z.iterate(s.limited(reverse, offset, limit), reverse)
}

// All iterates over all members, lowest score first.
func (z SortedSet) All() ZIter { return z.ByRank(0, -1, false) }

// limited returns what LIMIT leaves of the part when it is walked in that direction.
func (s span) limited(reverse bool, offset, limit int) span {
	if offset < 0 || offset >= s.n {
		return span{}
	}
	n := s.n - offset
	if limit >= 0 {
		n = min(n, limit)
	}
	if offset > 0 {
		s.low, s.high = 0, 0
	}
	if reverse {
		s.first += s.n - offset - n
		s.low = 0
	} else {
		s.first += offset
		s.high = 0
	}
	s.n = n
	return s
}

// Each calls f for every member, lowest score first, until f reports false.
func (z SortedSet) Each(f func(m listpack.Value, score float64) bool) {
	for it := z.All(); it.Next(); {
		if !f(it.Member, it.Score) {
			return
		}
	}
}

// RemoveByRank removes the members with ranks from start to stop (see ByRank) and returns their
// number. O(log N + removed) when large.
func (z SortedSet) RemoveByRank(start, stop int) int { return z.cut(z.rankSpan(start, stop)) }

// RemoveByScore takes out the members with scores in the range and returns their number.
func (z SortedSet) RemoveByScore(r ScoreRange) int { return z.cut(z.scoreSpan(&r)) }

// RemoveByLex takes out the members in the range and returns their number.
func (z SortedSet) RemoveByLex(r LexRange) int { return z.cut(z.lexSpan(&r)) }

// cut takes a part out.
func (z SortedSet) cut(s span) int {
	if s.n == 0 {
		return 0
	}
	if l, ok := z.large(); ok {
		z.change()
		l.cut(s)
		return s.n
	}
	listpack.Delete(z, listpack.Seek(z.Bytes(), 2*s.first), 2*s.n)
	return s.n
}

// Pop removes up to n members from the low end, or the high end if reverse, after giving them to
// emit in that order. It returns their number. emit must not change anything.
func (z SortedSet) Pop(n int, reverse bool, emit func(m listpack.Value, score float64)) int {
	n = min(n, z.Len())
	s := span{n: n}
	if reverse {
		s.first = z.Len() - n
	}
	for it := z.iterate(s, reverse); it.Next(); {
		emit(it.Member, it.Score)
	}
	return z.cut(s)
}

// Scan calls emit for the members of one step of a walk and returns the cursor of the next, 0 at
// the end: see dict.Scan. A packed set is walked in one step.
func (z SortedSet) Scan(cursor uint64, emit func(m listpack.Value, score float64)) uint64 {
	if l, ok := z.large(); ok {
		return l.scan(cursor, emit)
	}
	for it := z.All(); it.Next(); {
		emit(it.Member, it.Score)
	}
	return 0
}

// Random returns a member chosen at random, each with the same probability. The set must not be
// empty. O(log N) when large, O(N) otherwise.
func (z SortedSet) Random() (m listpack.Value, score float64) {
	it := z.iterate(span{first: z.H.Rand.IntN(z.Len()), n: 1}, false)
	it.Next()
	return it.Member, it.Score
}
