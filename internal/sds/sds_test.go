package sds

import (
	"bytes"
	"math/rand"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/testseed"
)

func newArena(t testing.TB) *arena.Arena {
	a := arena.New()
	t.Cleanup(func() {
		if a.Used() != 0 {
			t.Errorf("%d bytes left in the arena", a.Used())
		}
		a.Close()
	})
	return a
}

func TestZeroValue(t *testing.T) {
	a := newArena(t)
	var s Str
	if s.Bytes(a) != nil {
		t.Error("not empty")
	}
	s.Append(a, nil)
	s.Grow(a, 0)
	s.Compact(a)
	s.Free(a)
	if s != (Str{}) || New(a, nil) != (Str{}) {
		t.Errorf("%+v", s)
	}
}

func TestAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	a := newArena(t)
	for round := range 60 {
		var s Str
		var model []byte
		random := func() []byte {
			b := make([]byte, rnd.Intn(1<<(1+rnd.Intn(4+round/5))))
			rnd.Read(b)
			return b
		}
		grow := func(n int) {
			if n > len(model) {
				model = append(model, make([]byte, n-len(model))...)
			}
		}
		for range 60 {
			switch rnd.Intn(6) {
			default:
				b := random()
				s.Append(a, b)
				model = append(model, b...)
			case 0:
				n := rnd.Intn(2*len(model) + 10)
				s.Grow(a, n)
				grow(n)
			case 1:
				n := rnd.Intn(len(model) + 10)
				s.Truncate(n)
				model = model[:min(n, len(model))]
			case 2:
				s.Reserve(a, rnd.Intn(2*len(model)+10))
			case 3:
				s.Compact(a)
			case 4:
				var b [EncodedSize + 1]byte
				s.Encode(b[:])
				s = Decode(b[:])
			}
			if !bytes.Equal(s.Bytes(a), model) || s.Len > s.Cap || (s.Ref == 0) != (s.Cap == 0) {
				t.Fatalf("%d bytes (cap %d), want %d", s.Len, s.Cap, len(model))
			}
			if len(model) > 1<<21 {
				s.Truncate(5)
				model = model[:5]
			}
		}
		other := New(a, model)
		if !bytes.Equal(other.Bytes(a), model) {
			t.Fatalf("New differs")
		}
		other.Free(a)
		s.Free(a)
	}
}

// TestGrowthRule checks the growth rule: 2n below 1 MiB, n + 1 MiB from there, nothing spare above
// 512 MiB. Untouched room takes no memory.
func TestGrowthRule(t *testing.T) {
	a := newArena(t)
	for _, c := range []struct{ n, atLeast, atMost int }{
		{10, 20, 32}, {1000, 2000, 2300}, {300_000, 600_000, 700_000},
		{1 << 20, 2 << 20, 2<<20 + 1<<18}, {3 << 20, 4 << 20, 4<<20 + 1<<19},
		{512<<20 - 100, 512 << 20, 512<<20 + 4096}, {512<<20 + 1, 512<<20 + 1, 513 << 20},
	} {
		if invariant.Enabled && c.n > 8<<20 {
			continue // poisoning touches it all
		}
		s := New(a, []byte{1})
		s.makeRoom(a, c.n)
		if int(s.Cap) < c.atLeast || int(s.Cap) > c.atMost {
			t.Errorf("room for %d: %d, want %d to %d", c.n, s.Cap, c.atLeast, c.atMost)
		}
		s.Free(a)
	}
}

func TestAppendIsAmortised(t *testing.T) {
	a := newArena(t)
	var s Str
	moves := 0
	for range 1 << 20 {
		before := s.Cap
		s.Append(a, []byte{'x'})
		if s.Cap != before {
			moves++
		}
	}
	if moves > 24 {
		t.Errorf("%d moves for 1 Mi bytes", moves)
	}
	if n := testing.AllocsPerRun(100, func() {
		s.Append(a, []byte{'y'})
	}); n != 0 && !invariant.Enabled {
		t.Errorf("%v Go allocations", n)
	}
	s.Free(a)
}

func BenchmarkAppend(b *testing.B) {
	a := newArena(b)
	var s Str
	chunk := make([]byte, 64)
	b.SetBytes(64)
	for b.Loop() {
		if s.Len > 16<<20 {
			s.Free(a)
		}
		s.Append(a, chunk)
	}
	s.Free(a)
}
