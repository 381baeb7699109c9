package lua

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// modelKeys are keys of all kinds, in pairs that are equal but not the same.
func modelKeys() (keys, again []Value) {
	add := func(v, w Value) { keys, again = append(keys, v), append(again, w) }
	for i := range 200 {
		add(Int(i-20), Int(i-20))
		add(Number(float64(i)*0.37), Number(float64(i)*0.37))
		add(Number(math.Ldexp(1, i-100)), Number(math.Ldexp(1, i-100)))
		s := fmt.Sprintf("%*d", i, i)
		add(String(s), String(("x" + s)[1:]))
		tab := TableValue(NewTable(0, 0))
		add(tab, tab)
		f := NativeValue(&Native{})
		add(f, f)
	}
	add(True, Value{p: keys[4].p, n: bitsTrue}) // a register may hold a pointer beside it
	add(False, False)
	add(Number(math.Inf(1)), Number(math.Inf(1)))
	return keys, again
}

// modelKey returns what stands for a key in a map of Go.
func modelKey(k Value) any {
	switch {
	case k.IsNumber():
		return k.Num() // 0 and -0 are equal
	case k.IsString():
		return k.Str()
	case k.n <= bitsTrue:
		return k.Truthy()
	}
	return k.address()
}

// TestTableModel compares a table with a map.
func TestTableModel(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	keys, again := modelKeys()
	for round := range 20 {
		tab, model := NewTable(r.IntN(20), r.IntN(20)), map[any]int{}
		some := 1 + r.IntN(len(keys))
		for range 1500 {
			i := r.IntN(some)
			if n := r.IntN(1000); n < 600 {
				require.NoError(t, tab.set(keys[i], Int(n), nil))
				model[modelKey(keys[i])] = n
			} else {
				require.NoError(t, tab.set(again[i], Nil, nil))
				delete(model, modelKey(keys[i]))
			}
		}
		require.NoError(t, tab.check(), "seed %d, round %d", seed, round)
		for i := range keys {
			want, ok := model[modelKey(keys[i])]
			got := tab.Get(again[i])
			require.Equal(t, ok, !got.IsNil(), "seed %d, key %d", seed, i)
			require.Equal(t, ok, !tab.Get(keys[i]).IsNil())
			if ok {
				require.Equal(t, float64(want), got.Num(), "seed %d, key %d", seed, i)
			}
		}
		n := 0
		tab.Each(func(k, v Value) bool {
			require.Equal(t, float64(model[modelKey(k)]), v.Num())
			n++
			return true
		})
		require.Equal(t, len(model), n, "seed %d, round %d", seed, round)
	}
}

// TestTableKeys checks keys that are alike.
func TestTableKeys(t *testing.T) {
	tab := NewTable(0, 0)
	tab.SetString("1", Int(1))
	tab.SetInt(1, Int(2))
	require.NoError(t, tab.set(Number(math.Copysign(0, -1)), Int(3), nil))
	require.NoError(t, tab.set(True, Int(4), nil))
	require.Equal(t, 1.0, tab.GetString("1").Num())
	require.Equal(t, 2.0, tab.GetInt(1).Num())
	require.Equal(t, 2.0, tab.Get(Number(1)).Num())
	require.Equal(t, 3.0, tab.Get(Number(0)).Num())
	require.Equal(t, 3.0, tab.GetInt(0).Num())
	require.Equal(t, 4.0, tab.Get(True).Num())
	require.True(t, tab.Get(False).IsNil())
	require.True(t, tab.Get(Nil).IsNil())
	require.True(t, tab.Get(Number(math.NaN())).IsNil())
	require.Equal(t, "table index is nil", badKey(Nil))
	require.Equal(t, "table index is NaN", badKey(Number(math.NaN())))
	require.Empty(t, badKey(Number(math.Inf(-1))))
	_, _, err := tab.Next(Number(math.NaN()))
	require.EqualError(t, err, "invalid key to 'next'")
}

// TestTableLets checks that numbers do not keep alive what was in their place before.
func TestTableLets(t *testing.T) {
	tab := NewTable(1, 1)
	for _, k := range []Value{Int(1), String("k")} {
		v := TableValue(NewTable(0, 0))
		require.NoError(t, tab.set(k, v, nil))
		v.n = numberBits(7) // as in a register
		require.NoError(t, tab.set(k, v, nil))
		require.Zero(t, tab.find(k).address())
	}
	k := String("key")
	k.n = numberBits(0.5)
	require.NoError(t, tab.set(k, True, nil))
	key, _, err := tab.Next(String("k"))
	if key.IsNil() {
		key, _, err = tab.Next(Int(1))
	}
	require.NoError(t, err)
	require.Equal(t, 0.5, key.Num())
	require.Zero(t, key.address())
}

// TestTableForgets checks that objects which were keys are let go, and are still found by Next.
func TestTableForgets(t *testing.T) {
	tab, keys := NewTable(0, 0), []Value{}
	for i := range 40 {
		k := String(fmt.Sprintf("key %d of the table", i))
		if i%3 == 0 {
			k = TableValue(NewTable(0, 0))
		}
		keys = append(keys, k)
		require.NoError(t, tab.set(k, Int(i), nil))
	}
	var order []Value
	for k, n := Nil, 0; ; n++ {
		next, _, err := tab.Next(k)
		require.NoError(t, err)
		if next.IsNil() {
			break
		}
		order = append(order, next)
		require.NoError(t, tab.set(next, Nil, nil))
		if n%5 == 0 {
			tab.forget()
			require.NoError(t, tab.check())
		}
		k = next
	}
	require.Len(t, order, len(keys))
	for _, k := range keys {
		require.True(t, tab.Get(k).IsNil())
		require.NoError(t, tab.set(k, True, nil))
		require.NoError(t, tab.check())
	}
}

// TestSettable checks what an assignment by the machine's loop may do.
func TestSettable(t *testing.T) {
	key := func(s string) (Value, uint32) { return String(s), HashString(s) }
	tab := NewTable(0, 2)
	tab.absent = 1
	require.NotNil(t, tab.settable(key("a")), "room for a key")
	require.Zero(t, tab.absent)
	tab.SetString("a", True)
	tab.SetString("b", True)
	require.Nil(t, tab.settable(key("c")), "no room")
	tab.absent = 1
	require.NotNil(t, tab.settable(key("a")))
	require.NotZero(t, tab.absent, "the key was there")
	tab.SetString("b", Nil)
	require.NotNil(t, tab.settable(key("b")))
	tab.Metatable = NewTable(0, 0)
	require.Nil(t, tab.settable(key("b")), "__newindex may be called")
	require.NotNil(t, tab.settable(key("a")))
	tab.ReadOnly = true
	require.Nil(t, tab.settable(key("a")))
}

// TestTableAllocations checks that only growth allocates.
func TestTableAllocations(t *testing.T) {
	tab := NewTable(100, 100)
	s := String("field")
	h := HashString("field")
	n := testing.AllocsPerRun(100, func() {
		for i := range 200 {
			tab.SetInt(i, Int(i))
			tab.GetInt(i)
		}
		_ = tab.set(s, True, nil)
		tab.GetStr(s, h)
		tab.Len()
		tab.Each(func(k, v Value) bool { return true })
	})
	require.Zero(t, n)
}

func BenchmarkArray(b *testing.B) {
	tab := NewTable(1000, 0)
	for i := range 1000 {
		tab.SetInt(i+1, Int(i))
	}
	b.Run("get", func(b *testing.B) {
		sum := 0.0
		for i := 0; b.Loop(); i++ {
			sum += tab.GetInt(1 + i%1000).Num()
		}
	})
	b.Run("element", func(b *testing.B) {
		sum := 0.0
		for i := 0; b.Loop(); i++ {
			sum += tab.find(Number(float64(1 + i%1000))).Num()
		}
	})
	b.Run("set", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			tab.SetInt(1+i%1000, Int(i))
		}
	})
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			tab := NewTable(0, 0)
			for i := range 1000 {
				_ = tab.set(Int(tab.Len()+1), Int(i), nil)
			}
		}
	})
	b.Run("fill", func(b *testing.B) {
		for b.Loop() {
			tab := NewTable(0, 0)
			for i := range 1000 {
				_ = tab.set(Int(i+1), Int(i), nil)
			}
		}
	})
}

func BenchmarkFields(b *testing.B) {
	tab := NewTable(0, 0)
	var names [8]Value
	var hashes [8]uint32
	for i := range names {
		s := fmt.Sprintf("field%d", i)
		names[i], hashes[i] = String(s), HashString(s)
		_ = tab.set(names[i], Int(i), nil)
	}
	b.Run("get", func(b *testing.B) {
		sum := 0.0
		for i := 0; b.Loop(); i++ {
			sum += tab.GetStr(names[i%8], hashes[i%8]).Num()
		}
	})
	b.Run("set", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			tab.settable(names[i%8], hashes[i%8]).set(Int(i))
		}
	})
	b.Run("dynamic", func(b *testing.B) {
		sum := 0.0
		for i := 0; b.Loop(); i++ {
			sum += tab.Get(names[i%8]).Num()
		}
	})
	b.Run("object", func(b *testing.B) {
		for b.Loop() {
			tab := NewTable(0, 3)
			for i := range 3 {
				tab.settable(names[i], hashes[i]).set(Int(i))
			}
		}
	})
}

func BenchmarkStrings10k(b *testing.B) {
	keys := make([]Value, 10000)
	for i := range keys {
		keys[i] = String(fmt.Sprintf("key:%d", i))
	}
	build := func() *Table {
		tab := NewTable(0, 0)
		for _, k := range keys {
			_ = tab.set(k, True, nil)
		}
		return tab
	}
	b.Run("insert", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build()
		}
	})
	tab, t := build(), NewState().Main
	b.Run("get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			tab.Get(keys[i%10000])
		}
	})
	b.Run("traverse", func(b *testing.B) {
		for b.Loop() {
			i, k, _ := t.NextFrom(tab, 0, Nil)
			for i != 0 {
				i, k, _ = t.NextFrom(tab, i, k)
			}
		}
	})
	b.Run("traverse by index", func(b *testing.B) {
		for b.Loop() {
			tab.Each(func(k, v Value) bool { return true })
		}
	})
}
