package object

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/intset"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
)

// setHeap returns a heap with limits for sets: intset entries, listpack entries and value.
func setHeap(t testing.TB, seed uint64, limits ...int) *Heap {
	a := arena.New()
	t.Cleanup(func() {
		if !t.Failed() { // what a failing test leaves behind is no news
			a.Close()
		}
	})
	l := &Limits{SetMaxIntsetEntries: 512, SetMaxListpackEntries: 128, SetMaxListpackValue: 64}
	if len(limits) > 0 {
		l.SetMaxIntsetEntries, l.SetMaxListpackEntries, l.SetMaxListpackValue = limits[0],
			limits[1], limits[2]
	}
	return NewHeap(a, maphash.MakeSeed(), rand.New(rand.NewPCG(seed, 1)), l)
}

func newSet(h *Heap, members ...string) Members {
	s := AsSet(NewDetached(h, Set, EncIntset, intset.Empty()))
	for _, m := range members {
		s.Add([]byte(m))
	}
	return s
}

func memberText(v listpack.Value) string { return string(v.Append(nil)) }

// members lists the set, each member as often as Each gives it.
func (s Members) members() []string {
	var out []string
	s.Each(func(v listpack.Value) bool {
		out = append(out, memberText(v))
		return true
	})
	slices.Sort(out)
	return out
}

// check compares the set with the members that it should have, and checks the rules of its
// encoding.
func (s Members) check(t *testing.T, want map[string]bool) {
	t.Helper()
	got := s.members()
	require.Equal(t, len(want), s.Len())
	require.Len(t, got, len(want))
	longest, ints := 0, true
	for _, m := range got {
		require.True(t, want[m], "%q should not be there", m)
		longest = max(longest, len(m))
		_, ok := ParseInt([]byte(m))
		ints = ints && ok
	}
	l := s.H.Lim
	switch s.Base() {
	case EncIntset:
		require.True(t, ints && len(got) <= l.SetMaxIntsetEntries)
		if len(got) > 0 {
			require.NoError(t, intset.Validate(s.Bytes()))
		}
	case EncListpack:
		require.True(t, len(got) <= l.SetMaxListpackEntries && longest <= l.SetMaxListpackValue)
		require.NoError(t, listpack.Validate(s.Bytes()))
	default:
		tab := s.table()
		require.NoError(t, tab.d.Check())
		bytes := int64(0)
		for _, m := range got {
			bytes += int64(arena.ClassSize(memberSize(len(m))))
		}
		require.Equal(t, bytes+tab.d.TableBytes(), tab.Size())
	}
}

var setLimits = [][]int{{512, 128, 64}, {0, 0, 0}, {3, 0, 4}, {0, 5, 4}, {4, 6, 3}, {2, 9, 64},
	{40, 20, 5}}

// randomMember returns one of few members, of all kinds: small and wide integers, almost integers,
// strings around the usual limits.
func randomMember(rng *rand.Rand) string {
	switch n := rng.IntN(60); rng.IntN(8) {
	case 0, 1, 2, 3:
		return strconv.Itoa(n - 30)
	case 4:
		return strconv.FormatInt(int64(n)<<(n%58), 10)
	case 5:
		return "0" + strconv.Itoa(n)
	case 6:
		return strings.Repeat("x", n+40)
	default:
		return fmt.Sprintf("m%d", n)
	}
}

func TestSetModel(t *testing.T) {
	for i, limits := range setLimits {
		for seed := range uint64(6) {
			h := setHeap(t, seed, limits...)
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			s, model := newSet(h), map[string]bool{}
			for op := range 400 {
				m := randomMember(rng)
				switch grow := op/100%2 == 0; {
				case rng.IntN(4) == 0:
					require.Equal(t, model[m], s.Has([]byte(m)), "seed %d op %d", seed, op)
				case grow == (rng.IntN(4) > 0):
					require.Equal(t, !model[m], s.Add([]byte(m)), "seed %d op %d: add %q", seed, op,
						m)
					model[m] = true
				default:
					require.Equal(t, model[m], s.Remove([]byte(m)), "seed %d op %d: remove %q",
						seed, op, m)
					delete(model, m)
				}
				if op%7 == 0 {
					s.check(t, model)
				}
				if op%50 == 0 {
					s = cloned(s)
				}
			}
			s.check(t, model)
			s.Discard()
			require.Zero(t, h.A.Used())
			require.Zero(t, h.LargeCount())
		}
	}
}

// cloned puts a deep copy in the place of the set, as COPY makes it.
func cloned(s Members) Members {
	v := s.E.Value().Clone(s.H)
	c := Build(s.H.A, nil, &v, Meta{})
	s.Discard()
	return AsSet(&Edit{H: s.H, E: c, slot: unplaced{}})
}

// TestSetEncodings compares encodings with what Redis 7.2 makes of sets at the borders of its
// limits.
func TestSetEncodings(t *testing.T) {
	count := func(n int, format string) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(format, i))
		}
		return out
	}
	for _, tc := range []struct {
		limits  []int
		reserve int
		members []string
		want    Encoding
	}{
		{nil, 0, count(512, "%d"), EncIntset},
		{nil, 0, count(513, "%d"), EncHashtable},
		{nil, 0, append(count(127, "%d"), "x"), EncListpack},
		{nil, 0, append(count(128, "%d"), "x"), EncHashtable},
		{nil, 0, count(128, "m%d"), EncListpack},
		{nil, 0, count(129, "m%d"), EncHashtable},
		{nil, 0, []string{strings.Repeat("x", 64)}, EncListpack},
		{nil, 0, []string{strings.Repeat("x", 65)}, EncHashtable},
		{nil, 512, []string{"1"}, EncIntset},
		{nil, 513, []string{"1"}, EncHashtable},
		{nil, 128, []string{"1", "x"}, EncListpack},
		{[]int{512, 128, 4}, 0, []string{"-1000", "x"}, EncHashtable},
		{[]int{512, 128, 5}, 0, []string{"-1000", "x"}, EncListpack},
		{[]int{0, 0, 64}, 0, []string{"1"}, EncHashtable},
		{[]int{2, 128, 64}, 0, []string{"1", "2", "3"}, EncHashtable},
		{[]int{2, 128, 64}, 0, []string{"x", "2", "3", "4"}, EncListpack},
	} {
		s := newSet(setHeap(t, 1, append(tc.limits, nil...)...))
		s.Reserve(tc.reserve)
		for _, m := range tc.members {
			s.Add([]byte(m))
		}
		require.Equal(t, tc.want, s.Base(), "%v %d %.3q (%d)", tc.limits, tc.reserve, tc.members,
			len(tc.members))
		s.Discard()
	}
}

func TestNewSetEncoding(t *testing.T) {
	h := setHeap(t, 1)
	for _, tc := range []struct {
		first string
		n     int
		want  Encoding
	}{{"1", 512, EncIntset}, {"1", 513, EncHashtable}, {"x", 128, EncListpack},
		{"x", 129, EncHashtable}, {"01", 1, EncListpack}} {
		kind, packed := NewSetEncoding(h.Lim, []byte(tc.first), tc.n)
		s := AsSet(NewDetached(h, Set, kind, packed))
		s.Reserve(tc.n)
		require.Equal(t, tc.want, s.Base(), "%s %d", tc.first, tc.n)
		s.Discard()
	}
}

func TestToIntset(t *testing.T) {
	for _, tc := range []struct {
		limits  []int
		members []string
		want    Encoding
	}{
		{nil, []string{"5", "-7", "70000"}, EncIntset},
		{nil, []string{"5", "x"}, EncListpack},
		{nil, []string{"5", strings.Repeat("x", 70)}, EncHashtable},
		{[]int{2, 0, 0}, []string{"5", "6"}, EncIntset},
		{[]int{1, 0, 0}, []string{"5", "6"}, EncHashtable},
	} {
		h := setHeap(t, 1, tc.limits...)
		x := NewDetached(h, Set, EncListpack, listpack.Empty())
		s, want := AsSet(x), map[string]bool{}
		for _, m := range tc.members {
			s.Add([]byte(m))
			want[m] = true
		}
		s.ToIntset()
		require.Equal(t, tc.want, s.Base(), "%v", tc.members)
		s.check(t, want)
		s.Discard()
	}
}

// TestSetOps compares unions, intersections and differences with sets of Go. It takes sets of all
// encodings and sizes, some of them the same one.
func TestSetOps(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 2))
		h := setHeap(t, seed, setLimits[rng.IntN(len(setLimits))]...)
		var sets, owned []Members
		var models []map[string]bool
		for range 1 + rng.IntN(6)*(1+rng.IntN(3)) {
			if len(sets) > 0 && rng.IntN(6) == 0 {
				i := rng.IntN(len(sets))
				same := *sets[i].Edit
				sets, models = append(sets, AsSet(&same)), append(models, models[i])
				continue
			}
			s, model := newSet(h), map[string]bool{}
			for range rng.IntN(200) {
				m := randomMember(rng)
				s.Add([]byte(m))
				model[m] = true
			}
			sets, owned, models = append(sets, s), append(owned, s), append(models, model)
		}
		compareOps(t, seed, sets, models)
		for i, s := range sets {
			s.check(t, models[i])
		}
		for _, s := range owned {
			s.Discard()
		}
		require.Zero(t, h.A.Used(), "seed %d", seed)
	}
}

func compareOps(t *testing.T, seed uint64, sets []Members, models []map[string]bool) {
	all := map[string]int{}
	for _, m := range models {
		for k := range m {
			all[k]++
		}
	}
	want := map[string][]string{"union": {}, "inter": {}, "diff": {}}
	for k, n := range all {
		want["union"] = append(want["union"], k)
		if n == len(models) {
			want["inter"] = append(want["inter"], k)
		}
		if n == 1 && models[0][k] {
			want["diff"] = append(want["diff"], k)
		}
	}
	for name, op := range map[string]func([]Members, func(listpack.Value) bool){"union": Union,
		"inter": Inter, "diff": Diff} {
		got := []string{}
		op(sets, func(v listpack.Value) bool {
			got = append(got, memberText(v))
			return true
		})
		slices.Sort(got)
		slices.Sort(want[name])
		require.Equal(t, want[name], got, "seed %d: %s of %d sets", seed, name, len(sets))
		for stop := range min(len(got), 3) {
			n := 0
			op(sets, func(listpack.Value) bool {
				n++
				return n <= stop
			})
			require.Equal(t, stop+1, n, "seed %d: %s goes on after it was stopped", seed, name)
		}
	}
}

// TestSetScan checks that a scan returns whatever is in the set from its beginning to its end,
// while others come and go in such numbers that the table grows and shrinks.
func TestSetScan(t *testing.T) {
	for seed := range uint64(20) {
		h := setHeap(t, seed, 0, 0, 0)
		rng := rand.New(rand.NewPCG(seed, 3))
		s := newSet(h)
		stay := map[string]bool{}
		for i := range 300 {
			m := fmt.Sprint("stay", i)
			s.Add([]byte(m))
			stay[m] = true
		}
		churn, next := []string{}, 0
		for cursor, step := uint64(0), 0; ; step++ {
			cursor = s.Scan(cursor, func(m []byte) { delete(stay, string(m)) })
			if cursor == 0 {
				break
			}
			grow := step/30%2 == 0
			for range rng.IntN(120) {
				if grow {
					churn = append(churn, fmt.Sprint("churn", next))
					s.Add([]byte(churn[len(churn)-1]))
					next++
				} else if n := len(churn); n > 0 {
					i := rng.IntN(n)
					require.True(t, s.Remove([]byte(churn[i])))
					churn[i] = churn[n-1]
					churn = churn[:n-1]
				}
			}
		}
		require.Empty(t, stay, "seed %d", seed)
		s.Discard()
	}
}

func TestSetAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	for _, limits := range [][]int{{512, 128, 64}, {0, 0, 0}} {
		h := setHeap(t, 1, limits...)
		s := newSet(h)
		m, n := []byte("member:0000042"), []byte("12345")
		for i := range 100 {
			s.Add(strconv.AppendInt(nil, int64(i), 10))
		}
		s.Add([]byte("x"))
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for _, b := range [][]byte{m, n} {
				if !s.Add(b) || !s.Has(b) || !s.Remove(b) {
					t.Error("not added")
				}
			}
			s.Random()
		}), "%v", limits)
		s.Discard()
	}
}
