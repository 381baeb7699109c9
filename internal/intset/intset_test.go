package intset

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a Space that never reuses memory, so that a stale slice shows.
type block struct{ b []byte }

func (s *block) Bytes() []byte { return s.b }

func (s *block) Splice(at, del, ins int) []byte {
	nb := make([]byte, 0, len(s.b)-del+ins)
	nb = append(nb, s.b[:at]...)
	for range ins {
		nb = append(nb, 0xA5)
	}
	s.b = append(nb, s.b[at+del:]...)
	return s.b
}

func TestLayout(t *testing.T) {
	s := &block{slices.Clone(Empty())}
	require.Equal(t, "0200000000000000", hex.EncodeToString(s.b))
	for _, st := range []struct {
		v    int64
		want string
	}{
		{5, "02000000010000000500"},
		{-1, "0200000002000000ffff0500"},
		{math.MaxInt16, "0200000003000000ffff0500ff7f"},
		{math.MaxInt16 + 1, "0400000004000000ffffffff05000000ff7f000000800000"},
		{math.MinInt64,
			"08000000050000000000000000000080ffffffffffffffff" +
				"0500000000000000ff7f0000000000000080000000000000"},
	} {
		require.True(t, Add(s, st.v))
		require.False(t, Add(s, st.v))
		require.Equal(t, st.want, hex.EncodeToString(s.b))
	}
	require.EqualValues(t, math.MinInt64, Min(s.b))
	require.EqualValues(t, math.MaxInt16+1, Max(s.b))
	require.True(t, Remove(s, math.MinInt64))
	require.Equal(t,
		"0800000004000000ffffffffffffffff0500000000000000ff7f0000000000000080000000000000",
		hex.EncodeToString(s.b),
		"the width stays")
}

func TestWidenWithMinimum(t *testing.T) {
	for _, v := range []int64{math.MinInt16 - 1, math.MinInt32 - 1, math.MaxInt16 + 1,
		math.MaxInt32 + 1} {
		s := &block{slices.Clone(Empty())}
		require.True(t, Add(s, v), "into an empty set")
		require.NoError(t, Validate(s.b))
		require.Equal(t, v, Min(s.b))
		require.Equal(t, v, Max(s.b))
		require.False(t, Remove(s, 0))
	}
}

// number picks a value such that small sets collide and all borders of widths come up.
func number(rng *rand.Rand, width int) int64 {
	edges := [...]int64{math.MinInt16, math.MaxInt16, math.MinInt32, math.MaxInt32, math.MinInt64,
		math.MaxInt64}
	switch {
	case rng.IntN(50) == 0 && width > 0:
		return edges[rng.IntN(2*width)] + int64(rng.IntN(3)-1)
	case width > 1 && rng.IntN(20) == 0:
		return int64(int32(rng.Uint32()))
	}
	return int64(rng.IntN(200) - 100)
}

func TestModel(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := &block{slices.Clone(Empty())}
		model := map[int64]bool{}
		for op := range 600 {
			v := number(rng, int(seed%4))
			switch rng.IntN(3) {
			case 0:
				require.Equal(t, !model[v], Add(s, v), "seed %d op %d: add %d", seed, op, v)
				model[v] = true
			case 1:
				require.Equal(t, model[v], Remove(s, v), "seed %d op %d: remove %d", seed, op, v)
				delete(model, v)
			default:
				require.Equal(t, model[v], Has(s.b, v), "seed %d op %d: has %d", seed, op, v)
			}
			require.Equal(t, len(model), Len(s.b))
			if len(model) > 0 {
				require.NoError(t, Validate(s.b), "seed %d op %d", seed, op)
			}
		}
		want := make([]int64, 0, len(model))
		for v := range model {
			want = append(want, v)
		}
		slices.Sort(want)
		for i, v := range want {
			require.Equal(t, v, At(s.b, i))
		}
		for len(want) > 0 {
			i := rng.IntN(len(want))
			RemoveAt(s, i)
			want = slices.Delete(want, i, i+1)
			for j, v := range want {
				require.Equal(t, v, At(s.b, j))
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for name, in := range map[string]string{
		"short":      "02000000010000",
		"width":      "03000000010000000500ff",
		"high width": "02000001010000000500",
		"empty":      "0200000000000000",
		"cut":        "0200000002000000ffff05",
		"tail":       "02000000010000000500ff",
		"descending": "02000000020000000500ffff",
		"twice":      "020000000200000005000500",
		"huge":       "08000000ffffffff0500000000000000",
	} {
		b, err := hex.DecodeString(in)
		require.NoError(t, err)
		require.ErrorIs(t, Validate(b), ErrInvalid, name)
	}
}

func FuzzValidate(f *testing.F) {
	for _, in := range []string{"", "0200000000000000", "0200000002000000ffff0500",
		"0400000001000000ffffffff", "0800000001000000ffffffffffffffff",
		"02000000020000000500ffff", "08000000ffffffff"} {
		b, _ := hex.DecodeString(in)
		f.Add(b, int64(5))
	}
	f.Fuzz(func(t *testing.T, b []byte, v int64) {
		if Validate(b) != nil {
			return
		}
		s := &block{slices.Clone(b)}
		n := Len(b)
		for i := range n {
			if x := At(b, i); !Has(b, x) || !Remove(s, x) || !Add(s, x) {
				t.Fatalf("%x: integer %d, %d, is not found", b, i, x)
			}
		}
		if string(s.b) != string(b) {
			t.Fatalf("%x became %x", b, s.b)
		}
		had := Has(b, v)
		if Add(s, v) == had || !Has(s.b, v) || Validate(s.b) != nil {
			t.Fatalf("%x and %d gave %x", b, v, s.b)
		}
	})
}

func BenchmarkHas(b *testing.B) {
	s := &block{slices.Clone(Empty())}
	for i := range int64(512) {
		Add(s, i*3)
	}
	for i := 0; b.Loop(); i++ {
		Has(s.b, int64(i&2047))
	}
}
