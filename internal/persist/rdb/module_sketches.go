package rdb

import (
	"math"

	"godwit/internal/cms"
	"godwit/internal/cuckoo"
	"godwit/internal/object"
	"godwit/internal/tdigest"
	"godwit/internal/topk"
)

// Cuckoo filters, count-min sketches, top-k lists and t-digests are laid out in memory so that
// RedisBloom's records of them can be written and read. What is written here loads there, and the
// other way round.

func init() {
	registerSketch(object.TypeCuckoo, cuckooLayout())
	registerSketch(object.TypeCMS, cmsLayout())
	registerSketch(object.TypeTopK, topkLayout())
	registerSketch(object.TypeTDigest, tdigestLayout())
}

// cuckooLayout has sub-filters, buckets of the first, items, deletes, slots of a bucket, max
// iterations, expansion; then for each sub-filter its number of buckets and its bytes.
func cuckooLayout() *layout {
	return &layout{
		name: "MBbloomCF", ver: 4, oldest: 4, newest: 4, chunks: "CF.LOADCHUNK", handles: any1,
		parts: func(p *Parts, head []byte, blocks []int) {
			f, n := cuckoo.ParseHead(head)
			for _, v := range [...]uint64{
				n, f.Buckets, f.Items, f.Deletes, uint64(f.BucketSize), uint64(f.MaxIterations),
				uint64(f.Expansion),
			} {
				p.Uint(v)
			}
			for _, n := range blocks {
				p.Uint(uint64(n) / uint64(f.BucketSize))
				p.Block(n)
			}
		},
		read: readCuckoo,
	}
}

// uints reads that many parts that are unsigned integers.
func (d *Decoder) uints(to []uint64) (err error) {
	for i := range to {
		if to[i], err = d.PartUint(); err != nil {
			return err
		}
	}
	return nil
}

func readCuckoo(d *Decoder, _ int) ([]byte, [][]byte, error) {
	at := d.pos
	var n [7]uint64
	if err := d.uints(n[:]); err != nil {
		return nil, nil, err
	}
	refuse := func(why string) ([]byte, [][]byte, error) {
		d.pos = at
		return nil, nil, d.errorf("a cuckoo filter with %s", why)
	}
	if max(n[4], n[5], n[6]) > math.MaxUint16 {
		return refuse("impossible numbers")
	}
	mem := &blockList{}
	f := cuckoo.Filter{
		Buckets: n[1], Items: n[2], Deletes: n[3], BucketSize: uint16(n[4]),
		MaxIterations: uint16(n[5]), Expansion: uint16(n[6]), Mem: mem,
	}
	if !f.Valid(n[0]) {
		return refuse("impossible numbers")
	}
	for i := range n[0] {
		buckets, err := d.PartUint()
		if err != nil {
			return nil, nil, err
		}
		b, err := d.PartString()
		if err != nil {
			return nil, nil, err
		}
		// An item is where sub-filters that grow by the expansion have it.
		if size, ok := f.SubFilterBytes(int(i)); !ok || int64(len(b)) != size ||
			buckets*n[4] != uint64(size) {
			return refuse("a sub-filter of the wrong size")
		}
		mem.list = append(mem.list, b)
	}
	if err := d.PartEnd(); err != nil {
		return nil, nil, err
	}
	head := make([]byte, cuckoo.HeadSize)
	f.PutHead(head)
	return head, mem.list, nil
}

// blockList is sub-filters on Go's heap, to be looked at.
type blockList struct {
	cuckoo.Memory
	list [][]byte
}

func (l *blockList) Blocks() int { return len(l.list) }

// cmsLayout has width, depth, total, counters.
func cmsLayout() *layout {
	return &layout{
		name: "CMSk-TYPE", ver: 0, oldest: 0, newest: 0, handles: any1,
		parts: func(p *Parts, head []byte, blocks []int) {
			s := cms.Open(head, nil)
			p.Uint(s.Width)
			p.Uint(s.Depth)
			p.Uint(s.Count)
			p.Block(blocks[0])
		},
		read: func(d *Decoder, _ int) ([]byte, [][]byte, error) {
			at := d.pos
			var n [3]uint64
			if err := d.uints(n[:]); err != nil {
				return nil, nil, err
			}
			b, err := d.PartString()
			if err != nil {
				return nil, nil, err
			}
			s := cms.Sketch{Width: n[0], Depth: n[1], Count: n[2]}
			if !s.Valid(len(b)) {
				d.pos = at
				return nil, nil, d.errorf(
					"a count-min sketch of %d × %d counters in %d bytes, total %d",
					n[0], n[1], len(b), n[2])
			}
			head := make([]byte, cms.HeadSize)
			s.PutHead(head)
			return head, [][]byte{b}, d.PartEnd()
		},
	}
}

// topkLayout has k, width, depth, decay, buckets, the heap, and the item of each of its entries
// with a zero byte behind it.
func topkLayout() *layout {
	return &layout{
		name: "TopK-TYPE", ver: 0, oldest: 0, newest: 0, handles: any1,
		parts: func(p *Parts, head []byte, blocks []int) {
			l := topk.Open(headMemory{b: head})
			p.Uint(uint64(l.K))
			p.Uint(uint64(l.Width))
			p.Uint(uint64(l.Depth))
			p.Double(l.Decay)
			p.Block(blocks[0])
			p.String(l.RedisHeap())
			for i := range l.K {
				p.String(append(append([]byte(nil), l.Entry(i)...), 0))
			}
		},
		read: readTopK,
	}
}

// headMemory is a header to be read.
type headMemory struct {
	topk.Memory
	b []byte
}

func (m headMemory) Head() []byte { return m.b }

func readTopK(d *Decoder, _ int) ([]byte, [][]byte, error) {
	at := d.pos
	var n [3]uint64
	if err := d.uints(n[:]); err != nil {
		return nil, nil, err
	}
	decay, err := d.PartDouble()
	if err != nil {
		return nil, nil, err
	}
	buckets, err := d.PartString()
	if err != nil {
		return nil, nil, err
	}
	heap, err := d.PartString()
	if err != nil {
		return nil, nil, err
	}
	refuse := func(why string) ([]byte, [][]byte, error) {
		d.pos = at
		return nil, nil, d.errorf("a top-k list with %s", why)
	}
	if max(n[0], n[1], n[2]) > math.MaxUint32 || uint64(len(heap)) != n[0]*topk.EntrySize {
		return refuse("impossible numbers")
	}
	k, width, depth := uint32(n[0]), uint32(n[1]), uint32(n[2])
	if _, size, ok := topk.Sizes(k, width, depth); !ok || int64(len(buckets)) != size {
		return refuse("the wrong number of buckets")
	}
	items := make([][]byte, k) // no more than the heap has bytes
	for i := range items {
		b, err := d.PartString()
		if err != nil {
			return nil, nil, err
		}
		if len(b) == 0 || b[len(b)-1] != 0 {
			return refuse("an item without its end")
		}
		items[i] = b[:len(b)-1]
	}
	head, err := topk.LoadHead(k, width, depth, decay, heap, items)
	if err != nil {
		return refuse("impossible numbers")
	}
	return head, [][]byte{buckets}, d.PartEnd()
}

// tdigestLayout has compression, least and greatest value, capacity, nodes, 0, merges, weight, 0;
// then the nodes' means and their weights.
func tdigestLayout() *layout {
	return &layout{
		name: "TDIS-TYPE", ver: 0, oldest: 0, newest: 0, handles: any1,
		parts: func(p *Parts, head []byte, _ []int) {
			r := tdigest.Open(headMemory{b: head}).Saved()
			p.Double(r.Compression)
			p.Double(r.Min)
			p.Double(r.Max)
			p.Int(r.Capacity)
			p.Int(int64(len(r.Means)))
			p.Int(0)
			p.Int(r.Compressions)
			p.Double(r.Weight)
			p.Double(0)
			for _, f := range r.Means {
				p.Double(f)
			}
			for _, f := range r.Weights {
				p.Double(f)
			}
		},
		read: readTDigest,
	}
}

func readTDigest(d *Decoder, _ int) ([]byte, [][]byte, error) {
	at := d.pos
	var r tdigest.Saved
	var nodes, unmerged int64
	var unmergedWeight float64
	for _, to := range []any{
		&r.Compression, &r.Min, &r.Max, &r.Capacity, &nodes, &unmerged, &r.Compressions, &r.Weight,
		&unmergedWeight,
	} {
		var err error
		switch to := to.(type) {
		case *int64:
			*to, err = d.PartInt()
		case *float64:
			*to, err = d.PartDouble()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	// A node takes two parts of nine bytes.
	if nodes < 0 || nodes > int64(d.left())/18 || unmerged != 0 {
		d.pos = at
		return nil, nil, d.errorf("a t-digest of %d and %d nodes in %d bytes", nodes, unmerged,
			d.left())
	}
	for _, to := range []*[]float64{&r.Means, &r.Weights} {
		for range nodes {
			f, err := d.PartDouble()
			if err != nil {
				return nil, nil, err
			}
			*to = append(*to, f)
		}
	}
	head, err := r.Head()
	if err != nil {
		d.pos = at
		return nil, nil, d.errorf("%v", err)
	}
	return head, nil, d.PartEnd()
}

// Int adds a signed integer.
func (p *Parts) Int(n int64) {
	p.e.Len(moduleSint)
	p.e.Len(uint64(n))
}

// PartInt reads a part that is a signed integer.
func (d *Decoder) PartInt() (int64, error) {
	if err := d.part(moduleSint); err != nil {
		return 0, err
	}
	n, err := d.Len()
	return int64(n), err
}
