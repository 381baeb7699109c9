package crash

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/cms"
	"godwit/internal/cuckoo"
	"godwit/internal/object"
	"godwit/internal/tdigest"
	"godwit/internal/topk"
)

// sketch is a cuckoo filter, count-min sketch, top-k list or t-digest in ordinary memory. The
// effect of each command is known to the last bit. So DEBUG DIGEST-VALUE of the server shows
// whether anything is lost, doubled or half done.
type sketch struct {
	head   []byte
	blocks [][]byte
}

func (k *sketch) Head() []byte { return k.head }

func (k *sketch) ResizeHead(n int) []byte {
	k.head = append(make([]byte, 0, n), k.head[:min(n, len(k.head))]...)[:n]
	return k.head
}

func (k *sketch) Blocks() int                 { return len(k.blocks) }
func (k *sketch) Block(i int) []byte          { return k.blocks[i] }
func (k *sketch) Change(i, off, n int) []byte { return k.blocks[i][off : off+n] }
func (k *sketch) Truncate(n int)              { k.blocks = k.blocks[:n] }

func (k *sketch) Append(n int) []byte {
	k.blocks = append(k.blocks, make([]byte, n))
	return k.blocks[len(k.blocks)-1]
}

func (k *sketch) clone() *sketch {
	if k == nil {
		return nil
	}
	c := &sketch{head: slices.Clone(k.head)}
	for _, b := range k.blocks {
		c.blocks = append(c.blocks, slices.Clone(b))
	}
	return c
}

// sketchKinds are the types that are sketches, by the names that TYPE returns.
var sketchKinds = map[string]object.Type{
	object.TypeCuckoo.String(): object.TypeCuckoo, object.TypeCMS.String(): object.TypeCMS,
	object.TypeTopK.String(): object.TypeTopK, object.TypeTDigest.String(): object.TypeTDigest,
}

// digest returns what DEBUG DIGEST-VALUE says of the sketch at a key without a deadline.
func (k *sketch) digest(t object.Type) string {
	var d [sha1.Size]byte
	mix := func(b []byte) {
		for i, c := range sha1.Sum(b) {
			d[i] ^= c
		}
		d = sha1.Sum(d[:])
	}
	mix(binary.BigEndian.AppendUint32(nil, uint32(t)))
	switch t {
	case object.TypeTopK:
		mix(topk.Open(k).AppendState(nil))
	case object.TypeTDigest:
		mix(tdigest.Open(k).AppendState(nil))
	default:
		mix(k.head)
		for _, b := range k.blocks {
			mix(b)
		}
	}
	return hex.EncodeToString(d[:])
}

// withoutDeadline removes the part of a deadline from a digest.
func withoutDeadline(digest string) (string, error) {
	d, err := hex.DecodeString(digest)
	for i, c := range sha1.Sum([]byte("!!expire!!")) {
		if i < len(d) {
			d[i] ^= c
		}
	}
	return hex.EncodeToString(d), err
}

// create puts a sketch at the key unless there is one.
func (s state) create(key string, t object.Type, make func() *sketch) *sketch {
	if s[key] == nil {
		s.get(key, t.String()).sketch = make()
	}
	return s[key].sketch
}

// sketchOf returns the sketch at the key, or nil.
func (s state) sketchOf(key string) *sketch {
	if s[key] == nil {
		return nil
	}
	return s[key].sketch
}

func text(n int) string { return strconv.Itoa(n) }

// These are the server's defaults for cuckoo filters that are made without options.
const (
	cfCapacity, cfBucket, cfIterations, cfExpansion = 1024, 2, 20, 1
	cfMaxParts                                      = 32
)

func newCuckoo(capacity, bucket, iterations, expansion int) *sketch {
	k := &sketch{head: make([]byte, cuckoo.HeadSize)}
	f := cuckoo.Filter{BucketSize: uint16(bucket), MaxIterations: uint16(iterations), Mem: k}
	f.Buckets, f.Expansion = cuckoo.Geometry(uint64(capacity), f.BucketSize, uint16(expansion))
	f.Grow()
	f.PutHead(k.head)
	return k
}

// changeCuckoo does something to the filter at the key, if there is one.
func changeCuckoo(s state, key string, change func(f *cuckoo.Filter)) {
	if k := s.sketchOf(key); k != nil {
		f, _ := cuckoo.ParseHead(k.head)
		f.Mem = k
		change(&f)
		f.PutHead(k.head)
	}
}

// addCuckoo adds items, unless the filter already has too many parts.
func addCuckoo(s state, key string, items []string, unique bool) {
	changeCuckoo(s, key, func(f *cuckoo.Filter) {
		if f.Mem.Blocks() >= cfMaxParts {
			return
		}
		for _, item := range items {
			if unique {
				f.InsertUnique([]byte(item))
			} else {
				f.Insert([]byte(item))
			}
		}
	})
}

func (g *generator) cuckoo() []*unit {
	k := g.key("cf")
	items := g.elements(k)
	capacity := 8 << g.rnd.IntN(4)
	if strings.HasSuffix(k, "0") {
		capacity <<= 7
	}
	switch g.rnd.IntN(10) {
	case 0:
		bucket, iterations, expansion := 1+g.rnd.IntN(4), 1+g.rnd.IntN(30), g.rnd.IntN(2)
		return one(func(s state) {
			s.create(k, object.TypeCuckoo, func() *sketch {
				return newCuckoo(capacity, bucket, iterations, expansion)
			})
		}, "CF.RESERVE", k, text(capacity), "BUCKETSIZE", text(bucket), "MAXITERATIONS",
			text(iterations), "EXPANSION", text(expansion))
	case 1, 2:
		return one(func(s state) {
			changeCuckoo(s, k, func(f *cuckoo.Filter) { f.Delete([]byte(items[0])) })
		}, "CF.DEL", k, items[0])
	case 3:
		return one(func(s state) { changeCuckoo(s, k, (*cuckoo.Filter).Compact) }, "CF.COMPACT", k)
	case 4:
		unique := g.rnd.IntN(3) > 0
		return one(func(s state) {
			s.create(k, object.TypeCuckoo, func() *sketch {
				return newCuckoo(cfCapacity, cfBucket, cfIterations, cfExpansion)
			})
			addCuckoo(s, k, items[:1], unique)
		}, map[bool]string{true: "CF.ADDNX", false: "CF.ADD"}[unique], k, items[0])
	}
	unique := g.rnd.IntN(3) > 0
	return one(func(s state) {
		s.create(k, object.TypeCuckoo, func() *sketch {
			return newCuckoo(capacity, cfBucket, cfIterations, cfExpansion)
		})
		addCuckoo(s, k, items, unique)
	}, append([]string{map[bool]string{true: "CF.INSERTNX", false: "CF.INSERT"}[unique], k,
		"CAPACITY", text(capacity), "ITEMS"}, items...)...)
}

func openCMS(k *sketch) cms.Sketch { return cms.Open(k.head, k) }

func (g *generator) cms() []*unit {
	k, k2 := g.key("cms"), g.key("cms")
	width, depth := 50+g.rnd.IntN(2), 4
	if strings.HasSuffix(k, "0") {
		width = 1500 // more than a snapshot takes at once
	}
	switch g.rnd.IntN(6) {
	case 0:
		return one(func(s state) {
			s.create(k, object.TypeCMS, func() *sketch {
				c := &sketch{head: make([]byte, cms.HeadSize),
					blocks: [][]byte{make([]byte, width*depth*cms.CellSize)}}
				(&cms.Sketch{Width: uint64(width), Depth: uint64(depth)}).PutHead(c.head)
				return c
			})
		}, "CMS.INITBYDIM", k, text(width), text(depth))
	case 1:
		weight := g.rnd.IntN(4) - 1
		return one(func(s state) {
			a, b := s.sketchOf(k), s.sketchOf(k2)
			if a == nil || b == nil || len(a.blocks[0]) != len(b.blocks[0]) {
				return
			}
			sum := openCMS(a)
			if sum.Merge([]cms.Sketch{sum, openCMS(b)}, []int64{1, int64(weight)}) == nil {
				sum.PutHead(a.head)
			}
		}, "CMS.MERGE", k, "2", k, k2, "WEIGHTS", "1", text(weight))
	}
	args, items := []string{"CMS.INCRBY", k}, g.elements(k)
	by := make([]int, len(items))
	for i, item := range items {
		by[i] = g.rnd.IntN(1000)
		args = append(args, item, text(by[i]))
	}
	return one(func(s state) {
		if c := s.sketchOf(k); c != nil {
			sum := openCMS(c)
			for i, item := range items {
				sum.Incr([]byte(item), uint64(by[i]))
			}
			sum.PutHead(c.head)
		}
	}, args...)
}

func (g *generator) topk() []*unit {
	k := g.key("top")
	length, width, depth := 3+g.rnd.IntN(5), 20, 4
	if strings.HasSuffix(k, "0") {
		length, width = 50, 600
	}
	items, by := g.elements(k), 1
	switch g.rnd.IntN(6) {
	case 0:
		return one(func(s state) {
			s.create(k, object.TypeTopK, func() *sketch {
				head, buckets, _ := topk.Sizes(uint32(length), uint32(width), uint32(depth))
				t := &sketch{head: make([]byte, head), blocks: [][]byte{make([]byte, buckets)}}
				topk.New(t, uint32(length), uint32(width), uint32(depth), 0.925)
				return t
			})
		}, "TOPK.RESERVE", k, text(length), text(width), text(depth), "0.925")
	case 1, 2:
		by = g.rnd.IntN(100)
	}
	args := append([]string{"TOPK.ADD", k}, items...)
	if by != 1 {
		args = []string{"TOPK.INCRBY", k}
		for _, item := range items {
			args = append(args, item, text(by))
		}
	}
	return one(func(s state) {
		if t := s.sketchOf(k); t != nil {
			l := topk.Open(t)
			for _, item := range items {
				l.Add([]byte(item), uint32(by), nil)
			}
		}
	}, args...)
}

func newTDigest(compression int64) *sketch {
	k := &sketch{head: make([]byte, tdigest.FirstSize)}
	tdigest.New(k, compression)
	return k
}

// tdigest adds values or merges. It merges only into keys that nothing is merged from, because
// weights that double over and over do not fit in a float.
func (g *generator) tdigest() []*unit {
	k := g.key([]string{"td", "td", "tm"}[g.rnd.IntN(3)])
	compression := int64(10 + g.rnd.IntN(20))
	if strings.HasSuffix(k, "0") {
		compression = 300
	}
	comp := strconv.FormatInt(compression, 10)
	switch g.rnd.IntN(7) {
	case 0:
		return one(func(s state) {
			s.create(k, object.TypeTDigest, func() *sketch { return newTDigest(compression) })
		}, "TDIGEST.CREATE", k, "COMPRESSION", comp)
	case 1:
		if strings.HasSuffix(k, "0") && g.rnd.IntN(5) > 0 {
			break
		}
		return one(func(s state) {
			if d := s.sketchOf(k); d != nil {
				tdigest.Open(d).Reset()
			}
		}, "TDIGEST.RESET", k)
	case 2:
		return g.mergeTDigest(g.key("tm"), g.key("td"), g.key("td"), compression)
	}
	args, values := []string{"TDIGEST.ADD", k}, make([]float64, 1+g.rnd.IntN(60))
	for i := range values {
		values[i] = g.rnd.NormFloat64() * 100
		args = append(args, strconv.FormatFloat(values[i], 'g', -1, 64))
	}
	return one(func(s state) {
		if d := s.sketchOf(k); d != nil {
			for _, v := range values {
				_ = tdigest.Open(d).Add(v, 1) // 2^63 values are out of reach
			}
		}
	}, args...)
}

func (g *generator) mergeTDigest(k, from1, from2 string, compression int64) []*unit {
	args := []string{"TDIGEST.MERGE", k, "2", from1, from2, "COMPRESSION",
		strconv.FormatInt(compression, 10)}
	override := g.rnd.IntN(2) == 0
	if override {
		args = append(args, "OVERRIDE")
	}
	return one(func(s state) {
		from := []*sketch{s.sketchOf(from1), s.sketchOf(from2)}
		if from[0] == nil || from[1] == nil {
			return
		}
		if d := s.sketchOf(k); d != nil && !override {
			from = slices.Insert(from, 0, d)
		}
		sum := newTDigest(compression)
		for _, d := range from {
			_ = tdigest.Open(sum).Merge(tdigest.Open(d)) // as above
		}
		delete(s, k)
		s.get(k, object.TypeTDigest.String()).sketch = sum
	}, args...)
}
