package slot

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestOf holds slots against those that Redis 8 replies to CLUSTER KEYSLOT.
func TestOf(t *testing.T) {
	require.EqualValues(t, 0x31c3, CRC16([]byte("123456789"))) // the specification's check value
	for key, want := range map[string]int{
		"": 0, "foo": 12182, "bar": 5061, "hello": 866, "{user1000}.following": 3443,
		"{user1000}.followers": 3443, "foo{}{bar}": 8363, "foo{{bar}}zap": 4015,
		"foo{bar}{zap}": 5061, "{}": 15257, "a{b": 13340, "a}b{c}": 7365,
		"a key of more than sixteen bytes": 5612,
	} {
		require.Equal(t, want, Of([]byte(key)), key)
	}
}

// TestTagOf checks that each slot has a tag.
func TestTagOf(t *testing.T) {
	for i := range Count {
		tag := TagOf(i)
		if Of([]byte(tag)) != i || Of([]byte("x{"+tag+"}y")) != i {
			t.Errorf("%q is not in slot %d", tag, i)
		}
	}
}

// TestCRC16 compares the table-driven checksum with the definition.
func TestCRC16(t *testing.T) {
	rng := testseed.Rand(t)
	for range 2000 {
		b := make([]byte, rng.IntN(70))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		want := uint16(0)
		for _, c := range b {
			want ^= uint16(c) << 8
			for range 8 {
				if want&0x8000 != 0 {
					want = want<<1 ^ 0x1021
				} else {
					want <<= 1
				}
			}
		}
		require.Equal(t, want, CRC16(b))
	}
}

// TestOfTags compares slots with the definition, for keys that are mostly braces.
func TestOfTags(t *testing.T) {
	rng := testseed.Rand(t)
	for range 20000 {
		key := make([]byte, rng.IntN(40))
		for i := range key {
			if key[i] = byte(rng.Uint32()); rng.IntN(10) == 0 {
				key[i] = "{}z|"[rng.IntN(4)]
			}
		}
		require.Equal(t, int(CRC16(Tag(key)))%Count, Of(key), "%q", key)
	}
}

// TestSet holds sets against a map.
func TestSet(t *testing.T) {
	rng := testseed.Rand(t)
	for range 50 {
		a, inA := randomSet(rng)
		b, inB := randomSet(rng)
		text := a.String()
		back, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, a, back)
		require.Equal(t, len(inA), a.Len())
		require.Equal(t, len(inA) == 0, a.Empty())
		require.Equal(t, a, SetOf(a.Ranges()...))
		both, either, only := a.Common(&b), a, a
		either.Union(&b)
		only.Subtract(&b)
		for i := range Count {
			require.Equal(t, inA[i], a.Has(i))
			require.Equal(t, inA[i] && inB[i], both.Has(i))
			require.Equal(t, inA[i] || inB[i], either.Has(i))
			require.Equal(t, inA[i] && !inB[i], only.Has(i))
		}
		a.Each(func(i int) bool {
			a.Remove(i)
			return true
		})
		require.True(t, a.Empty())
	}
}

func randomSet(rng *rand.Rand) (Set, map[int]bool) {
	var s Set
	in := map[int]bool{}
	for range rng.IntN(20) {
		at := rng.IntN(Count)
		for i := at; i < min(at+rng.IntN(300), Count); i++ {
			s.Add(i)
			in[i] = true
		}
	}
	return s, in
}

// FuzzParse feeds Parse anything, and compares what it accepts with what it writes.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "0", "0-16383", "1-2 5 7-9", "16384", "5-4", "-", "1-", "-1",
		"a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		back, err := Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}

var sink int

func BenchmarkOf(b *testing.B) {
	for _, key := range []string{"key:000000012345", "{user1000}.following", "k"} {
		b.Run(key, func(b *testing.B) {
			k := []byte(key)
			for b.Loop() {
				sink += Of(k)
			}
		})
	}
}
