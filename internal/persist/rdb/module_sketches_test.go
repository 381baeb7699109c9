package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cms"
	"godwit/internal/cuckoo"
	"godwit/internal/keyspace"
	"godwit/internal/murmur"
	"godwit/internal/object"
	"godwit/internal/tdigest"
	"godwit/internal/topk"
)

var sketchKinds = []object.Type{object.TypeCuckoo, object.TypeCMS, object.TypeTopK,
	object.TypeTDigest}

// fillSketch makes a sketch of the type under the key, which is absent.
func fillSketch(db *keyspace.DB, key []byte, t object.Type, rng *rand.Rand) {
	n := rng.IntN(2000)
	item := func() []byte { return fmt.Append(nil, "item ", rng.IntN(500)) }
	var s *object.Sketch
	switch t {
	case object.TypeCuckoo:
		s = object.NewSketch(db.Heap(), cuckoo.HeadSize)
		f := cuckoo.Filter{BucketSize: uint16(1 + rng.IntN(4)),
			MaxIterations: uint16(1 + rng.IntN(30)), Mem: s}
		f.Buckets, f.Expansion = cuckoo.Geometry(uint64(8+rng.IntN(1000)), f.BucketSize,
			uint16(1+rng.IntN(3)))
		f.Grow()
		for range n {
			f.Insert(item())
		}
		f.PutHead(s.Head())
	case object.TypeCMS:
		s = object.NewSketch(db.Heap(), cms.HeadSize)
		k := cms.Sketch{Width: 1 + rng.Uint64N(3000), Depth: 1 + rng.Uint64N(7), Mem: s}
		size, _ := cms.Bytes(k.Width, k.Depth)
		s.Append(int(size))
		for range n {
			k.Incr(item(), rng.Uint64N(1000))
		}
		k.PutHead(s.Head())
	case object.TypeTopK:
		k, width, depth := uint32(1+rng.IntN(60)), uint32(1+rng.IntN(100)), uint32(1+rng.IntN(7))
		head, buckets, _ := topk.Sizes(k, width, depth)
		s = object.NewSketch(db.Heap(), int(head))
		s.Append(int(buckets))
		l := topk.New(s, k, width, depth, 0.9)
		for range n {
			l.Add(item(), uint32(rng.IntN(4)), nil)
		}
	case object.TypeTDigest:
		s = object.NewSketch(db.Heap(), tdigest.FirstSize)
		d := tdigest.New(s, 1+rng.Int64N(300))
		for range n {
			if err := d.Add(rng.NormFloat64(), 1+rng.Int64N(3)); err != nil {
				panic(err)
			}
		}
	}
	db.CreateSketch(key, t, s)
}

// sketchState returns all that tells two sketches apart.
func sketchState(x *object.Edit) string {
	s := x.Sketch()
	switch x.E.Type() {
	case object.TypeTopK:
		return string(topk.Open(s).AppendState(nil))
	case object.TypeTDigest:
		return string(tdigest.Open(s).AppendState(nil))
	}
	all := append([]byte(nil), s.Head()...)
	for i := range s.Blocks() {
		all = append(all, s.Block(i)...)
	}
	return string(all)
}

// TestSketchRecords writes sketches of each type and reads them, as a file in small pieces and as
// payloads.
func TestSketchRecords(t *testing.T) {
	seed, rng := newSeed(t)
	ks, back := newKeyspace(t, redisLimits(), seed), newKeyspace(t, redisLimits(), seed)
	for i := range 80 {
		fillSketch(ks.DB(i%3), fmt.Append(nil, "sketch ", i), sketchKinds[i%4], rng)
	}
	b := encodeAll(ks, true)
	require.NoError(t,
		load(back, &bits{bytes.NewReader(b), rng, 1 + rng.IntN(3000)},
			ReadOptions{Workers: rng.IntN(3)}))
	for i := range 80 {
		key, db := fmt.Append(nil, "sketch ", i), i%3
		was, is := ks.DB(db).Peek(key), back.DB(db).Peek(key)
		require.Equal(t, was.Type(), is.Type())
		require.Equal(t, sketchState(ks.DB(db).Open(was)), sketchState(back.DB(db).Open(is)), "%s",
			key)
		var e, again Encoder
		Dump(&e, ks.Heap, was)
		v, err := Restore(e.B, ReadOptions{})
		require.NoError(t, err)
		require.NoError(t, Insert(back.DB(4), key, &v, NoAccess()))
		copied := back.DB(4).Peek(key)
		require.Equal(t, sketchState(ks.DB(db).Open(was)), sketchState(back.DB(4).Open(copied)))
		Dump(&again, back.Heap, copied)
		require.Equal(t, e.B, again.B)
	}
	for _, name := range []string{"MBbloomCF", "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE"} {
		ver := 0
		if name == "MBbloomCF" {
			ver = 4
		}
		require.Equal(t, 20, strings.Count(string(b), string(idBytes(name, ver))), name)
	}
}

// parts returns a module's value of those parts: uint64 unsigned, int64 signed, float64 doubles,
// strings.
func parts(name string, ver int, list ...any) string {
	var p Parts
	for _, v := range list {
		switch v := v.(type) {
		case int:
			p.Uint(uint64(v))
		case uint64:
			p.Uint(v)
		case int64:
			p.Int(v)
		case float64:
			p.Double(v)
		case string:
			p.String([]byte(v))
		}
	}
	return "\x07" + string(idBytes(name, ver)) + string(p.e.B) + "\x00"
}

func le32(n ...uint32) (s string) {
	for _, v := range n {
		s += string(binary.LittleEndian.AppendUint32(nil, v))
	}
	return s
}

// redisBloomRecord is a record of a sketch, and whether it is sound.
type redisBloomRecord struct {
	value string
	ok    bool
}

// redisBloomFilters returns records of cuckoo filters and count-min sketches as RedisBloom writes
// them, or nearly so, and whether they are sound.
func redisBloomFilters() map[string]redisBloomRecord {
	cf := func(list ...any) string { return parts("MBbloomCF", 4, list...) }
	cm := func(list ...any) string { return parts("CMSk-TYPE", 0, list...) }
	eight := "\x01\x00\x02\x00\x00\x03\x00\x04"
	//lint:table a record and whether it is sound
	return map[string]redisBloomRecord{
		"cuckoo":                          {cf(1, 4, 4, 0, 2, 20, 1, 4, eight), true},
		"cuckoo, two":                     {cf(2, 4, 8, 0, 2, 20, 2, 4, eight, 8, eight+eight), true},
		"cuckoo, older":                   {parts("MBbloomCF", 3, 1, 4, 4, 0, 2, 20, 1, 4, eight), false},
		"cuckoo, newer":                   {parts("MBbloomCF", 5, 1, 4, 4, 0, 2, 20, 1, 4, eight), false},
		"cuckoo, none":                    {cf(0, 4, 4, 0, 2, 20, 1), false},
		"cuckoo, very many":               {cf(uint64(math.MaxUint64), 4, 4, 0, 2, 20, 1), false},
		"cuckoo, may not grow":            {cf(2, 4, 8, 0, 2, 20, 0, 4, eight, 8, eight+eight), false},
		"cuckoo, buckets no power of two": {cf(1, 3, 4, 0, 2, 20, 1, 3, eight[:6]), false},
		"cuckoo, no buckets":              {cf(1, 0, 4, 0, 2, 20, 1, 0, ""), false},
		"cuckoo, no slots":                {cf(1, 4, 4, 0, 0, 20, 1, 4, ""), false},
		"cuckoo, many slots":              {cf(1, 4, 4, 0, 65538, 20, 1, 4, eight), false},
		"cuckoo, no iterations":           {cf(1, 4, 4, 0, 2, 0, 1, 4, eight), false},
		"cuckoo, short":                   {cf(1, 4, 4, 0, 2, 20, 1, 4, eight[1:]), false},
		"cuckoo, shrinking":               {cf(2, 4, 8, 0, 2, 20, 1, 4, eight, 2, eight[:4]), false},
		"cuckoo, other number of buckets": {cf(1, 4, 4, 0, 2, 20, 1, 8, eight), false},
		"cuckoo, more behind it":          {cf(1, 4, 4, 0, 2, 20, 1, 4, eight, 1), false},
		"cms":                             {cm(2, 1, 7, le32(3, 4)), true},
		"cms, no width":                   {cm(0, 1, 7, ""), false},
		"cms, no depth":                   {cm(1, 0, 7, ""), false},
		"cms, too short":                  {cm(2, 1, 7, le32(3)), false},
		"cms, size wraps":                 {cm(uint64(1)<<62, 4, 7, ""), false},
		"cms, total of 64 bits":           {cm(2, 1, uint64(1)<<63, le32(3, 4)), false},
		"cms, of a later version":         {parts("CMSk-TYPE", 1, 2, 1, 7, le32(3, 4)), false},
	}
}

// redisBloomDigests returns the same of top-k lists and t-digests.
func redisBloomDigests() map[string]redisBloomRecord {
	fp := func(s string) uint32 { return murmur.Sum32([]byte(s), 1919) }
	pointer := string(bytes.Repeat([]byte{0x5a}, 8))
	heap := func(item string, count uint32) string {
		return le32(fp(item), uint32(len(item))) + pointer + le32(count, 0xdeadbeef)
	}
	tk := func(list ...any) string { return parts("TopK-TYPE", 0, list...) }
	td := func(list ...any) string { return parts("TDIS-TYPE", 0, list...) }
	nodes := func(n int64, rest ...any) []any {
		return append([]any{100., 1., 4., int64(610), n, int64(0), int64(3), 4., 0.}, rest...)
	}
	//lint:table a record and whether it is sound
	return map[string]redisBloomRecord{
		"topk":                       {tk(2, 2, 1, 0.9, le32(1, 2, 3, 4), heap("b", 3)+heap("a", 5), "b\x00", "a\x00"), true},
		"topk, no heap":              {tk(2, 2, 1, 0.9, le32(1, 2, 3, 4), heap("a", 5)+heap("b", 3), "a\x00", "b\x00"), true},
		"topk, one free":             {tk(2, 2, 1, 0.9, le32(1, 2, 3, 4), heap("", 0)+heap("a", 5), "\x00", "a\x00"), true},
		"topk, the empty item":       {tk(1, 2, 1, 0.9, le32(1, 2, 3, 4), heap("", 7), "\x00"), true},
		"topk, twice the same":       {tk(2, 2, 1, 0.9, le32(1, 2, 3, 4), heap("a", 3)+heap("a", 5), "a\x00", "a\x00"), true},
		"topk, k 0":                  {tk(0, 2, 1, 0.9, le32(1, 2, 3, 4), ""), false},
		"topk, k large":              {tk(uint64(1)<<32, 2, 1, 0.9, le32(1, 2, 3, 4), ""), false},
		"topk, size wraps":           {tk(1, uint64(1)<<31, uint64(1)<<31, 0.9, "", heap("a", 5), "a\x00"), false},
		"topk, width 0":              {tk(1, 0, 1, 0.9, "", heap("a", 5), "a\x00"), false},
		"topk, decay 0":              {tk(1, 1, 1, 0., le32(1, 2), heap("a", 5), "a\x00"), false},
		"topk, decay NaN":            {tk(1, 1, 1, math.NaN(), le32(1, 2), heap("a", 5), "a\x00"), false},
		"topk, buckets short":        {tk(1, 2, 1, 0.9, le32(1, 2, 3), heap("a", 5), "a\x00"), false},
		"topk, heap short":           {tk(2, 2, 1, 0.9, le32(1, 2, 3, 4), heap("a", 5), "a\x00", "\x00"), false},
		"topk, items missing":        {tk(2, 2, 1, 0.9, le32(1, 2, 3, 4), heap("b", 3)+heap("a", 5), "b\x00"), false},
		"topk, no end":               {tk(1, 1, 1, 0.9, le32(1, 2), heap("a", 5), "a"), false},
		"topk, nothing":              {tk(1, 1, 1, 0.9, le32(1, 2), heap("a", 5), ""), false},
		"tdigest":                    {td(nodes(3, 1., 2., 4., 1., 2., 1.)...), true},
		"tdigest, empty":             {td(100., math.MaxFloat64, -math.MaxFloat64, int64(610), int64(0), int64(0), int64(0), 0., 0.), true},
		"tdigest, no order":          {td(nodes(3, 4., 2., 1., 1., 2., 1.)...), true},
		"tdigest, below the least":   {td(nodes(3, 0.5, 2., 4., 1., 2., 1.)...), false},
		"tdigest, NaN":               {td(nodes(3, 1., math.NaN(), 4., 1., 2., 1.)...), false},
		"tdigest, weight 0":          {td(nodes(3, 1., 2., 4., 1., 0., 1.)...), false},
		"tdigest, weight NaN":        {td(nodes(3, 1., 2., 4., 1., math.NaN(), 1.)...), false},
		"tdigest, weights overflow":  {td(nodes(3, 1., 2., 4., 1e18, 5e18, 5e18)...), false},
		"tdigest, weights short":     {td(nodes(3, 1., 2., 4., 1., 2.)...), false},
		"tdigest, nodes < 0":         {td(nodes(-1)...), false},
		"tdigest, very many nodes":   {td(nodes(math.MaxInt64)...), false},
		"tdigest, compression 0":     {td(0., 1., 4., int64(610), int64(1), int64(0), int64(3), 4., 0., 1., 1.), false},
		"tdigest, compression NaN":   {td(math.NaN(), 1., 4., int64(610), int64(1), int64(0), int64(3), 4., 0., 1., 1.), false},
		"tdigest, compression large": {td(1e18, 1., 4., int64(610), int64(1), int64(0), int64(3), 4., 0., 1., 1.), false},
		"tdigest, Min is infinite":   {td(100., math.Inf(-1), 4., int64(610), int64(1), int64(0), int64(3), 4., 0., 1., 1.), false},
		"tdigest, unmerged":          {td(100., 1., 4., int64(610), int64(1), int64(1), int64(3), 4., 0., 1., 1.), false},
		"tdigest, unsigned":          {td(100., 1., 4., 610, 1, 0, 3, 4., 0., 1., 1.), false},
	}
}

// TestRedisBloomSketches reads records as RedisBloom's rdb_save functions write them, and refuses
// broken ones.
func TestRedisBloomSketches(t *testing.T) {
	records := redisBloomFilters()
	maps.Copy(records, redisBloomDigests())
	for name, c := range records {
		t.Run(name, func(t *testing.T) {
			v, err := Restore(payload(10, c.value), ReadOptions{})
			if !c.ok {
				require.ErrorIs(t, err, ErrFormat)
				return
			}
			require.NoError(t, err)
			ks := newKeyspace(t, redisLimits(), 1)
			require.NoError(t, Insert(ks.DB(0), []byte("k"), &v, NoAccess()))
			exercise(t, ks.DB(0), []byte("k"))
		})
	}
}

// exercise uses a sketch that came from elsewhere in each way that changes it.
func exercise(t testing.TB, db *keyspace.DB, key []byte) {
	x := db.Open(db.Peek(key))
	s := x.ChangingSketch()
	items := [][]byte{[]byte("a"), []byte("b"), nil, []byte("something else")}
	switch x.E.Type() {
	case object.TypeCuckoo:
		f, _ := cuckoo.ParseHead(s.Head())
		f.Mem, f.Limit = s, smallLimit{}
		for _, it := range items {
			f.Insert(it)
			f.Count(it)
			f.Delete(it)
		}
		f.Compact()
		f.PutHead(s.Head())
	case object.TypeCMS:
		k := cms.Open(s.Head(), s)
		for _, it := range items {
			k.Incr(it, 5)
			k.Query(it)
		}
		k.PutHead(s.Head())
	case object.TypeTopK:
		l := topk.Open(s)
		for _, it := range items {
			l.Add(it, 3, nil)
			l.Count(it)
		}
		l.List()
	case object.TypeTDigest:
		d := tdigest.Open(s)
		v := d.View()
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
			v.Quantile(q)
			v.CDF(q)
		}
		v.TrimmedMean(0.1, 0.9)
		// Full or not, it takes more; only its weight may end that.
		for i := range 50 {
			if d.Add(float64(i), 1) != nil {
				require.Equal(t, int64(math.MaxInt64), d.Size())
			}
		}
		d.Compress()
	}
	var e Encoder
	Dump(&e, db.Heap(), db.Peek(key))
	_, err := Restore(e.B, ReadOptions{})
	require.NoError(t, err)
}

// smallLimit keeps filters from growing.
type smallLimit struct{}

func (smallLimit) Fits(n uint64) bool { return n < 1<<16 }

// FuzzSketches reads module values of any bytes. What is taken for a sketch can be used, and read
// again when it is written.
func FuzzSketches(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, kind := range sketchKinds {
		ks := newKeyspace(f, redisLimits(), 1)
		fillSketch(ks.DB(0), []byte("k"), kind, rng)
		var e Encoder
		e.Value(ks.Heap, ks.DB(0).Peek([]byte("k")))
		if len(e.B) < 4096 {
			f.Add(e.B)
		}
	}
	f.Add([]byte(parts("CMSk-TYPE", 0, 2, 1, 7, le32(3, 4))))
	f.Add([]byte(
		parts("MBbloomCF", 4, 1, 4, 4, 0, 2, 20, 1, 4, "\x01\x00\x02\x00\x00\x03\x00\x04")))
	f.Add([]byte(parts("TopK-TYPE", 0, 1, 1, 1, 0.9, le32(1, 2), le32(1, 1, 0, 0, 5, 0), "a\x00")))
	f.Add([]byte(
		parts("TDIS-TYPE", 0, 100., 1., 4., int64(610), int64(2), int64(0), int64(3), 4., 0., 1.,
			4., 1., 1.5)))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Restore(payload(12, string(b)), ReadOptions{})
		if err != nil {
			return
		}
		ks := newKeyspace(t, redisLimits(), 1)
		if err := Insert(ks.DB(0), []byte("k"), &v, NoAccess()); err != nil {
			require.ErrorIs(t, err, ErrDuplicate)
			require.Zero(t, ks.DB(0).Len())
			return
		}
		if e := ks.DB(0).Peek([]byte("k")); e.Exists() && e.Encoding() == object.EncSketch &&
			e.Type() != object.TypeBloom {
			exercise(t, ks.DB(0), []byte("k"))
		}
	})
}
