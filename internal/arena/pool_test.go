package arena

import (
	"bytes"
	"sync"
	"testing"

	"godwit/internal/testseed"
)

// TestPool has several goroutines take buffers, write to them, grow them and put them back.
func TestPool(t *testing.T) {
	p := NewPool()
	var wg sync.WaitGroup
	for g := range 4 {
		rng := testseed.Rand(t)
		wg.Go(func() {
			var held []Buffer
			mark := byte(g + 1)
			for range 500 {
				switch n := rng.IntN(1 << rng.IntN(21)); {
				case rng.IntN(2) == 0 || len(held) == 0:
					b := p.Get(n)
					for i := range b.B {
						b.B[i] = mark
					}
					held = append(held, b)
				case rng.IntN(2) == 0:
					b := &held[rng.IntN(len(held))]
					if !p.Grow(b, n) || len(bytes.Trim(b.B, string(mark))) != 0 {
						t.Error("the contents of a buffer changed")
					}
				default:
					i := rng.IntN(len(held))
					p.Put(&held[i])
					held = append(held[:i], held[i+1:]...)
				}
				p.Release()
			}
			for i := range held {
				p.Put(&held[i])
			}
		})
	}
	wg.Wait()
	if err := p.Check(); err != nil || p.Used() != 0 {
		t.Fatal(err, p.Used())
	}
	for p.Release() {
	}
	p.Trim()
	if n := p.Resident(); n != 0 {
		t.Fatalf("%d bytes are resident in an empty pool", n)
	}
}

// TestPoolTrims checks that what a pool has too much of goes back, and no more than a part of a
// chunk with each call of Release.
func TestPoolTrims(t *testing.T) {
	p := NewPool()
	var held []Buffer
	for range 300 {
		b := p.Get(100 << 10)
		clear(b.B[:cap(b.B)])
		held = append(held, b)
	}
	before := p.Resident()
	for i := range held {
		p.Put(&held[i])
	}
	p.BeginTrim()
	for last := p.Resident(); p.Release(); last = p.Resident() {
		if n := last - p.Resident(); n > releaseBytes {
			t.Fatalf("one call of Release gave %d bytes back", n)
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.Resident(); before < 300*100<<10 || n > trimFrom {
		t.Fatalf("%d of %d bytes are resident in an empty pool", n, before)
	}
}

// TestTrim frees at random and trims. All free memory must be given back, and the counts must
// agree.
func TestTrim(t *testing.T) {
	rng := testseed.Rand(t)
	a := New()
	type block struct {
		ref Ref
		n   int
	}
	var blocks []block
	for range 20 {
		for range 400 {
			n := 1 + rng.IntN(100_000)
			blocks = append(blocks, block{a.Alloc(n, Values), n})
		}
		rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		for range len(blocks) * 2 / 3 {
			b := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			a.Free(b.ref, b.n, Values)
		}
		a.BeginTrim()
		for a.Trimming() {
			a.TrimSlice()
			if err := a.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if n := a.FreeUnits(); n >= max(trimFrom, a.Mapped()/trimShare) {
			t.Fatalf("%d bytes of free units are still resident", n)
		}
		if r := a.Resident(); r < a.Used() || r > a.Mapped() {
			t.Fatalf("%d bytes resident, %d in use, %d mapped", r, a.Used(), a.Mapped())
		}
	}
	for _, b := range blocks {
		a.Free(b.ref, b.n, Values)
	}
	a.Close()
}

// TestTrimAfterAll checks that when nothing is left, only what no sweep is worth stays resident,
// although every class has kept an empty run.
func TestTrimAfterAll(t *testing.T) {
	a := New()
	var blocks []Ref
	for c := range a.class {
		size := int(a.class[c].size)
		for i := 0; i < 2<<20; i += size {
			blocks = append(blocks, a.Alloc(size, Values))
		}
		for _, ref := range blocks {
			a.Free(ref, size, Values)
		}
		blocks = blocks[:0]
	}
	if n := a.keptRuns(); n < trimFrom {
		t.Fatalf("only %d bytes of empty runs are kept", n)
	}
	for a.Release() {
	}
	for range 2 { // the first leaves the mappings of big blocks
		a.BeginTrim()
		for a.Trimming() {
			a.TrimSlice()
		}
		for a.Release() {
		}
	}
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	if n := a.Resident(); n > trimFrom {
		t.Fatalf("%d bytes are resident, none are in use", n)
	}
	a.Close()
}
