package stream

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// referenceModel is a stream whose groups have random entries pending, some of which are not in it.
type referenceModel struct {
	t       *testing.T
	rng     *rand.Rand
	s       *Stream
	entries []uint64                   // times of IDs, ascending
	pending map[*Group]map[uint64]bool // by the time of the ID
}

func newReferenceModel(t *testing.T, rng *rand.Rand) *referenceModel {
	m := &referenceModel{t: t, rng: rng, s: New(&Shared{A: arena.New()}),
		pending: map[*Group]map[uint64]bool{}}
	n := uint64(1 + rng.IntN(600))
	for ms := uint64(1); ms <= n; ms++ {
		m.s.Append(ID{Ms: ms}, [][]byte{[]byte("f"), []byte("v")}, Limits{NodeEntries: 20})
		m.entries = append(m.entries, ms)
	}
	for i := range rng.IntN(40) {
		last := n
		if rng.IntN(3) == 0 {
			last = rng.Uint64N(n + 1)
		}
		g := m.s.CreateGroup(fmt.Append(nil, i), ID{Ms: last}, ReadUnknown)
		c := g.CreateConsumer([]byte("c"), 1)
		m.pending[g] = map[uint64]bool{}
		for range rng.IntN(1 + int(n)/(1+rng.IntN(50))) {
			ms := 1 + rng.Uint64N(n)
			m.pending[g][ms] = true
			g.Set(Pending{ID: ID{Ms: ms}, Owner: c, Time: 1, Count: 1})
		}
	}
	for range rng.IntN(20) {
		m.delete(1 + rng.Uint64N(n))
	}
	return m
}

func (m *referenceModel) delete(ms uint64) {
	i, ok := slices.BinarySearch(m.entries, ms)
	require.Equal(m.t, ok, m.s.Delete(ID{Ms: ms}))
	if ok {
		m.entries = slices.Delete(m.entries, i, i+1)
	}
}

// held reports whether a group needs the entry.
func (m *referenceModel) held(ms uint64) bool {
	for g, p := range m.pending {
		if p[ms] || g.LastID.Less(ID{Ms: ms}) {
			return true
		}
	}
	return false
}

// drop takes the entry out of what groups have pending.
func (m *referenceModel) drop(ms uint64) (dropped bool) {
	for _, p := range m.pending {
		dropped = p[ms] || dropped
		delete(p, ms)
	}
	return dropped
}

// trim trims the stream and the model to a length.
func (m *referenceModel) trim(refs Refs, length int) {
	left := []uint64{}
	for i, ms := range m.entries {
		if len(left)+len(m.entries)-i <= length || refs == RefsHold && m.held(ms) {
			left = append(left, ms)
		} else if refs == RefsDrop {
			m.drop(ms)
		}
	}
	removed := m.s.Trim(Trim{MaxLen: length, Refs: refs})
	require.Equal(m.t, len(m.entries)-len(left), removed)
	m.entries = left
}

// walk asks for ascending IDs, drops some of them, and acknowledges others meanwhile.
func (m *referenceModel) walk() {
	refs := m.s.References()
	defer refs.Done()
	for ms := uint64(1); ms < 650; ms += uint64(m.rng.IntN(1 + m.rng.IntN(60))) {
		for g, p := range m.pending {
			if near := ms + uint64(m.rng.IntN(3)); m.rng.IntN(4) == 0 {
				require.Equal(m.t, p[near], g.Ack(ID{Ms: near}))
				delete(p, near)
			}
		}
		if m.rng.IntN(2) == 0 {
			require.Equal(m.t, m.held(ms), refs.Hold(ID{Ms: ms}), ms)
		} else {
			require.Equal(m.t, m.drop(ms), refs.Drop(ID{Ms: ms}, nil), ms)
		}
	}
}

func (m *referenceModel) check() {
	require.NoError(m.t, m.s.Check())
	left := []uint64{}
	for it := m.s.Range(ID{}, MaxID, false); it.Next(); {
		left = append(left, it.ID.Ms)
	}
	require.Equal(m.t, m.entries, left)
	for g, p := range m.pending {
		require.Equal(m.t, len(p), g.Pending())
		for it := g.Range(ID{}, MaxID); it.Next(); {
			require.True(m.t, p[it.ID.Ms])
		}
	}
}

// change does to the stream what may change which entries groups need.
func (m *referenceModel) change() {
	for g, p := range m.pending {
		switch m.rng.IntN(30) {
		case 0:
			m.s.DestroyGroup(g)
			require.True(m.t, g.Drain(math.MaxInt))
			delete(m.pending, g)
			continue
		case 1:
			c := g.Consumers()[0]
			g.DeleteConsumer(c)
			require.True(m.t, c.Drain(math.MaxInt))
			g.CreateConsumer([]byte("c"), 1)
			clear(p)
		case 2:
			g.LastID.Ms = m.rng.Uint64N(m.s.LastID.Ms + 1)
		}
		for range m.rng.IntN(4) {
			ms := 1 + m.rng.Uint64N(m.s.LastID.Ms)
			if m.rng.IntN(2) == 0 {
				require.Equal(m.t, p[ms], g.Ack(ID{Ms: ms}))
				delete(p, ms)
			} else {
				g.Set(Pending{ID: ID{Ms: ms}, Owner: g.Consumers()[0], Time: 1, Count: 1})
				p[ms] = true
			}
		}
	}
	if m.rng.IntN(3) == 0 && len(m.entries) > 0 { // as XDEL and XSETID
		m.delete(m.entries[len(m.entries)-1])
		m.s.LastID = m.s.Last()
	}
	for range m.rng.IntN(50) {
		ms := m.s.LastID.Ms + 1 + m.rng.Uint64N(3)
		m.s.Append(ID{Ms: ms}, [][]byte{[]byte("f"), []byte("v")}, Limits{NodeEntries: 20})
		m.entries = append(m.entries, ms)
	}
	if len(m.entries) > 0 {
		m.delete(m.entries[m.rng.IntN(len(m.entries))])
	}
}

// TestReferences trims streams and walks what groups have pending, beside a model.
func TestReferences(t *testing.T) {
	rng := testseed.Rand(t)
	for range 200 {
		m := newReferenceModel(t, rng)
		for range 15 {
			switch m.rng.IntN(8) {
			case 0:
				m.walk()
			case 1:
				m.trim(RefsStay, max(len(m.entries)-m.rng.IntN(9), 0))
			case 2:
				m.trim(RefsDrop, m.rng.IntN(len(m.entries)+1))
			case 3, 4:
				m.change()
			default:
				m.trim(RefsHold, m.rng.IntN(len(m.entries)+1))
			}
			m.check()
		}
		require.True(t, m.s.Drain(math.MaxInt))
		m.s.sh.A.Close()
	}
}

// TestHeldIsPassedOnce acknowledges entries, some of which are deleted, between trimmings: none
// looks again at what the one before has looked at.
func TestHeldIsPassedOnce(t *testing.T) {
	sh := &Shared{A: arena.New()}
	s := New(sh)
	defer func() {
		require.True(t, s.Drain(math.MaxInt))
		sh.A.Close()
	}()
	g := s.CreateGroup([]byte("g"), MaxID, ReadUnknown)
	c := g.CreateConsumer([]byte("c"), 1)
	for ms := uint64(1); ms <= 5000; ms++ {
		s.Append(ID{Ms: ms}, [][]byte{[]byte("f"), []byte("v")}, Limits{NodeEntries: 100})
		g.Set(Pending{ID: ID{Ms: ms}, Owner: c, Time: 1, Count: 1})
	}
	trim := func() int { return s.Trim(Trim{MaxLen: 10, Refs: RefsHold}) }
	require.Zero(t, trim())
	for ms := uint64(1); ms < 4000; ms += 399 {
		for _, deleted := range []bool{true, false} {
			id := ID{Ms: ms}
			require.True(t, g.Ack(id))
			if deleted {
				require.True(t, s.Delete(id))
				require.Zero(t, trim())
			} else {
				require.Equal(t, 1, trim())
			}
			require.Zero(t, s.held.n)
			require.Equal(t, ID{Ms: 5000}, s.held.to)
			ms++
		}
	}
}

// BenchmarkTrimHeld trims a stream of 5,000 entries of which each is pending in one of the groups.
func BenchmarkTrimHeld(b *testing.B) {
	for _, groups := range []int{1, 10, 100, 1000} {
		s := New(&Shared{A: arena.New()})
		for i := range groups {
			s.CreateGroup(fmt.Append(nil, i), MaxID, ReadUnknown).CreateConsumer([]byte("c"), 1)
		}
		for ms := uint64(1); ms <= 5000; ms++ {
			s.Append(ID{Ms: ms}, [][]byte{[]byte("f"), []byte("v")}, Limits{NodeEntries: 100})
			g := s.Groups()[rand.IntN(groups)]
			g.Set(Pending{ID: ID{Ms: ms}, Owner: g.Consumers()[0], Time: 1, Count: 1})
		}
		for _, what := range []string{"first", "again", "acknowledged"} {
			b.Run(fmt.Sprintf("groups=%d/%s", groups, what), func(b *testing.B) {
				for b.Loop() {
					switch what {
					case "first":
						s.forgetHeld()
					case "acknowledged": // and pending again, at both ends
						for _, ms := range []uint64{7, 4990} {
							id := ID{Ms: ms}
							g := s.Groups()[0]
							g.Ack(id)
							g.Set(Pending{ID: id, Owner: g.Consumers()[0], Time: 1, Count: 1})
						}
					}
					s.Trim(Trim{MaxLen: 10, Refs: RefsHold})
				}
			})
		}
	}
}
