package lua

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/bytecode"
)

// testBudget returns a budget with a bound of 1000 bytes. live is what a measure says.
func testBudget(live *int) (b *Budget, measures *int) {
	b, measures = &Budget{}, new(int)
	b.init(func() int {
		*measures++
		return *live
	})
	b.Bound = 1000
	b.Begin()
	return b, measures
}

// TestGarbageIsFree checks that what is not reachable does not count, and how often it is measured.
func TestGarbageIsFree(t *testing.T) {
	live := 0
	b, measures := testBudget(&live)
	for range 10000 {
		require.NoError(t, b.Grow(10))
	}
	require.InDelta(t, 100, *measures, 2, "after each 1000 bytes")
	live, *measures = 900, 0
	for range 10000 {
		require.NoError(t, b.Grow(10))
	}
	require.InDelta(t, 10000/13, *measures, 2, "after each eighth of the bound")
}

// TestBoundHolds checks that what is reachable is never far above the bound.
func TestBoundHolds(t *testing.T) {
	for _, step := range []int{1, 7, 300} {
		live := 0
		b, _ := testBudget(&live)
		for b.Grow(step) == nil {
			live += step
		}
		require.Greater(t, live, 1000-step)
		require.LessOrEqual(t, live, 1000+1000/8)
	}
	live := 0
	b, measures := testBudget(&live)
	require.Equal(t, ErrMemory, b.Grow(1001))
	require.Zero(t, *measures)
}

// TestEnd checks that everything fails once a run has ended, and that the next run is a new one.
func TestEnd(t *testing.T) {
	live := 0
	b, measures := testBudget(&live)
	killed := errors.New("killed")
	b.Interrupt = func() error { return nil }
	require.NoError(t, b.Spend(lookEvery-1))
	require.Equal(t, 1, b.Left)
	require.NoError(t, b.Spend(1), "go on")
	require.Equal(t, lookEvery, b.Left)

	b.Interrupt = func() error { return killed }
	require.NoError(t, b.Spend(lookEvery-1))
	require.Equal(t, killed, b.Spend(1))
	for range 3 {
		require.Equal(t, killed, b.Spend(1))
		require.Equal(t, killed, b.Look())
		require.Equal(t, killed, b.Grow(1))
		require.Equal(t, killed, b.Ended())
		require.Equal(t, killed, b.End(ErrMemory), "the first reason stays")
	}
	*measures, b.Interrupt = 0, nil
	b.Begin()
	require.NoError(t, b.Ended())
	require.NoError(t, b.Grow(1))
	require.Equal(t, 1, *measures, "nobody knows what the last run has left")
	live = 2000
	require.NoError(t, b.Grow(900))
	require.Equal(t, ErrMemory, b.Grow(900))
	require.Equal(t, ErrMemory, b.Look())
}

// TestBoundOfRuns checks that what runs leave behind adds up.
func TestBoundOfRuns(t *testing.T) {
	live := 0
	b, _ := testBudget(&live)
	for run := 0; ; run++ {
		require.Less(t, run, 20)
		b.Begin()
		if b.Grow(100) != nil {
			break
		}
		live += 100
	}
	require.Equal(t, 1000, live)
}

// TestFullIsNoDeadEnd checks that a run can free what others have left, and that this room does not
// add up.
func TestFullIsNoDeadEnd(t *testing.T) {
	const bound = 64 << 20
	for _, left := range []int{bound - 100, bound, bound + bound/8} {
		live := left
		b, measures := testBudget(&live)
		b.Bound = bound
		b.Begin()
		require.Equal(t, ErrMemory, b.Grow(1000))
		for range 10 {
			b.Begin()
			require.NoError(t, b.Grow(leastRoom))
			require.Equal(t, ErrMemory, b.Grow(1000))
		}
		for range 10000 {
			if b.Begin(); b.Grow(leastRoom) == nil {
				live += leastRoom
			}
		}
		require.LessOrEqual(t, live, bound+bound/4+2*leastRoom)
		live, *measures = 0, 0
		b.Begin()
		require.NoError(t, b.Grow(bound/2))
		require.NoError(t, b.Grow(bound/2))
		require.Equal(t, 1, *measures)
	}
}

// TestFillingTakesTime checks that memory is charged as steps.
func TestFillingTakesTime(t *testing.T) {
	live := 0
	b, _ := testBudget(&live)
	b.Bound = 1 << 30
	b.Begin()
	require.NoError(t, b.Grow(1), "a measure")
	require.NoError(t, b.Look())
	require.NoError(t, b.Grow(100*bytesPerStep))
	require.Equal(t, lookEvery-100, b.Left)
}

// TestCollects checks how much garbage there may be.
func TestCollects(t *testing.T) {
	live := 100
	b, _ := testBudget(&live)
	most := 0
	b.Collect = func(n int) { most = n }
	require.NoError(t, b.Grow(100))
	require.Equal(t, 800, b.room)
	require.Equal(t, 1250, most+live+100+b.room)
}

// TestSweeps checks that runs that have allocated much are swept up behind, however they end.
func TestSweeps(t *testing.T) {
	live, sweeps := 0, 0
	b, _ := testBudget(&live)
	b.Sweep = func() { sweeps++ }
	for range 10 {
		sweeps = 0
		for _, n := range []int{1, 200, 300, 900, 2000} {
			b.Begin()
			for range n / 10 {
				_ = b.Grow(10) // the last one fails
			}
			b.finish()
		}
		require.Equal(t, 3, sweeps)
		for _, err := range []error{ErrMemory, errors.New("killed")} {
			b.Begin()
			_ = b.Grow(300)
			require.Equal(t, err, b.End(err))
			b.finish()
		}
		require.Equal(t, 5, sweeps)
	}
}

// TestTableGrowth checks that a table that may not grow stays as it was.
func TestTableGrowth(t *testing.T) {
	s := NewState()
	s.Bound = 100 << 10
	s.Begin()
	for _, key := range []func(i int) Value{
		Int,
		func(i int) Value { return Number(float64(i) + 0.5) },
		func(i int) Value { return String(fmt.Sprint("a key that is long enough to count ", i)) },
	} {
		s.Begin()
		tab := NewTable(0, 0)
		s.Globals.SetString("t", TableValue(tab))
		n := 0
		for tab.set(key(n+1), Int(n), &s.Budget) == nil {
			n++
		}
		require.NoError(t, tab.check())
		require.Equal(t, ErrMemory, s.Ended())
		require.Greater(t, n, 500)
		require.LessOrEqual(t, tab.Bytes(), s.Bound)
		for i := range n {
			require.Equal(t, float64(i), tab.Get(key(i+1)).Num())
		}
		require.True(t, tab.Get(key(n+1)).IsNil())
	}
	tab := NewTable(0, 0)
	require.NoError(t, tab.reserveArray(10, nil))
	require.Equal(t, errOverflow, tab.reserveArray(1<<maxBits+1, nil))
	require.Equal(t, ErrMemory, tab.reserveArray(1<<maxBits, &s.Budget))
	require.Len(t, tab.array, 10)
}

// grown returns by how much s.Live grows when v becomes reachable.
func grown(s *State, v Value) int {
	s.Globals.SetString("v", False)
	before := s.Live()
	s.Globals.SetString("v", v)
	return s.Live() - before
}

// TestLive checks what is counted.
func TestLive(t *testing.T) {
	s := NewState()
	long := String(strings.Repeat("x", 1000))
	list := NewTable(10, 0)
	for i := range 5 {
		list.SetInt(i+1, long)
	}
	list.SetInt(6, TableValue(list))
	closure := &Closure{fn: &Function{proto: &bytecode.Proto{}, named: true}, env: s.Globals}
	closure.upvalues = []*Upvalue{{own: long}}
	closure.upvalues[0].at = &closure.upvalues[0].own
	keyed := NewTable(0, 2)
	require.NoError(t, keyed.set(TableValue(NewTable(3, 0)), True, nil))
	keyed.Metatable = NewTable(1, 0)
	co := s.newThread(500)
	co.stack[0], co.top, co.high = long, 1, 2
	co.stack[1] = String(strings.Repeat("stale", 1000))
	for _, c := range []struct {
		name string
		v    Value
		want int
	}{
		{"number", Int(1), 0},
		{"string", long, 1008},
		{"empty string", String(""), 0},
		{"table that refers to itself", TableValue(list), 64 + 160 + 1008},
		{"keys and metatable", TableValue(keyed), 64 + 80 + 64 + 48 + 64 + 16},
		{"closure", ClosureValue(closure), closureBytes + upvalueBytes + functionBytes + 1008},
		{"thread", ThreadValue(co), threadBytes + 500*16 + startFrames*frameBytes + 1008},
		{"function of Go", NativeValue(&Native{}), nativeBytes},
		{"what it holds", NativeValue(&Native{Holds: []Value{long, long}}), nativeBytes + 1008},
	} {
		require.Equal(t, c.want, grown(s, c.v), c.name)
	}
	require.True(t, co.stack[1].IsNil(), "nothing reads it")
	sealed := NewTable(10, 2)
	sealed.SetString("keys", TableValue(NewTable(2, 0)))
	sealed.SetString("function", NativeValue(&Native{}))
	sealed.ReadOnly = true
	require.Equal(t, 64+2*16, grown(s, TableValue(sealed)), "but for the keys it is the host's")

	s.Globals.SetString("v", False)
	before := s.Live()
	s.Roots = func(visit func(Value)) { visit(long); visit(long) }
	s.Held = 77
	require.Equal(t, before+1008+77, s.Live())
}

// TestLiveForgets checks that removed keys do not count.
func TestLiveForgets(t *testing.T) {
	s := NewState()
	tab := NewTable(0, 8)
	s.Globals.SetString("t", TableValue(tab))
	before := s.Live()
	key := String(strings.Repeat("k", 5000))
	short := String(key.Str()[:10])
	require.NoError(t, tab.set(short, True, nil))
	require.NoError(t, tab.set(key, True, nil))
	require.Equal(t, before+16+5008, s.Live(), "one begins where the other does")
	require.NoError(t, tab.set(short, Nil, nil))
	require.NoError(t, tab.set(key, Nil, nil))
	require.Equal(t, before, s.Live())
	for i := range tab.nodes {
		require.Zero(t, tab.nodes[i].key.address())
	}
	_, _, err := tab.Next(String(strings.Clone(key.Str())))
	require.NoError(t, err, "it may be where a traversal is")
	_, _, err = tab.Next(String(key.Str()[1:]))
	require.EqualError(t, err, "invalid key to 'next'")
}

// TestWeakTables checks that a measure removes from weak tables what nothing else refers to.
func TestWeakTables(t *testing.T) {
	for mode, want := range map[string]string{
		"":   "k1v1 k1v2 k2v1 k2v2 1v2 snum f",
		"k":  "k1v1 k1v2 1v2 snum f",
		"v":  "k1v1 k2v1 snum f",
		"kv": "k1v1 snum f",
		"x":  "k1v1 k1v2 k2v1 k2v2 1v2 snum f",
	} {
		s := NewState()
		kept, weak := NewTable(0, 0), NewTable(1, 0)
		s.Globals.SetString("weak", TableValue(weak))
		s.Globals.SetString("kept", TableValue(kept))
		weak.Metatable = NewTable(0, 0)
		weak.Metatable.SetString("__mode", String(mode))
		object := func(keep bool) Value {
			v := TableValue(NewTable(0, 0))
			if keep {
				kept.SetInt(kept.Len()+1, v)
			}
			return v
		}
		names := map[Value]string{}
		for _, k := range []string{"k1", "k2"} {
			for _, v := range []string{"v1", "v2"} {
				key, value := object(k == "k1"), object(v == "v1")
				names[key] = k + v
				require.NoError(t, weak.set(key, value, nil))
			}
		}
		weak.SetInt(1, object(false))
		weak.SetString("s", String("num"))
		library, native := NewTable(0, 0), NativeValue(&Native{})
		library.SetString("f", native)
		library.ReadOnly = true
		kept.SetString("library", TableValue(library))
		require.NoError(t, weak.set(native, native, nil))
		s.Live()
		var got []string
		for _, name := range strings.Fields("k1v1 k1v2 k2v1 k2v2 1v2 snum f") {
			weak.Each(func(k, v Value) bool {
				is := names[k]
				if k.IsNumber() {
					is = "1v2"
				} else if k.IsString() {
					is = "snum"
				} else if k.Native() != nil {
					is = "f"
				}
				if is == name {
					got = append(got, name)
				}
				return true
			})
		}
		require.Equal(t, want, strings.Join(got, " "), "mode %q", mode)
		require.NoError(t, weak.check())
	}
}

// TestLiveIsIterative checks a list that is too long for recursion.
func TestLiveIsIterative(t *testing.T) {
	s := NewState()
	head := Nil
	const n = 300000
	for range n {
		tab := NewTable(1, 0)
		tab.SetInt(1, head)
		head = TableValue(tab)
	}
	require.Equal(t, n*(64+16), grown(s, head))
}

func BenchmarkLive(b *testing.B) {
	s := NewState()
	list := NewTable(100000, 0)
	for i := range 100000 {
		tab := NewTable(0, 2)
		tab.SetString("name", String(fmt.Sprintf("object number %d", i)))
		tab.SetString("n", Int(i))
		list.SetInt(i+1, TableValue(tab))
	}
	s.Globals.SetString("list", TableValue(list))
	for b.Loop() {
		b.SetBytes(int64(s.Live()))
	}
}
