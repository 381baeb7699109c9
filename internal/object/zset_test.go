package object

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// zsetPair is a member of the model.
type zsetPair struct {
	score  float64
	member string
}

func (p zsetPair) compare(o zsetPair) int {
	return cmp.Or(cmp.Compare(p.score, o.score), strings.Compare(p.member, o.member))
}

// zsetModel is a sorted slice beside a sorted set.
type zsetModel struct {
	t     *testing.T
	r     *rand.Rand
	z     SortedSet
	pairs []zsetPair
}

// movedSlot is the place of an entry that nobody else looks for.
type movedSlot struct{}

func (movedSlot) Moved(_, _ arena.Ref) {}
func (movedSlot) Changing(Entry)       {}

func newZSetEdit(h *Heap) SortedSet {
	x := new(Edit)
	v := PackedValue(h.A, ZSet, EncListpack, listpack.Empty())
	x.Reset(h, Build(h.A, []byte("key"), &v, Meta{}), movedSlot{})
	return AsZSet(x)
}

func freeZSetEdit(z SortedSet) {
	o := z.H.Take(z.E)
	z.E.FreeBlock(z.H.A)
	o.Free(z.H)
}

func (m *zsetModel) member() string {
	s := fmt.Sprint(m.r.IntN(300))
	switch m.r.IntN(20) {
	case 0:
		return "m" + s
	case 1:
		return ""
	case 2:
		return strings.Repeat("long", 20)
	}
	return s
}

func (m *zsetModel) score() float64 {
	switch m.r.IntN(30) {
	case 0:
		return math.Inf(1)
	case 1:
		return math.Inf(-1)
	case 2:
		return 1e300
	case 3:
		return m.r.NormFloat64()
	}
	return float64(m.r.IntN(20)) / 2
}

func (m *zsetModel) find(member string) int {
	return slices.IndexFunc(m.pairs, func(p zsetPair) bool { return p.member == member })
}

// put does what Add does without options.
func (m *zsetModel) put(member string, score float64) ZAddResult {
	i, res := m.find(member), ZAddAdded
	if i >= 0 {
		if res = ZAddUpdated; m.pairs[i].score == score {
			return ZAddSame
		}
		m.pairs = slices.Delete(m.pairs, i, i+1)
	}
	p := zsetPair{score, member}
	at, _ := slices.BinarySearchFunc(m.pairs, p, zsetPair.compare)
	m.pairs = slices.Insert(m.pairs, at, p)
	return res
}

func (m *zsetModel) add() {
	member, score, flags := m.member(), m.score(), ZAddFlags(0)
	if m.r.IntN(3) == 0 {
		flags = ZAddFlags(m.r.IntN(32))
	}
	res, now := m.z.Add(score, []byte(member), flags)
	i := m.find(member)
	var want ZAddResult
	switch {
	case i < 0 && flags&ZAddXX != 0, i >= 0 && flags&ZAddNX != 0:
	default:
		to := score
		if i >= 0 {
			old := m.pairs[i].score
			if flags&ZAddIncr != 0 {
				to += old
			}
			if math.IsNaN(to) {
				want = ZAddNaN
				break
			}
			if flags&ZAddGT != 0 && to <= old || flags&ZAddLT != 0 && to >= old {
				break
			}
		}
		want = m.put(member, to)
		require.Equal(m.t, to, now)
	}
	require.Equal(m.t, want, res, "%v %q %b", score, member, flags)
}

func (m *zsetModel) lookup() {
	member := m.member()
	i := m.find(member)
	score, ok := m.z.Score([]byte(member))
	rank, score2, ok2 := m.z.Rank([]byte(member), false)
	back, _, _ := m.z.Rank([]byte(member), true)
	require.Equal(m.t, i >= 0, ok)
	require.Equal(m.t, ok, ok2)
	if ok {
		require.Equal(m.t, m.pairs[i].score, score)
		require.Equal(m.t, score, score2)
		require.Equal(m.t, i, rank)
		require.Equal(m.t, len(m.pairs)-1-i, back)
	}
}

func (m *zsetModel) remove() {
	member := m.member()
	i := m.find(member)
	require.Equal(m.t, i >= 0, m.z.Remove([]byte(member)))
	if i >= 0 {
		m.pairs = slices.Delete(m.pairs, i, i+1)
	}
}

func read(it ZIter) []zsetPair {
	var out []zsetPair
	for n := it.Len(); it.Next(); n-- {
		if it.Len() != n-1 {
			panic("Len does not count down")
		}
		out = append(out, zsetPair{it.Score, string(it.Member.Append(nil))})
	}
	return out
}

func (m *zsetModel) ranks() {
	n := len(m.pairs)
	start, stop, reverse := m.r.IntN(2*n+4)-n-2, m.r.IntN(2*n+4)-n-2, m.r.IntN(2) == 0
	want := slices.Clone(m.pairs)
	if reverse {
		slices.Reverse(want)
	}
	from, to := start, stop
	if from < 0 {
		from = max(from+n, 0)
	}
	if to < 0 {
		to += n
	}
	to = min(to, n-1)
	if from > to {
		want = nil
	} else {
		want = want[from : to+1]
	}
	require.Equal(m.t, append([]zsetPair(nil), want...), read(m.z.ByRank(start, stop, reverse)),
		"%d %d %v", start, stop, reverse)
}

// limited does with what z has in a range what LIMIT does.
func limited(z SortedSet, s []zsetPair, reverse bool, offset, limit int) []zsetPair {
	s = slices.Clone(s)
	if reverse {
		slices.Reverse(s)
	}
	if offset < 0 && z.Base() == EncSkiplist {
		offset += len(s)
	}
	if offset < 0 || offset >= len(s) {
		return nil
	}
	s = s[offset:]
	if limit >= 0 {
		s = s[:min(limit, len(s))]
	}
	return append([]zsetPair(nil), s...)
}

func (m *zsetModel) scores() (ScoreRange, []zsetPair) {
	r := ScoreRange{m.score(), m.score(), m.r.IntN(2) == 0, m.r.IntN(2) == 0}
	var want []zsetPair
	for _, p := range m.pairs {
		if (p.score > r.Min || p.score == r.Min && !r.MinEx) &&
			(p.score < r.Max || p.score == r.Max && !r.MaxEx) {
			want = append(want, p)
		}
	}
	return r, want
}

func (m *zsetModel) byScore() {
	r, want := m.scores()
	offset, limit, reverse := m.r.IntN(6)-1, m.r.IntN(20)-5, m.r.IntN(2) == 0
	require.Equal(m.t, len(want), m.z.CountByScore(r))
	require.Equal(m.t, limited(m.z, want, reverse, offset, limit),
		read(m.z.ByScore(r, reverse, offset, limit)), "%+v", r)
}

func (m *zsetModel) cut() {
	var n int
	var want []zsetPair
	if m.r.IntN(2) == 0 {
		var r ScoreRange
		r, want = m.scores()
		if len(want) > 30 {
			return
		}
		n = m.z.RemoveByScore(r)
	} else {
		at := m.r.IntN(len(m.pairs) + 1)
		if want = m.pairs[at:min(at+m.r.IntN(5), len(m.pairs))]; len(want) == 0 {
			return
		}
		n = m.z.RemoveByRank(at, at+len(want)-1)
	}
	require.Equal(m.t, len(want), n)
	gone := map[zsetPair]bool{}
	for _, p := range want {
		gone[p] = true
	}
	m.pairs = slices.DeleteFunc(m.pairs, func(p zsetPair) bool { return gone[p] })
}

func (m *zsetModel) pop() {
	n, reverse := m.r.IntN(4), m.r.IntN(2) == 0
	want := limited(m.z, m.pairs, reverse, 0, n)
	var got []zsetPair
	k := m.z.Pop(n, reverse, func(v listpack.Value, score float64) {
		got = append(got, zsetPair{score, string(v.Append(nil))})
	})
	require.Equal(m.t, len(want), k)
	if k > 0 {
		require.Equal(m.t, want, got)
	}
	if reverse {
		m.pairs = m.pairs[:len(m.pairs)-k]
	} else {
		m.pairs = m.pairs[k:]
	}
}

func (m *zsetModel) check() {
	require.Equal(m.t, len(m.pairs), m.z.Len())
	require.Equal(m.t, append([]zsetPair(nil), m.pairs...), read(m.z.All()))
	got := map[zsetPair]bool{}
	for cursor := uint64(0); ; {
		cursor = m.z.Scan(cursor, func(v listpack.Value, score float64) {
			got[zsetPair{score, string(v.Append(nil))}] = true
		})
		if cursor == 0 {
			break
		}
	}
	require.Len(m.t, got, len(m.pairs))
	if l, ok := m.z.large(); ok {
		require.NoError(m.t, l.list.Check())
		require.NoError(m.t, l.dict.Check())
		c := l.Clone(m.z.H).(*zsetLarge)
		require.NoError(m.t, c.list.Check())
		require.Equal(m.t, l.Len(), c.Len())
		for !c.Drain(50) {
		}
		return
	}
	require.NoError(m.t, listpack.Validate(m.z.Bytes()))
	require.LessOrEqual(m.t, len(m.pairs), m.z.H.Lim.ZSetMaxListpackEntries)
}

func TestZSetAgainstModel(t *testing.T) {
	for _, lim := range []Limits{{}, {ZSetMaxListpackEntries: 3, ZSetMaxListpackValue: 64},
		{ZSetMaxListpackEntries: 128, ZSetMaxListpackValue: 64},
		{ZSetMaxListpackEntries: 1 << 20, ZSetMaxListpackValue: 1 << 20}} {
		t.Run(fmt.Sprint(lim.ZSetMaxListpackEntries), func(t *testing.T) {
			seed := testseed.New(t)
			a := arena.New()
			defer a.Close()
			r := rand.New(rand.NewPCG(seed, 1))
			m := &zsetModel{t: t, r: r, z: newZSetEdit(NewHeap(a, maphash.MakeSeed(), r, &lim))}
			steps := []func(){m.add, m.add, m.add, m.add, m.lookup, m.remove, m.ranks, m.byScore,
				m.byScore, m.pop, m.cut}
			for i := range 5000 {
				steps[r.IntN(len(steps))]()
				if i%50 == 0 {
					m.check()
				}
				if len(m.pairs) > 0 && i%10 == 0 {
					v, score := m.z.Random()
					require.GreaterOrEqual(t, m.find(string(v.Append(nil))), 0)
					require.Equal(t, m.pairs[m.find(string(v.Append(nil)))].score, score)
				}
			}
			freeZSetEdit(m.z)
			require.Zero(t, a.Used())
		})
	}
}

func TestZSetByLex(t *testing.T) {
	for _, n := range []int{0, 1 << 20} {
		a := arena.New()
		r := rand.New(rand.NewPCG(rand.Uint64(), 1))
		z := newZSetEdit(
			NewHeap(a, maphash.MakeSeed(), r,
				&Limits{ZSetMaxListpackEntries: n, ZSetMaxListpackValue: n}))
		var members []string
		for i := range 200 {
			members = append(members, fmt.Sprint(i))
			z.Add(1, []byte(members[i]), 0)
		}
		slices.Sort(members)
		bound := func() (string, func(string) int) {
			switch r.IntN(5) {
			case 0:
				return "-", func(string) int { return 1 }
			case 1:
				return "+", func(string) int { return -1 }
			}
			b := fmt.Sprint(r.IntN(220))
			return pickString(r, "[", "(") + b, func(m string) int { return strings.Compare(m, b) }
		}
		for range 500 {
			lo, below := bound()
			hi, above := bound()
			lr, ok := ParseLexRange([]byte(lo), []byte(hi))
			require.True(t, ok)
			var want []zsetPair
			for _, m := range members {
				if c, d := below(m), above(m); (c > 0 || c == 0 && lo[0] == '[') &&
					(d < 0 || d == 0 && hi[0] == '[') {
					want = append(want, zsetPair{1, m})
				}
			}
			require.Equal(t, len(want), z.CountByLex(lr), "%s %s", lo, hi)
			offset, limit, reverse := r.IntN(4)-1, r.IntN(10)-3, r.IntN(2) == 0
			require.Equal(t, limited(z, want, reverse, offset, limit),
				read(z.ByLex(lr, reverse, offset, limit)), "%s %s", lo, hi)
		}
		lr, _ := ParseLexRange([]byte("[1"), []byte("(2"))
		k := z.CountByLex(lr)
		require.Equal(t, k, z.RemoveByLex(lr))
		require.Equal(t, 200-k, z.Len())
		freeZSetEdit(z)
		a.Close()
	}
}

func pickString(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func TestZSetAllocs(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the arena's books are on the heap")
	}
	a := arena.New()
	h := NewHeap(a, maphash.MakeSeed(), rand.New(rand.NewPCG(1, 1)), &Limits{})
	z := newZSetEdit(h)
	for i := range 1000 {
		z.Add(float64(i), fmt.Append(nil, "member", i), 0)
	}
	m, i := []byte("member500"), 0.0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		i += 777
		z.Add(i, m, 0)
		z.Score(m)
		z.Rank(m, false)
		z.Remove(m)
		for it := z.ByScore(ScoreRange{Min: 5, Max: 20}, false, 0, -1); it.Next(); {
		}
	}))
	freeZSetEdit(z)
	a.Close()
}
