package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/intset"
	"godwit/internal/invariant"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/stream"
	"godwit/internal/testseed"
)

// testNow is the clock of test keyspaces, unix ms: long before the deadlines in tests.
const testNow = 1_000_000

// redisLimits returns Redis's defaults.
func redisLimits() object.Limits {
	return object.Limits{HashMaxListpackEntries: 512, HashMaxListpackValue: 64,
		SetMaxIntsetEntries: 512, SetMaxListpackEntries: 128, SetMaxListpackValue: 64,
		ZSetMaxListpackEntries: 128, ZSetMaxListpackValue: 64, ListMaxListpackSize: -2,
		Stream: stream.Limits{NodeBytes: 4096, NodeEntries: 100}}
}

// newKeyspace makes a keyspace whose memory must be all back at the end.
func newKeyspace(t testing.TB, lim object.Limits, seed uint64) *keyspace.Keyspace {
	a := arena.New()
	ks := keyspace.New(a, keyspace.Params{Databases: 6, Samples: 5, Limits: lim},
		rand.New(rand.NewPCG(seed, 1)), testNow, keyspace.NoHooks{})
	t.Cleanup(func() {
		for i := range ks.Databases() {
			ks.DB(i).Flush(false)
		}
		for ks.LazyFreeSlice(1 << 20) {
		}
		if used := a.UsedBy(arena.Values); used != 0 && !t.Failed() {
			t.Errorf("%d bytes of values are lost", used)
		}
		if !invariant.Enabled { // which would miss the tables of the empty databases
			a.Close()
		}
	})
	return ks
}

func newSeed(t testing.TB) (uint64, *rand.Rand) {
	seed := testseed.New(t)
	return seed, rand.New(rand.NewPCG(seed, 2))
}

// randomText returns a short or long, compressible or random string, or an integer.
func randomText(rng *rand.Rand, longest int) []byte {
	switch rng.IntN(6) {
	case 0:
		return strconv.AppendInt(nil, rng.Int64()>>rng.IntN(64)*int64(1-2*rng.IntN(2)), 10)
	case 1:
		return strconv.AppendInt(nil, int64(rng.IntN(300)), 10)
	case 2:
		return bytes.Repeat([]byte("abc"), rng.IntN(longest/3+1))
	case 3:
		return fmt.Appendf(nil, "0%d", rng.IntN(100))
	default:
		b := make([]byte, rng.IntN(longest+1))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
}

// fillKey makes a random value of the type under the key, which must be absent. The value has at
// least one element.
func fillKey(db *keyspace.DB, key []byte, t object.Type, rng *rand.Rand) {
	n := 1 + rng.IntN(4)
	longest := 40
	if rng.IntN(2) == 0 {
		n = 1 + rng.IntN(200)
	}
	if rng.IntN(4) == 0 {
		longest = 400
	}
	switch t {
	case object.String:
		db.Set(key, object.StringValue(randomText(rng, 1+rng.IntN(40000))), 0)
	case object.List:
		l := object.AsList(db.Create(key, t, object.EncListpack, listpack.Empty()))
		for range n {
			b := randomText(rng, longest)
			l.MakeRoomFor(b)
			l.Push(b, rng.IntN(2) == 0)
		}
	case object.Set:
		ints := rng.IntN(2) == 0
		s := object.AsSet(db.Create(key, t, object.EncIntset, intset.Empty()))
		for range n {
			if ints {
				s.Add(strconv.AppendInt(nil, rng.Int64()>>rng.IntN(64), 10))
			} else {
				s.Add(randomText(rng, longest))
			}
		}
	case object.ZSet:
		z := object.AsZSet(db.Create(key, t, object.EncListpack, listpack.Empty()))
		for range n {
			z.Add(randomScore(rng), randomText(rng, longest), 0)
		}
	case object.Hash:
		x := db.Create(key, t, object.EncPairs, listpack.PairsEmpty())
		h := object.AsHash(x)
		timed := rng.IntN(2) == 0
		for range n {
			f := randomText(rng, longest)
			h.Set(f, randomText(rng, longest))
			if timed && rng.IntN(3) > 0 {
				h.SetDeadline(f, testNow+1000+rng.Int64N(1<<40))
				db.ArmFields(x)
			}
		}
	}
}

func randomScore(rng *rand.Rand) float64 {
	switch rng.IntN(5) {
	case 0:
		return float64(rng.IntN(10))
	case 1:
		return rng.NormFloat64() * 1e100
	case 2:
		return float64(rng.Int64())
	case 3:
		return []float64{0, 1 / negZero(), -1 / negZero(), 5e-324,
			1.7976931348623157e308}[rng.IntN(5)]
	}
	return rng.NormFloat64()
}

// negZero returns 0, in a way that the compiler does not see through.
func negZero() float64 { return float64(len("")) }

// fillAll makes n random keys, some with a deadline, in random databases.
func fillAll(ks *keyspace.Keyspace, rng *rand.Rand, n int, timed bool) {
	for i := range n {
		db := ks.DB(rng.IntN(3))
		key := append(randomText(rng, 30), fmt.Sprint(".", i)...)
		if rng.IntN(8) == 0 {
			key = strconv.AppendInt(nil, int64(i)*1000, 10)
		}
		if db.Peek(key).Exists() {
			continue
		}
		fillKey(db, key,
			[]object.Type{object.String, object.List, object.Set, object.ZSet, object.Hash}[i%5],
			rng)
		if !timed {
			stripDeadlines(db, key)
		}
		if rng.IntN(3) == 0 {
			db.SetDeadline(db.Peek(key), 1<<42+rng.Int64N(1<<40)) // after the year 2100
		}
	}
}

// fillAny is fillAll with deadlines of fields, and random streams beside it.
func fillAny(ks *keyspace.Keyspace, rng *rand.Rand, n int) {
	fillAll(ks, rng, n, true)
	for i := range n / 5 {
		fillStream(ks.DB(rng.IntN(3)), fmt.Appendf(nil, "stream:%d", i), rng, true)
	}
}

func stripDeadlines(db *keyspace.DB, key []byte) {
	e := db.Peek(key)
	if e.Type() != object.Hash || !db.Heap().HasFieldDeadlines(e) {
		return
	}
	h := object.AsHash(db.Open(e))
	var fields [][]byte
	h.Each(func(f, _ listpack.Value) bool { fields = append(fields, f.Append(nil)); return true })
	for _, f := range fields {
		h.SetDeadline(f, 0)
	}
}

// image returns what a database holds, comparable.
func image(db *keyspace.DB) map[string]string {
	m := map[string]string{}
	for cursor, more := uint64(0), true; more; more = cursor != 0 {
		cursor = db.Scan(cursor, func(e object.Entry, due bool) {
			if !due {
				m[string(e.Key())] = fmt.Sprint(e.Type(), " ", e.Deadline(), " ", content(db, e))
			}
		})
	}
	return m
}

// content returns the elements of a value.
func content(db *keyspace.DB, e object.Entry) string {
	x := new(object.Edit)
	x.Reset(db.Heap(), e, nil)
	var out []string
	switch e.Type() {
	case object.String:
		var scratch [24]byte
		return string(db.StringBytes(e, &scratch))
	case object.List:
		it := object.AsList(x).Iter(0, false)
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			out = append(out, string(v.Append(nil)))
		}
	case object.Set:
		object.AsSet(x).Each(func(v listpack.Value) bool {
			out = append(out, string(v.Append(nil)))
			return true
		})
		slices.Sort(out)
	case object.ZSet:
		object.AsZSet(x).Each(func(m listpack.Value, score float64) bool {
			// A listpack keeps whole numbers as integers, so -0 turns to 0 there, as in Redis.
			out = append(out, string(object.AppendScore(m.Append(nil), score+0)))
			return true
		})
	case object.Hash:
		object.AsHash(x).EachStored(func(f, v listpack.Value, deadline int64) bool {
			out = append(out, fmt.Sprintf("%q %q %d", f.Append(nil), v.Append(nil), deadline))
			return true
		})
		slices.Sort(out)
	case object.Stream:
		if err := x.Stream().Check(); err != nil {
			return err.Error()
		}
		return streamText(x.Stream())
	case object.TypeBloom:
		s := x.Sketch()
		out = append(out, string(s.Head()))
		for i := range s.Blocks() {
			out = append(out, string(s.Block(i)))
		}
	}
	return fmt.Sprint(len(out), strings.Join(out, "\x00"))
}

// encodeAll makes a file of everything.
func encodeAll(ks *keyspace.Keyspace, compress bool) []byte {
	return encodeFor(ks, compress, Auto)
}

// encodeFor makes a file for a target.
func encodeFor(ks *keyspace.Keyspace, compress bool, target Target) []byte {
	e := Encoder{Compress: compress, Target: target}
	e.Header(target.Version())
	e.Aux("redis-ver", "7.2.0")
	e.Aux("ctime", "1700000000")
	for i := range ks.Databases() {
		db := ks.DB(i)
		if db.Len() == 0 {
			continue
		}
		e.SelectDB(i)
		e.Resize(db.Len(), db.Expires())
		seen := map[string]bool{} // a table that shrinks on the way shows a key twice
		for cursor, more := uint64(0), true; more; more = cursor != 0 {
			cursor = db.Scan(cursor, func(en object.Entry, _ bool) {
				if seen[string(en.Key())] {
					return
				}
				seen[string(en.Key())] = true
				m := NoAccess()
				m.Deadline = en.Deadline()
				e.Meta(m)
				e.Record(ks.Heap, en)
			})
		}
	}
	e.EOF()
	crc := CRC64(0, e.B)
	if target == Auto && e.Version > Version {
		crc = PatchVersion(crc, int64(len(e.B)), Version, e.Version)
		copy(e.B, AppendHeader(nil, e.Version))
	}
	return binary.LittleEndian.AppendUint64(e.B, crc)
}

// smallFile returns a file with a key of each type.
func smallFile(t testing.TB) []byte {
	ks := newKeyspace(t, redisLimits(), 1)
	db := ks.DB(1)
	for i, typ := range []object.Type{object.List, object.Set, object.ZSet, object.Hash} {
		enc, packed := object.EncListpack, listpack.Empty()
		if typ == object.Hash {
			enc, packed = object.EncPairs, listpack.PairsEmpty()
		}
		x := db.Create([]byte{byte('a' + i)}, typ, enc, packed)
		switch typ {
		case object.List:
			object.AsList(x).Push([]byte("e"), false)
		case object.Set:
			object.AsSet(x).Add([]byte("m"))
		case object.ZSet:
			object.AsZSet(x).Add(1.5, []byte("m"), 0)
		case object.Hash:
			object.AsHash(x).Set([]byte("f"), []byte("v"))
			object.AsHash(x).SetDeadline([]byte("f"), 1<<42)
			db.ArmFields(x)
		}
	}
	db.Set([]byte("s"), object.StringValue(bytes.Repeat([]byte("ab"), 20)), 1<<42)
	return encodeAll(ks, true)
}

// load reads a file into a keyspace.
func load(ks *keyspace.Keyspace, src io.Reader, o ReadOptions) error {
	r := NewReader(src, o)
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.DB >= ks.Databases() {
			return fmt.Errorf("database %d", rec.DB)
		}
		if rec.Kind == KindResize && rec.Keys < 1<<20 {
			ks.DB(rec.DB).Expect(int(rec.Keys))
		}
		if rec.Kind != KindKey || rec.Value.Empty() {
			continue
		}
		if next := r.Ahead(8); next != nil && next.Kind == KindKey {
			ks.DB(next.DB).Prefetch(next.Key)
		}
		if err := Insert(ks.DB(rec.DB), rec.Key, &rec.Value, rec.Meta); err != nil {
			return fmt.Errorf("%q: %w", rec.Key, err)
		}
	}
}

// bits reads in pieces of random size.
type bits struct {
	src io.Reader
	rng *rand.Rand
	max int
}

func (b *bits) Read(p []byte) (int, error) {
	return b.src.Read(p[:min(len(p), 1+b.rng.IntN(b.max))])
}

// file puts records between a header and an end without checksum.
func file(version int, records ...[]byte) []byte {
	b := AppendHeader(nil, version)
	for _, r := range records {
		b = append(b, r...)
	}
	b = append(b, opEOF)
	if version >= versionChecksum {
		b = append(b, make([]byte, ChecksumLen)...)
	}
	return b
}

// loaded returns what the files' database 0 holds, under default limits.
func loaded(t *testing.T, file []byte) map[string]string {
	t.Helper()
	seed, _ := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	require.NoError(t, load(ks, bytes.NewReader(file), ReadOptions{}))
	return image(ks.DB(0))
}
