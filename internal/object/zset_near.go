package object

import (
	"math"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/skiplist"
)

// bounds are the two ends of a range in a skiplist: of scores if score is set, else of members.
type bounds struct {
	l     *zsetLarge
	score *ScoreRange
	lex   *LexRange
}

// low returns the place before the range.
func (b bounds) low() skiplist.Pos {
	switch {
	case b.score == nil && b.lex.Min.Inf == 0:
		return b.l.list.SeekMember(b.lex.Min.Value, b.lex.Min.Ex)
	case b.score != nil && (b.score.Min != math.Inf(-1) || b.score.MinEx):
		return b.l.list.SeekScore(b.score.Min, b.score.MinEx)
	}
	return skiplist.Pos{Next: b.l.list.First()}
}

// high returns the place behind the range.
func (b bounds) high() skiplist.Pos {
	switch {
	case b.score == nil && b.lex.Max.Inf == 0:
		return b.l.list.SeekMember(b.lex.Max.Value, !b.lex.Max.Ex)
	case b.score != nil && (b.score.Max != math.Inf(1) || b.score.MaxEx):
		return b.l.list.SeekScore(b.score.Max, !b.score.MaxEx)
	}
	return skiplist.Pos{Rank: b.l.list.Len(), Prev: b.l.list.Last()}
}

// span returns the part within the bounds.
func (b bounds) span() span { return between(b.low(), b.high()) }

// outside reports whether a walk that comes to the node r has left the range; r may be 0, the end.
func (b bounds) outside(r arena.Ref, reverse bool) bool {
	switch {
	case r == 0:
		return true
	case b.score != nil && reverse:
		return b.score.below(b.l.list.Score(r))
	case b.score != nil:
		return b.score.above(b.l.list.Score(r))
	case reverse:
		return b.lex.below(listpack.Str(b.l.list.Member(r)))
	}
	return b.lex.above(listpack.Str(b.l.list.Member(r)))
}

// nearby is how many members are looked at before the other end of a range is searched for.
const nearby = 32

// near returns span, or as much of it as a walk with that offset and limit needs. Small answers are
// the usual ones. It visits members from one end, which the walk has to do anyway. If the other end
// or the limit comes soon, it spares the search for that end, with its cache miss on each level.
func (b bounds) near(reverse bool, offset, limit int) span {
	want := nearby + 1
	if limit >= 0 && offset >= 0 && limit < nearby && offset < nearby {
		want = min(want, offset+limit)
	}
	var from skiplist.Pos
	at := arena.Ref(0)
	if reverse {
		from = b.high()
		at = from.Prev
	} else {
		from = b.low()
		at = from.Next
	}
	n := 0
	for ; n < want && !b.outside(at, reverse); n++ {
		if reverse {
			at = b.l.list.Prev(at)
		} else {
			at = b.l.list.Next(at)
		}
	}
	switch {
	case n <= nearby && reverse:
		return span{first: from.Rank - n, n: n, high: from.Prev}
	case n <= nearby:
		return span{first: from.Rank, n: n, low: from.Next}
	case reverse:
		return between(b.low(), from)
	}
	return between(from, b.high())
}
