package persist

import (
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/bloom"
	"godwit/internal/cms"
	"godwit/internal/cuckoo"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/tdigest"
	"godwit/internal/topk"
)

// flatSketch is a sketch that is only looked at.
type flatSketch struct {
	head   []byte
	blocks [][]byte
}

func (f *flatSketch) Head() []byte                { return f.head }
func (f *flatSketch) ResizeHead(int) []byte       { panic("it is only looked at") }
func (f *flatSketch) Block(i int) []byte          { return f.blocks[i] }
func (f *flatSketch) Change(int, int, int) []byte { panic("it is only looked at") }

// text returns what counts of a sketch. Top-k lists and t-digests may lie differently in memory
// when they come from a file.
func (f *flatSketch) text(t object.Type) string {
	switch t {
	case object.TypeTopK:
		return fmt.Sprintf("%x", maphash.Bytes(textSeed, topk.Open(f).AppendState(nil)))
	case object.TypeTDigest:
		return fmt.Sprintf("%x", maphash.Bytes(textSeed, tdigest.Open(f).AppendState(nil)))
	}
	all := maphash.Bytes(textSeed, f.head)
	for _, b := range f.blocks {
		all = all*31 + maphash.Bytes(textSeed, b)
	}
	return fmt.Sprintf("%x", all)
}

func flatten(s *object.Sketch) *flatSketch {
	f := &flatSketch{head: s.Head()}
	for i := range s.Blocks() {
		f.blocks = append(f.blocks, s.Block(i))
	}
	return f
}

// sketchKind is a type of sketch: how one is made and how it is changed.
type sketchKind struct {
	t      object.Type
	create func(c *chaos) *object.Sketch
	change func(c *chaos, s *object.Sketch)
}

func sketchKinds() []sketchKind {
	return []sketchKind{
		{object.TypeBloom, (*chaos).newBloom, (*chaos).changeBloom},
		{object.TypeCuckoo, (*chaos).newCuckoo, (*chaos).changeCuckoo},
		{object.TypeCMS, (*chaos).newCMS, (*chaos).changeCMS},
		{object.TypeTopK, (*chaos).newTopK, (*chaos).changeTopK},
		{object.TypeTDigest, (*chaos).newTDigest, (*chaos).changeTDigest},
	}
}

// sketch changes the sketch at a key, whatever its type is, or makes one.
func (c *chaos) sketch(db *keyspace.DB) {
	kinds := sketchKinds()
	c.sketchOf(kinds[c.rng.IntN(len(kinds))], db)
}

func (c *chaos) sketchOf(kind sketchKind, db *keyspace.DB) {
	key := c.key()
	e := db.Lookup(key)
	if !e.Exists() {
		e = db.CreateSketch(key, kind.t, kind.create(c)).E
	}
	if e.Type() != kind.t {
		i := slices.IndexFunc(sketchKinds(), func(k sketchKind) bool { return k.t == e.Type() })
		if i < 0 {
			return
		}
		kind = sketchKinds()[i]
	}
	s := db.Open(e).ChangingSketch()
	for range 1 + c.rng.IntN(8) {
		kind.change(c, s)
	}
}

// scramble changes a range of a block.
func (c *chaos) scramble(s *object.Sketch) {
	b := c.rng.IntN(s.Blocks())
	off := c.rng.IntN(s.BlockLen(b))
	part := s.Change(b, off, c.rng.IntN(min(s.BlockLen(b)-off, 3000)+1))
	for i := range part {
		part[i] ^= byte(c.rng.Uint32())
	}
}

func (c *chaos) newBloom() *object.Sketch {
	head, err := bloom.NewHeader(
		bloom.Params{Error: 0.01, Capacity: uint64(1 + c.rng.IntN(1<<c.rng.IntN(15))), Growth: 2,
			Murmur64A: c.rng.IntN(2) == 0})
	require.NoError(c.t, err)
	s := object.NewSketch(c.ks.Heap, len(head))
	copy(s.Head(), head)
	bloom.Init(s)
	return s
}

// changeBloom adds to a filter that grows, or puts a chunk in place.
func (c *chaos) changeBloom(s *object.Sketch) {
	if c.rng.IntN(10) == 0 {
		c.scramble(s)
		return
	}
	for range 5 {
		if bloom.Add(s, c.elem()) == bloom.Full {
			grown, _, err := bloom.NextLink(s.Head())
			require.NoError(c.t, err)
			bloom.Grow(s, grown)
		}
	}
}

func (c *chaos) newCuckoo() *object.Sketch {
	s := object.NewSketch(c.ks.Heap, cuckoo.HeadSize)
	f := cuckoo.Filter{BucketSize: uint16(1 + c.rng.IntN(4)), MaxIterations: 10, Mem: s}
	f.Buckets, f.Expansion = cuckoo.Geometry(uint64(8+c.rng.IntN(200*c.wide)), f.BucketSize, 1)
	f.Grow()
	f.PutHead(s.Head())
	return s
}

// changeCuckoo adds, which moves other items and may add a part, or deletes, which may drop one.
func (c *chaos) changeCuckoo(s *object.Sketch) {
	f, _ := cuckoo.ParseHead(s.Head())
	f.Mem = s
	switch n := c.rng.IntN(20); {
	case n == 0:
		f.Compact()
	case n == 1:
		f.Grow()
	case n == 2:
		c.scramble(s)
	case n < 8:
		f.Delete(c.elem())
	case f.Mem.Blocks() < 10:
		f.Insert(c.elem())
	}
	f.PutHead(s.Head())
}

func (c *chaos) newCMS() *object.Sketch {
	s := object.NewSketch(c.ks.Heap, cms.HeadSize)
	k := cms.Sketch{Width: uint64(1 + c.rng.IntN(70*c.wide)), Depth: uint64(1 + c.rng.IntN(5))}
	n, ok := cms.Bytes(k.Width, k.Depth)
	require.True(c.t, ok)
	s.Append(int(n))
	k.PutHead(s.Head())
	return s
}

// changeCMS counts, doubles all counts, or puts others in place.
func (c *chaos) changeCMS(s *object.Sketch) {
	k := cms.Open(s.Head(), s)
	switch c.rng.IntN(20) {
	case 0:
		c.scramble(s)
	case 1:
		_ = k.Merge([]cms.Sketch{k}, []int64{2}) // it may overflow
	default:
		k.Incr(c.elem(), c.rng.Uint64N(100))
	}
	k.PutHead(s.Head())
}

func (c *chaos) newTopK() *object.Sketch {
	k, width, depth := uint32(1+c.rng.IntN(c.wide)), uint32(1+c.rng.IntN(30*c.wide)),
		uint32(1+c.rng.IntN(4))
	head, buckets, ok := topk.Sizes(k, width, depth)
	require.True(c.t, ok)
	s := object.NewSketch(c.ks.Heap, int(head))
	s.Append(int(buckets))
	topk.New(s, k, width, depth, 0.9)
	return s
}

// changeTopK counts: the header grows with the items that it names.
func (c *chaos) changeTopK(s *object.Sketch) {
	topk.Open(s).Add(c.elem(), c.rng.Uint32N(50), nil)
}

func (c *chaos) newTDigest() *object.Sketch {
	s := object.NewSketch(c.ks.Heap, tdigest.FirstSize)
	tdigest.New(s, int64(1+c.rng.IntN(c.wide)))
	return s
}

// changeTDigest adds, merges the nodes, or forgets all.
func (c *chaos) changeTDigest(s *object.Sketch) {
	d := tdigest.Open(s)
	switch c.rng.IntN(60) {
	case 0:
		d.Reset()
	case 1:
		d.Compress()
	default:
		require.NoError(c.t, d.Add(c.rng.NormFloat64(), 1+c.rng.Int64N(3)))
	}
}

// TestSketchChanges checks that the chaos really changes sketches of each type, and makes and drops
// blocks.
func TestSketchChanges(t *testing.T) {
	for _, kind := range sketchKinds() {
		c := newChaos(t, 20, 40)
		db := c.ks.DB(0)
		states, blocks := map[string]bool{}, map[int]bool{}
		for range 500 {
			c.sketchOf(kind, db)
			e := db.Lookup(c.key())
			if !e.Exists() {
				continue
			}
			require.Equal(t, kind.t, e.Type())
			f := flatten(db.Open(e).Sketch())
			states[f.text(kind.t)], blocks[len(f.blocks)] = true, true
		}
		require.Greater(t, len(states), 100, kind.t)
		require.Equal(t, kind.t == object.TypeBloom || kind.t == object.TypeCuckoo, len(blocks) > 1,
			kind.t)
		c.empty()
	}
}
