package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/bloom"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// fillFilter makes a filter with n items under the key.
func fillFilter(t testing.TB, db *keyspace.DB, key string, p bloom.Params, n int) *object.Sketch {
	head, err := bloom.NewHeader(p)
	require.NoError(t, err)
	s := object.NewSketch(db.Heap(), len(head))
	copy(s.Head(), head)
	bloom.Init(s)
	for i := range n {
		for bloom.Add(s, fmt.Appendf(nil, "item %d", i)) == bloom.Full {
			grown, _, err := bloom.NextLink(s.Head())
			require.NoError(t, err)
			bloom.Grow(s, grown)
		}
	}
	return db.CreateSketch([]byte(key), object.TypeBloom, s).Sketch()
}

// encodedFilter returns the record type and value of such a filter.
func encodedFilter(t testing.TB, p bloom.Params, n int) []byte {
	ks := newKeyspace(t, redisLimits(), 1)
	fillFilter(t, ks.DB(0), "k", p, n)
	var e Encoder
	e.Value(ks.Heap, ks.DB(0).Peek([]byte("k")))
	return e.B
}

// TestSketches writes filters of both kinds and reads them, as a file in small pieces and as
// payloads.
func TestSketches(t *testing.T) {
	seed, rng := newSeed(t)
	ks, back := newKeyspace(t, redisLimits(), seed), newKeyspace(t, redisLimits(), seed)
	for i := range 40 {
		p := bloom.Params{Error: math.Pow(10, -1-rng.Float64()*4), Capacity: 1 + rng.Uint64N(2000),
			Growth: uint32(1 + rng.IntN(3)), Murmur64A: i%2 == 0}
		fillFilter(t, ks.DB(i%3), fmt.Sprint("filter ", i), p, rng.IntN(6000))
	}
	b := encodeAll(ks, true)
	require.NoError(t,
		load(back, &bits{bytes.NewReader(b), rng, 1 + rng.IntN(3000)},
			ReadOptions{Workers: rng.IntN(3)}))
	for i := range 3 {
		require.Equal(t, image(ks.DB(i)), image(back.DB(i)))
	}
	require.Equal(t, 20, strings.Count(string(b), string(idBytes("MBbloom--", 4))))
	require.Equal(t, 20, strings.Count(string(b), string(idBytes("GWbloom--", 1))))
	en := ks.DB(0).Peek([]byte("filter 0"))
	var e Encoder
	Dump(&e, ks.Heap, en)
	v, err := Restore(e.B, ReadOptions{})
	require.NoError(t, err)
	require.NoError(t, Insert(back.DB(4), []byte("copy"), &v, NoAccess()))
	require.Equal(t, content(ks.DB(0), en), content(back.DB(4), back.DB(4).Peek([]byte("copy"))))
}

func idBytes(name string, ver int) []byte {
	var e Encoder
	e.Len(moduleID(name, ver))
	return e.B
}

func TestModuleID(t *testing.T) {
	for name := range sketches {
		require.Len(t, name, 9)
		require.Equal(t, name, moduleName(moduleID(name, 1023)))
	}
}

// TestRedisBloomRecord compares the record of a filter of RedisBloom's kind with one written by
// hand after its rdb_save.
func TestRedisBloomRecord(t *testing.T) {
	var p Parts
	p.Uint(2) // items
	p.Uint(1) // links
	p.Uint(5) // not rounded, 64-bit hash
	p.Uint(2) // growth
	p.Uint(10)
	p.Double(0.005)
	p.Uint(8)
	p.Double(-math.Log(0.005) / 0.480453013918201)
	p.Uint(128)
	p.Uint(0)
	bits := make([]byte, 16)
	p.String(bits)
	p.Uint(2)
	want := append([]byte{typeModule2}, idBytes("MBbloom--", 4)...)
	want = append(append(want, p.e.B...), moduleEOF)

	ks := newKeyspace(t, redisLimits(), 1)
	s := fillFilter(t, ks.DB(0), "k",
		bloom.Params{Error: 0.01, Capacity: 10, Growth: 2, Murmur64A: true}, 2)
	clear(s.Change(0, 0, 16))
	var e Encoder
	e.Value(ks.Heap, ks.DB(0).Peek([]byte("k")))
	require.Equal(t, want, e.B)
}

// TestRedisBloomVersions reads the records of filters that RedisBloom wrote before and has written
// since.
func TestRedisBloomVersions(t *testing.T) {
	bits := make([]byte, 16)
	older := func(ver int, parts func(p *Parts), tail ...uint64) string {
		var p Parts
		parts(&p)
		p.Uint(10)
		p.Double(0.005)
		p.Uint(8)
		p.Double(-math.Log(0.005) / 0.480453013918201)
		p.Uint(128)
		p.Uint(7)
		p.String(bits)
		p.Uint(2)
		for _, n := range tail {
			p.Uint(n)
		}
		return "\x07" + string(idBytes("MBbloom--", ver)) + string(p.e.B) + "\x00"
	}
	numbers := func(n ...uint64) func(p *Parts) {
		return func(p *Parts) {
			for _, v := range n {
				p.Uint(v)
			}
		}
	}
	for name, c := range map[string]struct {
		value string
		ok    bool
	}{
		"version 1":              {older(1, numbers(2, 1)), true},
		"version 2":              {older(2, numbers(2, 1, 4)), true},
		"version 3":              {older(3, numbers(2, 1, 0)), true},
		"version 4":              {older(4, numbers(2, 1, 5, 2)), true},
		"version 5":              {older(5, numbers(2, 1, 5, 2), 0, 0), true},
		"another hash":           {older(5, numbers(2, 1, 5, 2), 1, 77), false},
		"version 0":              {older(0, numbers(2, 1)), false},
		"version 6":              {older(6, numbers(2, 1, 5, 2), 0, 0), false},
		"no links":               {older(4, numbers(2, 0, 5, 2)), false},
		"too many links":         {older(4, numbers(2, math.MaxUint64, 5, 2)), false},
		"unknown option":         {older(4, numbers(2, 1, 21, 2)), false},
		"no growth":              {older(4, numbers(2, 1, 5, 0)), false},
		"items do not add up":    {older(4, numbers(3, 1, 5, 2)), false},
		"more behind it":         {older(4, numbers(2, 1, 5, 2), 1), false},
		"our option with theirs": {older(4, numbers(2, 1, 5|1<<16, 2)), false},
	} {
		_, err := Restore(payload(10, c.value), ReadOptions{})
		require.Equal(t, c.ok, err == nil, "%s: %v", name, err)
	}
}

// TestSketchRefused changes each byte of records, and cuts them. What is still read afterwards must
// be a filter.
func TestSketchRefused(t *testing.T) {
	for _, murmur64a := range []bool{false, true} {
		whole := encodedFilter(t,
			bloom.Params{Error: 0.01, Capacity: 5, Growth: 2, Murmur64A: murmur64a}, 12)
		for i := range whole {
			_, err := Restore(payload(10, string(whole[:i])), ReadOptions{})
			require.Error(t, err, "cut at %d", i)
			for _, x := range []byte{1, 0x80, 0xff} {
				b := bytes.Clone(whole)
				b[i] ^= x
				v, err := Restore(payload(10, string(b)), ReadOptions{})
				if err != nil {
					continue
				}
				sk := v.rare
				require.NoError(t, bloom.Check(sk.head, lengths(sk.blocks)))
			}
		}
	}
	var huge Parts // a length that nothing stands behind
	huge.e.Len(moduleString)
	huge.e.Len(1 << 39)
	_, err := Restore(payload(10, "\x07"+string(idBytes("GWbloom--", 1))+string(huge.e.B)),
		ReadOptions{})
	require.ErrorContains(t, err, "the data ends here")
	_, err = Restore(payload(10, "\x07"+string(
		binary.BigEndian.AppendUint64([]byte{0x81}, moduleID("abcdefghi", 3)))+"\x00"),
		ReadOptions{})
	require.ErrorContains(t, err, "a value of module type abcdefghi, which is not supported")
}
