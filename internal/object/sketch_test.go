package object

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// sketchImage is a sketch on Go's heap.
type sketchImage struct {
	head   []byte
	blocks [][]byte
}

func imageOf(s *Sketch) (im sketchImage) {
	im.head, im.blocks = bytes.Clone(s.Head()), [][]byte{}
	for i := range s.Blocks() {
		im.blocks = append(im.blocks, append([]byte{}, s.Block(i)...))
	}
	return im
}

// collector is an ElementWriter that puts a sketch together again.
type collector struct {
	t  *testing.T
	im sketchImage
	at int
}

func (c *collector) Element(el *Element) {
	require.GreaterOrEqual(c.t, el.Block, c.at, "blocks come in order")
	c.at = el.Block
	c.im.blocks[el.Block] = append(c.im.blocks[el.Block], el.Value.B...)
}

func newSketchHeap(t *testing.T) *Heap {
	a := arena.New()
	t.Cleanup(func() {
		if !t.Failed() {
			require.Zero(t, a.Used())
			require.NoError(t, a.Check())
			a.Close()
		}
	})
	return NewHeap(a, maphash.MakeSeed(), rand.New(rand.NewPCG(1, 2)), &Limits{})
}

// changeSketch changes s and its image in the same way.
func changeSketch(rng *rand.Rand, s *Sketch, im *sketchImage) {
	scribble := func(b, want []byte) {
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		copy(want, b)
	}
	n := len(im.blocks)
	switch k := rng.IntN(40); {
	case k == 0 && n < 8:
		size := rng.IntN(3 * sketchChunk)
		s.Append(size)
		im.blocks = append(im.blocks, make([]byte, size))
	case k == 1 && n > 0:
		s.Truncate(n - 1)
		im.blocks = im.blocks[:n-1]
	case k == 2 && n > 0:
		i, size := rng.IntN(n), rng.IntN(3*sketchChunk)
		s.Resize(i, size)
		im.blocks[i] = append(make([]byte, 0, size),
			im.blocks[i][:min(size, len(im.blocks[i]))]...)[:size]
	case k == 3:
		scribble(s.Head(), im.head)
	case k == 4:
		size := 1 + rng.IntN(60)
		s.ResizeHead(size)
		im.head = append(make([]byte, 0, size), im.head[:min(size, len(im.head))]...)[:size]
	case n > 0:
		i := rng.IntN(n)
		if len(im.blocks[i]) == 0 {
			return
		}
		off := rng.IntN(len(im.blocks[i]))
		size := rng.IntN(min(len(im.blocks[i])-off, 1+rng.IntN(2000)) + 1)
		scribble(s.Change(i, off, size), im.blocks[i][off:])
	}
}

// TestSketchModel changes a sketch at random. Now and then it is saved meanwhile. What is saved
// must be what there was at the beginning.
func TestSketchModel(t *testing.T) {
	rng := testseed.Rand(t)
	for range 40 {
		h := newSketchHeap(t)
		s := NewSketch(h, 20)
		im := imageOf(s)
		for range 30 {
			changeSketch(rng, s, &im)
		}
		x := s.Detach(TypeBloom)
		for range 4 {
			saved := imageOf(s)
			c := &collector{t: t, im: sketchImage{blocks: make([][]byte, len(saved.blocks))}}
			tr := h.Capture(x.E, c)
			require.Equal(t, saved.head, tr.Header)
			stop := rng.IntN(8) == 0
			for i := 0; !tr.Step(NodeWeight * rng.IntN(3)); i++ {
				for range rng.IntN(10) {
					changeSketch(rng, s, &im)
				}
				if stop && i > 3 {
					break
				}
			}
			require.False(t, tr.Close().Orphan(s.h))
			if !stop {
				for i, b := range saved.blocks {
					require.True(t, bytes.Equal(b, c.im.blocks[i]), "block %d", i)
				}
			}
			require.Equal(t, im, imageOf(s))
		}
		require.Zero(t, h.A.UsedBy(arena.Buffers), "copies are left")
		require.EqualValues(t, h.A.UsedBy(arena.Values), s.Size()+int64(x.E.blockSize()))
		clone := s.Clone(h).(*Sketch)
		require.Equal(t, im, imageOf(clone))
		clone.Discard()
		// A sketch that is dropped while it is saved is freed at the end.
		c := &collector{t: t, im: sketchImage{blocks: make([][]byte, len(im.blocks))}}
		tr := h.Capture(x.E, c)
		o := h.Take(x.E)
		require.True(t, o.Orphan(s.h))
		x.Forget()
		for !tr.Step(NodeWeight) {
		}
		o = tr.Close()
		for !o.Large.Drain(10) {
		}
	}
}

// TestSketchDrain frees blocks and header in slices, and counts each as free at once.
func TestSketchDrain(t *testing.T) {
	h := newSketchHeap(t)
	s := NewSketch(h, 5<<20) // that of a top-k list may be as large as any block
	for i := range 300 {
		s.Append(i % 4 * 100_000)
	}
	for left := 300; !s.Drain(64); {
		left -= 64
		require.Equal(t, left, s.Blocks())
		require.Equal(t, h.A.Used(), s.Size())
	}
	require.Zero(t, h.A.Used())
}
