package object

import (
	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/listpack"
	"godwit/internal/skiplist"
)

// zsetLarge is the large form of a sorted set: a skiplist of all members and a dict that finds a
// member's node. The nodes belong to the list.
//
// All changes of a set that is in use go through insert, setScore, remove and cut.
type zsetLarge struct {
	captured
	h    *Heap
	list *skiplist.List
	dict *dict.Dict
}

func newZSetLarge(h *Heap) *zsetLarge {
	l := &zsetLarge{h: h, list: skiplist.New(h.A, h.Rand)}
	l.dict = dict.New(h.A, dict.Funcs{
		Hash: func(r arena.Ref) uint64 { return h.Hash(l.list.Member(r)) },
		Match: func(r arena.Ref, member []byte) bool {
			return string(l.list.Member(r)) == string(member)
		},
	})
	return l
}

// Len implements Large.
func (l *zsetLarge) Len() int { return l.list.Len() }

// Size implements Large.
func (l *zsetLarge) Size() int64 { return l.list.Size() + l.dict.TableBytes() }

// Drain implements Large.
func (l *zsetLarge) Drain(n int) bool {
	if !l.dict.Drain(n, l.list.Free) {
		return false
	}
	l.list.Close()
	return true
}

// HeaderBytes implements Large.
func (l *zsetLarge) HeaderBytes() int64 { return 272 }

// Clone implements Large.
func (l *zsetLarge) Clone(h *Heap) Large {
	c := newZSetLarge(h)
	c.dict.Expand(l.Len())
	ap := c.list.Append()
	for r := l.list.First(); r != 0; r = l.list.Next(r) {
		m := l.list.Member(r)
		ap.Add(c.loose(h.Hash(m), l.list.Score(r), m))
	}
	return c
}

// loose makes a node that the dict knows and the list does not yet.
func (l *zsetLarge) loose(hash uint64, score float64, member []byte) arena.Ref {
	r := l.list.Loose(score, member)
	l.list.SetEpoch(r, l.h.Epoch)
	l.dict.Insert(hash, r)
	return r
}

// insert adds a new member.
func (l *zsetLarge) insert(hash uint64, score float64, member []byte) {
	r := l.list.Insert(score, member)
	l.list.SetEpoch(r, l.h.Epoch)
	l.dict.Insert(hash, r)
}

// setScore changes the score of the member with that hash, in node r.
func (l *zsetLarge) setScore(hash uint64, r arena.Ref, score float64) {
	l.keep(r)
	if to := l.list.SetScore(r, score); to != r {
		l.dict.Replace(hash, r, to)
	}
}

// remove takes a member out.
func (l *zsetLarge) remove(member []byte) bool {
	hash := l.h.Hash(member)
	r := l.dict.Find(hash, member)
	if r == 0 {
		return false
	}
	l.keep(r)
	l.dict.Delete(hash, r)
	l.list.Remove(r)
	return true
}

// cut takes a part out.
func (l *zsetLarge) cut(s span) {
	l.list.RemoveRange(s.first, s.n, func(r arena.Ref) {
		l.keep(r)
		l.dict.Delete(l.h.Hash(l.list.Member(r)), r)
	})
}

func (l *zsetLarge) find(member []byte) arena.Ref { return l.dict.Find(l.h.Hash(member), member) }

func (l *zsetLarge) score(member []byte) (float64, bool) {
	if r := l.find(member); r != 0 {
		return l.list.Score(r), true
	}
	return 0, false
}

func (l *zsetLarge) rank(member []byte) (rank int, score float64, ok bool) {
	r := l.find(member)
	if r == 0 {
		return 0, 0, false
	}
	return l.list.Rank(r), l.list.Score(r), true
}

// add is SortedSet.Add.
func (l *zsetLarge) add(score float64, member []byte, flags ZAddFlags) (ZAddResult, float64) {
	hash := l.h.Hash(member)
	r := l.dict.Find(hash, member)
	if r == 0 {
		if flags&ZAddXX != 0 {
			return ZAddNone, 0
		}
		l.insert(hash, score, member)
		return ZAddAdded, score
	}
	res, now := flags.decide(l.list.Score(r), score)
	if res == ZAddUpdated {
		l.setScore(hash, r, now)
	}
	return res, now
}

// between returns the part from one place to another.
func between(lo, hi skiplist.Pos) span {
	if hi.Rank <= lo.Rank {
		return span{}
	}
	return span{first: lo.Rank, n: hi.Rank - lo.Rank, low: lo.Next, high: hi.Prev}
}

func (l *zsetLarge) scan(cursor uint64, emit func(m listpack.Value, score float64)) uint64 {
	return l.dict.Scan(cursor, func(r arena.Ref) {
		emit(listpack.Str(l.list.Member(r)), l.list.Score(r))
	})
}

// begin implements Large. The walk goes from the highest score down, as Redis writes files: reading
// one in that order inserts at the front.
func (l *zsetLarge) begin(c *Capture) { c.at = l.list.Last() }

// step implements Large. Members that came since are passed over and count too: no turn is longer
// for them.
func (l *zsetLarge) step(c *Capture, n int) bool {
	for ; n > 0 && c.at != 0; n-- {
		r := c.at
		c.at = l.list.Prev(r)
		if l.list.Epoch(r) != l.h.Epoch {
			l.give(r)
		}
	}
	return c.at == 0
}

// keep is called before a member's node is moved or freed. The walk must not stand on it then.
func (l *zsetLarge) keep(r arena.Ref) {
	if l.older(l.h, l.list.Epoch(r)) {
		l.give(r)
	}
	if l.capture != nil && l.capture.at == r {
		l.capture.at = l.list.Prev(r)
	}
}

func (l *zsetLarge) give(r arena.Ref) {
	l.capture.el.Name.B, l.capture.el.Score = l.list.Member(r), l.list.Score(r)
	l.capture.give()
	l.list.SetEpoch(r, l.h.Epoch)
}
