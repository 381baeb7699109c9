package compare

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/luagen"
	"godwit/internal/testseed"
)

// pair returns Godwit and its judge within reach of this process, Lua's own implementation. Without
// that Godwit judges itself: then nothing but the absence of internal errors is tested.
func pair(t testing.TB) Pair {
	p := Pair{Tested: godwit(t)}
	l, err := NewLua51()
	if errors.Is(err, ErrMissing) {
		p.Judge = godwit(t)
		return p
	}
	require.NoError(t, err)
	t.Cleanup(l.Close)
	p.Judge = l
	return p
}

// agree fails if the engines return different things for a program.
func (p Pair) agree(t testing.TB, programs ...string) {
	got, err := p.Tested.Run(programs...)
	require.NoError(t, err)
	for i, g := range got {
		require.NotContains(t, g, "internal error", programs[i])
	}
	found, err := p.Check(programs...)
	require.NoError(t, err)
	if len(found) > 0 {
		t.Fatal(p.Shrink(found[0]))
	}
}

// TestPrograms compares random programs. The command luadiff does so with millions.
func TestPrograms(t *testing.T) {
	p, r := pair(t), testseed.Rand(t)
	for range 500 {
		p.agree(t, luagen.Program(r))
	}
}

// chosen is a source of random numbers that a fuzzer chooses. When they are over, others follow.
type chosen struct {
	data []byte
	rest rand.PCG
}

// Uint64 implements rand.Source. One byte makes a number, so that a byte decides one thing.
func (c *chosen) Uint64() uint64 {
	if len(c.data) == 0 {
		return c.rest.Uint64()
	}
	b := c.data[0]
	c.data = c.data[1:]
	return uint64(b) * 0x0101010101010101
}

// FuzzPrograms compares the programs that a fuzzer chooses.
func FuzzPrograms(f *testing.F) {
	p := pair(f)
	for _, seed := range []string{"", "a", "\x00\xff", strings.Repeat("\x80\x01", 100)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p.agree(t, luagen.Program(rand.New(&chosen{data: data})))
	})
}

// TestShrink checks that a small program is left of a long one that makes a difference.
func TestShrink(t *testing.T) {
	answer := func(word string) Func {
		return func(program string) string {
			if strings.Contains(program, "string.rep") && strings.Contains(program, "unpack") {
				return word
			}
			return "same"
		}
	}
	p := Pair{answer("one"), answer("other")}
	r := testseed.Rand(t)
	for range 100_000 {
		found, err := p.Check(luagen.Program(r))
		require.NoError(t, err)
		if len(found) == 0 {
			continue
		}
		small := p.Shrink(found[0])
		require.Less(t, len(luagen.Body(small.Program)), 100, small.Program)
		require.Equal(t, "one", small.Want)
		return
	}
	t.Fatal("no program with both words")
}
