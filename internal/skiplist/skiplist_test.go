package skiplist

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

type pair struct {
	score  float64
	member string
}

func (p pair) compare(o pair) int {
	return cmp.Or(cmp.Compare(p.score, o.score), strings.Compare(p.member, o.member))
}

// model is a list and a sorted slice beside it.
type model struct {
	t     testing.TB
	r     *rand.Rand
	l     *List
	pairs []pair
	walk  Defrag
	drain *arena.Drain
}

// defrag continues a walk that moves all nodes, or begins one.
func (m *model) defrag() {
	if m.drain == nil {
		m.drain = m.l.a.NewDrain()
		m.drain.ChooseAll()
		for !m.drain.Mark(1) {
		}
	}
	_, done := m.walk.Step(m.l, 1+m.r.IntN(20), func(from, to arena.Ref) {
		require.NotEqual(m.t, from, to)
	})
	if done {
		m.drain.Rewind()
		for ended := false; !ended; {
			_, ended = m.drain.End(1)
		}
		m.drain = nil
	}
}

func (m *model) score() float64 {
	if m.r.IntN(20) == 0 {
		return []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1),
			math.MaxFloat64}[m.r.IntN(4)]
	}
	return float64(m.r.IntN(30)) / 2
}

func (m *model) member() string {
	s := fmt.Sprint(m.r.IntN(2000))
	if m.r.IntN(30) == 0 {
		return strings.Repeat(s, 100)
	}
	return s
}

func (m *model) place(p pair) (int, bool) {
	return slices.BinarySearchFunc(m.pairs, p, pair.compare)
}

func (m *model) insert() {
	p := pair{m.score(), m.member()}
	i, ok := m.place(p)
	if ok {
		return
	}
	m.pairs = slices.Insert(m.pairs, i, p)
	r := m.l.Insert(p.score, []byte(p.member))
	m.l.SetEpoch(r, byte(len(p.member)))
	require.Equal(m.t, i, m.l.Rank(r))
}

func (m *model) remove() {
	if len(m.pairs) == 0 {
		return
	}
	i := m.r.IntN(len(m.pairs))
	m.l.Remove(m.l.At(i))
	m.pairs = slices.Delete(m.pairs, i, i+1)
}

func (m *model) rescore() {
	if len(m.pairs) == 0 {
		return
	}
	i := m.r.IntN(len(m.pairs))
	p := m.pairs[i]
	q := pair{p.score + float64(m.r.IntN(3)-1)/4, p.member}
	if m.r.IntN(2) == 0 {
		q.score = m.score()
	}
	if _, ok := m.place(q); ok {
		return
	}
	r := m.l.At(i)
	m.pairs = slices.Delete(m.pairs, i, i+1)
	j, _ := m.place(q)
	m.pairs = slices.Insert(m.pairs, j, q)
	to := m.l.SetScore(r, q.score)
	require.Equal(m.t, to, m.l.At(j))
}

func (m *model) removeRange() {
	n := len(m.pairs)
	first := m.r.IntN(n + 1)
	k := m.r.IntN(min(n-first, 20) + 1)
	want := slices.Clone(m.pairs[first : first+k])
	var got []pair
	m.l.RemoveRange(first, k, func(r arena.Ref) { got = append(got, m.at(r)) })
	require.ElementsMatch(m.t, want, got)
	m.pairs = slices.Delete(m.pairs, first, first+k)
}

func (m *model) at(r arena.Ref) pair { return pair{m.l.Score(r), string(m.l.Member(r))} }

func (m *model) seek() {
	s, past := m.score(), m.r.IntN(2) == 0
	want, _ := slices.BinarySearchFunc(m.pairs, s, func(p pair, s float64) int {
		if p.score < s || p.score == s && past {
			return -1
		}
		return 1
	})
	m.pos(want, m.l.SeekScore(s, past))
}

// search seeks for a score step by step.
func (m *model) search() {
	score := m.score()
	s := m.l.Search(score)
	for next, more := s.Step(m.l); more; next, more = s.Step(m.l) {
		require.NotZero(m.t, next)
	}
	require.Equal(m.t, m.l.SeekScore(score, false).Next, s.Found())
}

func (m *model) pos(want int, got Pos) {
	require.Equal(m.t, want, got.Rank)
	require.Equal(m.t, m.l.At(want-1), got.Prev)
	require.Equal(m.t, m.l.At(want), got.Next)
}

func (m *model) check() {
	require.NoError(m.t, m.l.Check())
	require.Equal(m.t, len(m.pairs), m.l.Len())
	r := m.l.First()
	for i, p := range m.pairs {
		require.Equal(m.t, p, m.at(r))
		require.Equal(m.t, byte(len(p.member)), m.l.Epoch(r))
		require.Equal(m.t, i, m.l.Rank(r))
		r = m.l.Next(r)
	}
	require.Zero(m.t, r)
	for i, r := len(m.pairs)-1, m.l.Last(); r != 0; i, r = i-1, m.l.Prev(r) {
		require.Equal(m.t, m.pairs[i], m.at(r))
	}
}

func (m *model) free() {
	for r := m.l.First(); r != 0; {
		next := m.l.Next(r)
		m.l.Free(r)
		r = next
	}
	m.l.Close()
	require.Zero(m.t, m.l.Size())
}

func TestAgainstSortedSlice(t *testing.T) {
	a := arena.New()
	defer a.Close()
	m := &model{t: t, r: testseed.Rand(t)}
	m.l = New(a, m.r)
	for i := range 20_000 {
		switch k := m.r.IntN(100); {
		case k < 45:
			m.insert()
		case k < 70:
			m.rescore()
		case k < 80:
			m.seek()
			m.search()
		case k < 98 || len(m.pairs) < 100:
			m.remove()
		default:
			m.removeRange()
		}
		if i%500 == 0 {
			m.check()
		}
		if i%5 == 0 {
			m.defrag()
		}
		require.Equal(t, a.UsedBy(arena.Values), m.l.Size())
	}
	m.check()
	require.Greater(t, a.Moves.Hits, int64(m.l.Len()))
	m.free()
	require.Zero(t, a.Used())
}

// TestScoreWidth looks at the border between scores of 4 and of 8 bytes.
func TestScoreWidth(t *testing.T) {
	a := arena.New()
	defer a.Close()
	l := New(a, testseed.Rand(t))
	bytes := func(score float64) int {
		l := &List{a: a}
		r := l.alloc(score, []byte("member:0000001"), 1)
		require.Equal(t, math.Float64bits(score), math.Float64bits(l.Score(r)))
		n := l.size(r)
		l.Free(r)
		return n
	}
	for _, s := range []float64{0, 1, 1 << 31, math.MaxUint32} {
		require.Equal(t, 31, bytes(s), "%v", s)
		require.Equal(t, 35, bytes(s+.5), "%v", s)
	}
	for _, s := range []float64{-1, math.Copysign(0, -1), math.MaxUint32 + 1, 1e300,
		math.Inf(1), math.Inf(-1)} {
		require.Equal(t, 35, bytes(s), "%v", s)
	}
	r := l.Insert(7, []byte("m"))
	l.SetEpoch(r, 3)
	require.Equal(t, r, l.SetScore(r, 9))
	wide := l.SetScore(r, 9.5)
	require.NotEqual(t, r, wide)
	require.Equal(t, byte(3), l.Epoch(wide))
	require.Equal(t, wide, l.SetScore(wide, 9), "a long score stays long")
	require.NoError(t, l.Check())
	(&model{t: t, l: l}).free()
}

func TestSeekMember(t *testing.T) {
	a := arena.New()
	m := &model{t: t, r: testseed.Rand(t)}
	m.l = New(a, m.r)
	for range 500 {
		p := pair{member: m.member()}
		if i, ok := m.place(p); !ok {
			m.pairs = slices.Insert(m.pairs, i, p)
			m.l.Insert(0, []byte(p.member))
		}
	}
	for range 2000 {
		p, past := pair{member: m.member()}, m.r.IntN(2) == 0
		want, ok := m.place(p)
		if ok && past {
			want++
		}
		m.pos(want, m.l.SeekMember([]byte(p.member), past))
	}
	m.free()
	a.Close()
}

func TestAppender(t *testing.T) {
	a := arena.New()
	defer a.Close()
	r := testseed.Rand(t)
	l := New(a, r)
	var refs []arena.Ref
	for i := range 3000 {
		refs = append(refs, l.Loose(float64(r.IntN(100)), fmt.Append(nil, i)))
	}
	slices.SortFunc(refs, l.Compare)
	ap := l.Append()
	for i, ref := range refs {
		ap.Add(ref)
		if i == 1500 {
			l.Insert(-1, []byte("first"))
			ap = l.Append()
		}
	}
	require.NoError(t, l.Check())
	require.Equal(t, []byte("first"), l.Member(l.First()))
	require.Equal(t, 3001, l.Len())
	(&model{t: t, l: l}).free()
}

func TestEmpty(t *testing.T) {
	a := arena.New()
	defer a.Close()
	l := New(a, testseed.Rand(t))
	require.NoError(t, l.Check())
	require.Zero(t, l.First())
	require.Zero(t, l.Last())
	require.Zero(t, l.At(0))
	require.Equal(t, Pos{}, l.SeekScore(0, false))
	require.Equal(t, Pos{}, l.SeekMember(nil, true))
	r := l.Insert(1, nil)
	require.Empty(t, l.Member(r))
	l.Remove(r)
	require.NoError(t, l.Check())
	l.Close()
}

// TestCheckSees checks that Check finds a broken list.
func TestCheckSees(t *testing.T) {
	a := arena.New()
	l := New(a, testseed.Rand(t))
	for i := range 500 {
		l.Insert(float64(i), []byte("m"))
	}
	require.NoError(t, l.Check())
	r := l.At(250)
	for name, breaks := range map[string]func(){
		"order": func() { l.setScore(r, 400) },
		"ahead": func() {
			to := l.link(l.head, 1)
			to.score++
			l.setLink(l.head, 1, to)
		},
		"prev":  func() { l.setPrev(r, l.First()) },
		"span":  func() { l.addSpan(l.head, 1, 1) },
		"tail":  func() { l.tail = r },
		"bytes": func() { l.bytes++ },
	} {
		score, prev, tail, size, first := l.Score(r), l.prev(r), l.tail, l.bytes, l.link(l.head, 1)
		breaks()
		require.Error(t, l.Check(), name)
		l.setScore(r, score)
		l.setPrev(r, prev)
		l.tail, l.bytes = tail, size
		l.setLink(l.head, 1, first)
		require.NoError(t, l.Check())
	}
}

func TestLevels(t *testing.T) {
	l := &List{rnd: testseed.Rand(t)}
	var count [MaxLevel + 1]int
	const n = 1 << 18
	for range n {
		count[l.randomLevels()]++
	}
	for k, p := 1, 0.75; k < 6; k, p = k+1, p/4 {
		require.InDelta(t, n*p, count[k], 6*math.Sqrt(n*p)+6, "%d levels", k)
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{1e3, 1e6} {
		a := arena.New()
		r := rand.New(rand.NewPCG(1, 1))
		l := New(a, r)
		refs := make([]arena.Ref, n)
		scores := make([]float64, n)
		for i := range refs {
			scores[i] = float64(r.IntN(1 << 30))
			refs[i] = l.Insert(scores[i], fmt.Appendf(nil, "member:%07d", i))
		}
		b.Logf("%d members: %.1f bytes each", n, float64(l.Size())/float64(n))
		b.Run(fmt.Sprintf("rank/%d", n), func(b *testing.B) {
			for i := range b.N {
				l.Rank(refs[i*7919%n])
			}
		})
		b.Run(fmt.Sprintf("at/%d", n), func(b *testing.B) {
			for i := range b.N {
				l.At(i * 7919 % n)
			}
		})
		b.Run(fmt.Sprintf("seek/%d", n), func(b *testing.B) {
			for i := range b.N {
				l.SeekScore(scores[i*7919%n], false)
			}
		})
		b.Run(fmt.Sprintf("insert-remove/%d", n), func(b *testing.B) {
			m := []byte("member:x")
			for i := range b.N {
				l.Remove(l.Insert(scores[i*7919%n]+0.5, m))
			}
		})
		b.Run(fmt.Sprintf("rescore/%d", n), func(b *testing.B) {
			for i := range b.N {
				k := i * 7919 % n
				refs[k] = l.SetScore(refs[k], scores[(k+1)%n])
			}
		})
		b.Run(fmt.Sprintf("walk/%d", n), func(b *testing.B) {
			x := l.First()
			sum := 0
			for range b.N {
				if x == 0 {
					x = l.First()
				}
				sum += len(l.Member(x))
				x = l.Next(x)
			}
		})
		a.Close()
	}
}
