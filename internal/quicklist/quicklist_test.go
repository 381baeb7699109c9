package quicklist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// model is a list and what it should hold.
type model struct {
	t    *testing.T
	s    *Shared
	q    *List
	want [][]byte
	rng  *rand.Rand
	max  int // bytes of an element

	drain *arena.Drain
}

// defrag continues a walk that moves all blocks, or begins one.
func (m *model) defrag() {
	begin := m.drain == nil
	if begin {
		m.drain = m.s.A.NewDrain()
		m.drain.ChooseAll()
		for !m.drain.Mark(1) {
		}
	}
	if _, done := m.q.Defrag(begin, 1+m.rng.IntN(8)); done {
		m.drain.Rewind()
		for ended := false; !ended; {
			_, ended = m.drain.End(1)
		}
		m.drain = nil
	}
}

func (m *model) elem() []byte {
	switch m.rng.IntN(4) {
	case 0:
		return strconv.AppendInt(nil, int64(m.rng.Uint64())>>m.rng.IntN(64), 10)
	case 1:
		return bytes.Repeat([]byte{byte(m.rng.IntN(256))}, m.rng.IntN(m.max))
	default:
		b := make([]byte, m.rng.IntN(min(m.max, 40)))
		for i := range b {
			b[i] = byte('a' + m.rng.IntN(4))
		}
		return b
	}
}

func (m *model) check() {
	require.NoError(m.t, m.q.Check())
	require.Equal(m.t, len(m.want), m.q.Len())
}

// same compares everything, walking in one direction.
func (m *model) same(reverse bool) {
	i := 0
	if reverse {
		i = len(m.want) - 1
	}
	it := m.q.Iter(i, reverse)
	for range m.want {
		v, ok := it.Next()
		require.True(m.t, ok)
		require.Equal(m.t, string(m.want[i]), string(v.Append(nil)), "element %d", i)
		if reverse {
			i--
		} else {
			i++
		}
	}
	_, ok := it.Next()
	require.False(m.t, ok)
}

func (m *model) at(i int) *Iter {
	it := m.q.Iter(i, m.rng.IntN(2) == 0)
	v, ok := it.Next()
	require.True(m.t, ok)
	require.Equal(m.t, string(m.want[i]), string(v.Append(nil)))
	return &it
}

// deleteSome removes about one in every k elements on a walk.
func (m *model) deleteSome(k int) {
	reverse := m.rng.IntN(2) == 0
	i := m.rng.IntN(len(m.want))
	it := m.q.Iter(i, reverse)
	for n := m.rng.IntN(30); n > 0; n-- {
		v, ok := it.Next()
		if !ok {
			break
		}
		require.Equal(m.t, string(m.want[i]), string(v.Append(nil)))
		gone := m.rng.IntN(k) == 0
		if gone {
			m.want = slices.Delete(m.want, i, i+1)
			it.Delete()
		}
		if reverse {
			i--
		} else if !gone {
			i++
		}
	}
	it.Close()
}

func (m *model) step() {
	n := len(m.want)
	op := m.rng.IntN(12)
	if n == 0 || op < 4 && n < 600 {
		b := m.elem()
		if m.rng.IntN(2) == 0 {
			m.q.PushHead(b)
			m.want = slices.Insert(m.want, 0, b)
		} else {
			m.q.PushTail(b)
			m.want = append(m.want, b)
		}
		return
	}
	i := m.rng.IntN(n)
	switch op {
	case 4:
		m.q.PopHead()
		m.want = m.want[1:]
	case 5:
		m.q.PopTail()
		m.want = m.want[:n-1]
	case 6, 7:
		b, after := m.elem(), m.rng.IntN(2)
		m.q.Insert(m.at(i), b, after == 1)
		m.want = slices.Insert(m.want, i+after, b)
	case 8:
		m.want[i] = m.elem()
		it := m.q.Iter(i, false)
		_, _ = it.Next()
		m.q.Replace(&it, m.want[i])
	case 9:
		m.deleteSome(1 + m.rng.IntN(3))
	case 10:
		k := m.rng.IntN(min(n, 1+m.rng.IntN(60)) + 1)
		require.Equal(m.t, min(k, n-i), m.q.DeleteRange(i, k))
		m.want = slices.Delete(m.want, i, min(i+k, n))
	default:
		v, ok := m.q.At(i)
		require.True(m.t, ok)
		require.Equal(m.t, string(m.want[i]), string(v.Append(nil)))
	}
}

func TestModel(t *testing.T) {
	seed := testseed.New(t)
	for _, fill := range []int{-1, -2, -3, -4, -5, 0, 1, 2, 5, 128, 40000} {
		for _, depth := range []int{0, 1, 2, 5} {
			for _, threshold := range []int{DefaultPackedThreshold, 30} {
				t.Run(fmt.Sprintf("fill%d/depth%d/plain%d", fill, depth, threshold),
					func(t *testing.T) {
						a := arena.New()
						m := &model{t: t, s: NewShared(a),
							rng: rand.New(rand.NewPCG(seed, uint64(fill*100+depth))), max: 1500}
						m.s.PackedThreshold = threshold
						m.q = New(m.s, fill, depth)
						steps := 400
						if testing.Short() {
							steps = 150
						}
						for i := range steps {
							m.step()
							m.check()
							if i%3 == 0 {
								m.defrag()
								m.check()
							}
							if i%50 == 0 {
								m.same(i%100 == 0)
							}
						}
						m.same(true)
						m.same(false)
						require.NotZero(t, a.Moves.Hits)
						m.clone()
						require.Equal(t, m.q.Size(), a.Used())
						for !m.q.Drain(100) {
							require.Equal(t, m.q.Size(), a.Used())
						}
						require.Zero(t, m.q.Size())
						a.Close()
					})
			}
		}
	}
}

// clone compares a copy with the original, changes it and drops it.
func (m *model) clone() {
	c := *m
	c.q = m.q.Clone(m.s)
	c.want = slices.Clone(m.want)
	c.check()
	c.same(false)
	for range 20 {
		c.step()
	}
	c.check()
	m.check()
	m.same(false)
	for !c.q.Drain(10) {
		continue
	}
}

// TestQueue checks that a list that grows at one end and shrinks at the other keeps tight blocks
// and its order.
func TestQueue(t *testing.T) {
	for _, head := range []bool{true, false} {
		a := arena.New()
		q := New(NewShared(a), -2, 0)
		in, out := 0, 0
		push := func() {
			b := []byte(fmt.Sprintf("job:%08d", in))
			in++
			if head {
				q.PushHead(b)
			} else {
				q.PushTail(b)
			}
		}
		pop := func() {
			i := 0
			if head {
				i = q.Len() - 1
			}
			v, ok := q.At(i)
			require.True(t, ok)
			require.Equal(t, fmt.Sprintf("job:%08d", out), string(v.B))
			out++
			if head {
				q.PopTail()
			} else {
				q.PopHead()
			}
		}
		for range 700 {
			push()
		}
		for range 20000 {
			push()
			pop()
		}
		require.NoError(t, q.Check())
		require.Less(t, q.Size(), int64(3*8192+3*32))
		for q.Len() > 0 {
			pop()
		}
		require.NoError(t, q.Check())
		require.Zero(t, a.Used())
		a.Close()
	}
}

// TestNodes compares filling, splitting and merging with what Redis does, by the numbers of nodes.
func TestNodes(t *testing.T) {
	q := New(NewShared(arena.New()), 4, 0)
	for i := range 12 {
		q.PushTail([]byte(strconv.Itoa(i)))
	}
	require.Equal(t, 3, q.Nodes())
	it := q.Iter(5, false)
	_, _ = it.Next()
	q.Insert(&it, []byte("x"), true) // 4 | 4 5 | x 6 7 | 4
	require.Equal(t, 4, q.Nodes())
	require.Equal(t, 5, q.DeleteRange(5, 5)) // 4 | 4 | 9 | 10 11 … nothing merges by deletion
	require.NoError(t, q.Check())
	require.Equal(t, "[0 1 2 3 4 9 10 11]", fmt.Sprint(elements(q)))
}

func elements(q *List) (s []string) {
	it := q.Iter(0, false)
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		s = append(s, string(v.Append(nil)))
	}
	return s
}

func TestAppendListpack(t *testing.T) {
	lp := listpack.NewSlice()
	for i := range 60000 {
		listpack.AppendInt(lp, int64(i%100))
	}
	q := New(NewShared(arena.New()), -2, 0)
	q.AppendListpack(listpack.Empty())
	require.Zero(t, q.Nodes())
	q.AppendListpack(lp.B)
	require.Equal(t, 60000, q.Len())
	require.Equal(t, lp.B, q.Single())
	q.AppendPlain([]byte("plain"))
	require.Nil(t, q.Single())
	require.NoError(t, q.Check())
	q.PopTail()
	q.PopHead()
	require.NoError(t, q.Check())
	require.Equal(t, 59999, q.Len())

	for i := range 10000 {
		listpack.AppendInt(lp, int64(i%100))
	}
	q = New(NewShared(arena.New()), -2, 0)
	q.AppendListpack(lp.B) // more than a node counts
	require.Equal(t, 70000, q.Len())
	require.NoError(t, q.Check())
	v, ok := q.At(69999)
	require.True(t, ok)
	require.EqualValues(t, 99, v.N)
}

// TestCompression checks that a long list of text takes much less memory, and that reading changes
// nothing.
func TestCompression(t *testing.T) {
	size := func(depth int) int64 {
		a := arena.New()
		q := New(NewShared(a), -2, depth)
		for i := range 20000 {
			q.PushTail([]byte(fmt.Sprintf("a quite repetitive element number %d", i)))
		}
		before := q.Size()
		require.Len(t, elements(q), 20000)
		require.Equal(t, before, q.Size())
		require.NoError(t, q.Check())
		return q.Size()
	}
	require.Less(t, size(1), size(0)/3)
}

func TestNoAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	q := New(NewShared(arena.New()), -2, 0)
	b := []byte("element:123456")
	require.Zero(t, testing.AllocsPerRun(2000, func() {
		q.PushHead(b)
		q.PushTail(b)
		q.PushTail(b)
		q.PopHead()
	}))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		it := q.Iter(0, false)
		for _, ok := it.Next(); ok; _, ok = it.Next() {
			continue
		}
	}))
}

func benchList(n int) *List {
	q := New(NewShared(arena.New()), -2, 0)
	for i := range n {
		q.PushTail([]byte(fmt.Sprintf("element:%06d", i)))
	}
	return q
}

func BenchmarkPushTail(b *testing.B) {
	q, e := benchList(0), []byte("element:123456")
	for b.Loop() {
		q.PushTail(e)
	}
	b.ReportMetric(float64(q.Size())/float64(q.Len()), "B/element")
}

func BenchmarkPushHead(b *testing.B) {
	q, e := benchList(0), []byte("element:123456")
	for b.Loop() {
		q.PushHead(e)
	}
	b.ReportMetric(float64(q.Size())/float64(q.Len()), "B/element")
}

func BenchmarkQueue(b *testing.B) {
	q, e := benchList(10000), []byte("element:123456")
	for b.Loop() {
		q.PushHead(e)
		q.PopTail()
	}
}

func BenchmarkStack(b *testing.B) {
	q, e := benchList(10000), []byte("element:123456")
	for b.Loop() {
		q.PushHead(e)
		q.PopHead()
	}
}

func BenchmarkRange600(b *testing.B) {
	q := benchList(100000)
	var dst []byte
	for b.Loop() {
		it := q.Iter(0, false)
		dst = dst[:0]
		for range 600 {
			v, _ := it.Next()
			dst = v.Append(dst)
		}
	}
}

func BenchmarkMiddle(b *testing.B) {
	q := benchList(100000)
	for b.Loop() {
		q.At(50000)
	}
}

// TestSlack holds what pushes at an end copy, and what room the nodes have, against their bounds.
func TestSlack(t *testing.T) {
	b := bytes.Repeat([]byte("x"), 64)
	for name, push := range map[string]func(q *List){
		"head": func(q *List) { q.PushHead(b) },
		"tail": func(q *List) { q.PushTail(b) },
	} {
		t.Run(name, func(t *testing.T) {
			a := arena.New()
			q := New(NewShared(a), -2, 0)
			grown, room := 0, map[arena.Ref]int{}
			for range 20_000 {
				push(q)
				for _, end := range []arena.Ref{q.head, q.tail} {
					if n := q.load(end); room[end] != n.room {
						room[end] = n.room
						grown++
					}
				}
			}
			require.NoError(t, q.Check())
			require.Less(t, grown, 3*q.Nodes()) // by size classes it would be 39 a node
			for r := q.head; r != 0; r = q.next(r) {
				n := q.load(r)
				need := arena.ClassSize(n.size)
				if n.prev == 0 || n.next == 0 {
					need += int(q.bytes / slackShare)
				}
				require.LessOrEqual(t, n.room, need)
			}
			for q.Len() > 300 { // what is left is short again, and so is its slack
				q.DeleteRange(0, 1)
			}
			require.NoError(t, q.Check())
			var exact int64
			for r := q.head; r != 0; r = q.next(r) {
				n := q.load(r)
				exact += int64(arena.ClassSize(n.size) + headerSize)
			}
			require.Less(t, q.Size(), exact+exact/2)
		})
	}
}
