package object

import "godwit/internal/listpack"

// The packed form: pairs of member and score, the lowest score first. Positions (pos) are those of
// members unless a name says otherwise, 0 for none.

// zlFind returns the position of a member.
func zlFind(lp []byte, member []byte) int {
	return listpack.Find(lp, listpack.First(lp), member, 1)
}

// zlScore returns the score at the position of a score.
func zlScore(lp []byte, pos int) float64 {
	v := listpack.Get(lp, pos)
	if v.IsInt {
		return float64(v.N)
	}
	f, _, _ := scanFloat(v.B)
	return f
}

// zlAfter returns the position of the next member.
func zlAfter(lp []byte, pos int) int { return listpack.Next(lp, listpack.Next(lp, pos)) }

// zlBefore returns the position of the member before.
func zlBefore(lp []byte, pos int) int {
	if pos = listpack.Prev(lp, pos); pos != 0 {
		pos = listpack.Prev(lp, pos)
	}
	return pos
}

// zlCompare tells whether the pair at pos sorts before (below 0) or behind (above 0) a member with
// that score.
func zlCompare(lp []byte, pos int, score float64, member []byte) int {
	switch s := zlScore(lp, listpack.Next(lp, pos)); {
	case s < score:
		return -1
	case s > score:
		return 1
	}
	return compareValue(listpack.Get(lp, pos), member)
}

func zlRank(lp []byte, member []byte) (rank int, score float64, ok bool) {
	at := zlFind(lp, member)
	if at == 0 {
		return 0, 0, false
	}
	for pos := listpack.First(lp); pos != at; pos = zlAfter(lp, pos) {
		rank++
	}
	return rank, zlScore(lp, listpack.Next(lp, at)), true
}

// zlScoreSpan returns the part with scores in the range.
func zlScoreSpan(lp []byte, r *ScoreRange) span {
	var s span
	for pos := listpack.First(lp); pos != 0; pos = zlAfter(lp, pos) {
		switch score := zlScore(lp, listpack.Next(lp, pos)); {
		case r.below(score):
			s.first++
		case r.above(score):
			return s
		default:
			s.n++
		}
	}
	return s
}

// zlLexSpan returns the part from the first member that is not below the range on, as long as none
// is above it. When scores differ, and the members are in no order, Redis takes the same part.
func zlLexSpan(lp []byte, r *LexRange) span {
	var s span
	for pos := listpack.First(lp); pos != 0; pos = zlAfter(lp, pos) {
		switch m := listpack.Get(lp, pos); {
		case s.n == 0 && r.below(m):
			s.first++
		case r.above(m):
			return s
		default:
			s.n++
		}
	}
	return s
}

// addPacked is Add in the packed form.
func (z SortedSet) addPacked(score float64, member []byte, flags ZAddFlags) (ZAddResult, float64) {
	lp := z.Bytes()
	if pos := zlFind(lp, member); pos != 0 {
		at := listpack.Next(lp, pos)
		res, now := flags.decide(zlScore(lp, at), score)
		if res == ZAddUpdated {
			z.moveTo(pos, now, member)
		}
		return res, now
	}
	if flags&ZAddXX != 0 {
		return ZAddNone, 0
	}
	if !z.H.Lim.zsetPacks(listpack.Count(lp)/2+1, len(member)) ||
		!listpack.SafeToAdd(lp, len(member)) {
		l := z.grow()
		l.insert(z.H.Hash(member), score, member)
		return ZAddAdded, score
	}
	z.insertPacked(score, member)
	return ZAddAdded, score
}

// zsetPacks reports whether a sorted set of n members is to be packed. longest is the length of the
// longest member in bytes.
func (lim *Limits) zsetPacks(n, longest int) bool {
	return n <= lim.ZSetMaxListpackEntries && longest <= lim.ZSetMaxListpackValue
}

// insertPacked puts a new pair in its place.
func (z SortedSet) insertPacked(score float64, member []byte) {
	lp := z.Bytes()
	pos := listpack.First(lp)
	for pos != 0 && zlCompare(lp, pos, score, member) < 0 {
		pos = zlAfter(lp, pos)
	}
	if pos == 0 {
		pos = listpack.End(lp)
	}
	if n, ok := wholeScore(score); ok {
		listpack.InsertPairInt(z, pos, member, n)
		return
	}
	var scratch [32]byte
	listpack.InsertPair(z, pos, member, AppendScore(scratch[:0], score))
}

// moveTo gives the member at pos another score: in place if the order allows it.
func (z SortedSet) moveTo(pos int, score float64, member []byte) {
	lp := z.Bytes()
	next, prev := zlAfter(lp, pos), zlBefore(lp, pos)
	if (next != 0 && zlCompare(lp, next, score, member) < 0) ||
		(prev != 0 && zlCompare(lp, prev, score, member) > 0) {
		listpack.Delete(z, pos, 2)
		z.insertPacked(score, member)
		return
	}
	at := listpack.Next(lp, pos)
	if n, ok := wholeScore(score); ok {
		listpack.ReplaceInt(z, at, n)
		return
	}
	var scratch [32]byte
	listpack.Replace(z, at, AppendScore(scratch[:0], score))
}

// grow changes the packed form into the large one.
func (z SortedSet) grow() *zsetLarge {
	l := newZSetLarge(z.H)
	ap := l.list.Append()
	lp := z.Bytes()
	var scratch [24]byte
	for pos := listpack.First(lp); pos != 0; pos = zlAfter(lp, pos) {
		v := listpack.Get(lp, pos)
		member := v.B
		if v.IsInt {
			member = v.Append(scratch[:0])
		}
		r := l.loose(z.H.Hash(member), zlScore(lp, listpack.Next(lp, pos)), member)
		ap.Add(r)
	}
	z.SetLarge(EncSkiplist, l)
	return l
}
