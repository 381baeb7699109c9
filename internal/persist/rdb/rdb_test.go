package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/testseed"
)

func TestCRC64(t *testing.T) {
	require.Equal(t, uint64(0xe9c6d914c4b8d9ca), CRC64(0, []byte("123456789")))
	b := []byte(strings.Repeat("any text that is long enough ", 10))
	for cut := range len(b) {
		require.Equal(t, CRC64(0, b), CRC64(CRC64(0, b[:cut]), b[cut:]))
	}
	require.Equal(t, CRC64(CRC64(0, b), make([]byte, 1000)), CRC64Shift(CRC64(0, b), 1000))
}

func TestPatchVersion(t *testing.T) {
	b := append(AppendHeader(nil, 10), "whatever follows"...)
	crc := CRC64(0, b)
	copy(b, AppendHeader(nil, 12))
	require.Equal(t, CRC64(0, b), PatchVersion(crc, int64(len(b)), 10, 12))
}

func TestPrimitives(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want string
	}{
		{"", "\x00"}, {"a", "\x01a"}, {"0", "\xc0\x00"}, {"-1", "\xc0\xff"}, {"127", "\xc0\x7f"},
		{"128", "\xc1\x80\x00"}, {"-32768", "\xc1\x00\x80"}, {"32768", "\xc2\x00\x80\x00\x00"},
		{"2147483647", "\xc2\xff\xff\xff\x7f"}, {"2147483648", "\x0a2147483648"},
		{"-2147483648", "\xc2\x00\x00\x00\x80"}, {"00", "\x0200"}, {"-0", "\x02-0"},
		{"+1", "\x02+1"},
		{strings.Repeat("x", 20), "\x14" + strings.Repeat("x", 20)},
	} {
		e := Encoder{Compress: true}
		e.String([]byte(tc.in))
		require.Equal(t, tc.want, string(e.B), "%q", tc.in)
		d := Decoder{b: e.B}
		s, err := d.String()
		require.NoError(t, err)
		require.Equal(t, tc.in, string(s))
		require.Zero(t, d.left())
	}
	for _, n := range []uint64{0, 63, 64, 16383, 16384, 1<<32 - 1, 1 << 32, 1<<64 - 1} {
		var e Encoder
		e.Len(n)
		d := Decoder{b: e.B}
		got, err := d.Len()
		require.NoError(t, err)
		require.Equal(t, n, got)
		require.Zero(t, d.left())
	}
}

// TestRoundTrip writes and reads random data under many limits, and by as many goroutines.
func TestRoundTrip(t *testing.T) {
	seed, rng := newSeed(t)
	for range 8 {
		lim := redisLimits()
		if rng.IntN(2) == 0 {
			lim.HashMaxListpackEntries, lim.SetMaxIntsetEntries,
				lim.SetMaxListpackEntries, lim.ZSetMaxListpackEntries =
				rng.IntN(20), rng.IntN(20), rng.IntN(20), rng.IntN(20)
			lim.ListMaxListpackSize, lim.ListCompressDepth = 1+rng.IntN(30), rng.IntN(2)
		}
		ks := newKeyspace(t, lim, seed)
		if rng.IntN(2) == 0 {
			ks.Heap.SetPackedThreshold(100)
		}
		if rng.IntN(2) == 0 {
			fillAny(ks, rng, 300)
		} else {
			fillAll(ks, rng, 300, false)
		}
		b := encodeAll(ks, rng.IntN(2) == 0)
		other := lim
		if rng.IntN(2) == 0 {
			other = redisLimits()
		}
		back := newKeyspace(t, other, seed)
		src := io.Reader(bytes.NewReader(b))
		if rng.IntN(2) == 0 {
			src = &bits{src, rand.New(rand.NewPCG(seed, rng.Uint64())), 1 + rng.IntN(5000)}
		}
		require.NoError(t, load(back, src, ReadOptions{Workers: rng.IntN(4)}))
		for i := range 3 {
			require.Equal(t, image(ks.DB(i)), image(back.DB(i)))
			require.Equal(t, ks.DB(i).Expires(), back.DB(i).Expires())
		}
	}
}

// TestTargets writes random data for each version and reads it back. Only deadlines of fields may
// be missing.
func TestTargets(t *testing.T) {
	seed, rng := newSeed(t)
	for target := Auto; target <= ValkeyOwn; target++ {
		ks := newKeyspace(t, redisLimits(), seed)
		if rng.IntN(2) == 0 {
			ks.Heap.SetPackedThreshold(100)
		}
		fillAll(ks, rng, 300, true)
		b := encodeFor(ks, rng.IntN(2) == 0, target)
		back := newKeyspace(t, redisLimits(), seed)
		r := NewReader(bytes.NewReader(b), ReadOptions{})
		_, err := r.Next()
		require.NoError(t, err)
		version := target.Version()
		if target == Auto {
			version = VersionFieldDeadlines
		}
		require.Equal(t, version, r.Version())
		r.Close()
		require.NoError(t, load(back, bytes.NewReader(b), ReadOptions{}))
		for i := range 3 {
			if !target.FieldDeadlines() {
				for key := range image(ks.DB(i)) {
					stripDeadlines(ks.DB(i), []byte(key))
				}
			}
			require.Equal(t, image(ks.DB(i)), image(back.DB(i)), version)
		}
	}
}

// TestZiplist writes ziplists, which TestHistory reads.
func TestZiplist(t *testing.T) {
	_, rng := newSeed(t)
	for range 200 {
		lp := listpack.NewSlice()
		var want []string
		for range rng.IntN(40) {
			b := randomText(rng, []int{10, 300, 20000}[rng.IntN(3)])
			listpack.Append(lp, b)
			want = append(want, string(b))
		}
		var e Encoder
		e.ziplist(lp.B)
		d := Decoder{b: e.B}
		zl, err := d.String()
		require.NoError(t, err)
		var got []string
		require.NoError(t, ziplistEach(zl, func(v listpack.Value) {
			got = append(got, string(v.Append(nil)))
		}))
		require.Equal(t, want, got)
	}
	var ints []string
	for _, z := range zints {
		ints = append(ints, z.text)
	}
	var e Encoder
	e.ziplist([]byte(lpack(ints...)))
	var entries []string
	for _, z := range zints {
		entries = append(entries, z.entry)
	}
	require.Equal(t, str(zip(entries...)), string(e.B))
}

// TestDumpTargets dumps for each version: deadlines of fields are never lost.
func TestDumpTargets(t *testing.T) {
	ks := newKeyspace(t, redisLimits(), 1)
	db := ks.DB(0)
	fields := func(key string, deadline int64) object.Entry {
		x := db.Create([]byte(key), object.Hash, object.EncPairs, listpack.PairsEmpty())
		h := object.AsHash(x)
		h.Set([]byte("f"), []byte("v"))
		if deadline != 0 {
			h.SetDeadline([]byte("f"), deadline)
			db.ArmFields(x)
		}
		return x.E
	}
	plain, timed := fields("plain", 0), fields("timed", testNow+1000)
	for target, versions := range map[Target][2]int{Auto: {10, 12}, Redis5: {9, 12},
		Redis70: {10, 12}, Redis72: {11, 12}, Redis74: {12, 12}, ValkeyOwn: {80, 80}} {
		for i, en := range []object.Entry{plain, timed} {
			e := Encoder{Target: target}
			Dump(&e, ks.Heap, en)
			version := binary.LittleEndian.Uint16(e.B[len(e.B)-footerLen:])
			require.EqualValues(t, versions[i], version)
			v, err := Restore(e.B, ReadOptions{})
			require.NoError(t, err)
			back := newKeyspace(t, redisLimits(), 1)
			require.NoError(t, Insert(back.DB(0), en.Key(), &v, NoAccess()))
			require.Equal(t, image(db)[string(en.Key())], image(back.DB(0))[string(en.Key())])
		}
	}
}

// TestDumpRestore does the same value by value, and compares the second dump with the first.
func TestDumpRestore(t *testing.T) {
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	fillAny(ks, rng, 300)
	back := newKeyspace(t, redisLimits(), seed)
	for i := range 3 {
		for cursor, more := uint64(0), true; more; more = cursor != 0 {
			cursor = ks.DB(i).Scan(cursor, func(en object.Entry, _ bool) {
				e := Encoder{Compress: rng.IntN(2) == 0}
				Dump(&e, ks.Heap, en)
				v, err := Restore(e.B, ReadOptions{})
				require.NoError(t, err)
				require.Equal(t, en.Type(), v.t.Object)
				m := NoAccess()
				m.Deadline = en.Deadline()
				require.NoError(t, Insert(back.DB(i), en.Key(), &v, m))
				require.ErrorIs(t, Insert(back.DB(i), en.Key(), &v, m), ErrBusy)
			})
		}
		require.Equal(t, image(ks.DB(i)), image(back.DB(i)))
	}
}

func TestRestoreRefuses(t *testing.T) {
	seed, _ := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	en := ks.DB(0).Set([]byte("k"), object.StringValue([]byte("a value")), 0)
	var e Encoder
	Dump(&e, ks.Heap, en)
	for i := range e.B {
		b := bytes.Clone(e.B)
		b[i] ^= 1
		_, err := Restore(b, ReadOptions{})
		require.ErrorIs(t, err, ErrPayload, i)
		_, err = Restore(e.B[:i], ReadOptions{})
		require.ErrorIs(t, err, ErrPayload, i)
	}
	_, err := Restore(payload(12, "\x00\x01a"), ReadOptions{})
	require.NoError(t, err)
	_, err = Restore(payload(VersionMax+1, "\x00\x01a"), ReadOptions{})
	require.ErrorIs(t, err, ErrPayload)
	for name, value := range map[string]string{
		"trailing byte": "\x00\x01ab", "stream": "\x0f\x00", "array": "\x1c\x00\x00",
		"unknown type": "\x08\x00",
		"module":       "\x07\x00", "empty list": "\x01\x00", "empty quicklist": "\x12\x00",
		"NaN":                          "\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf8\x7f",
		"NaN as text":                  "\x03\x01\x01a\xfd",
		"lying count":                  "\x02\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x01a",
		"lying length":                 "\x00\x80\x7f\xff\xff\xff",
		"LZF bomb":                     "\x00\xc3\x02\x80\x7f\xff\xff\xff\x00a",
		"set listpack with duplicates": "\x14\x0d\x0d\x00\x00\x00\x02\x00\x81a\x02\x81a\x02\xff",
		"nothing":                      "",
	} {
		_, err := Restore(payload(10, value), ReadOptions{})
		require.ErrorIs(t, err, ErrFormat, name)
		var where *Error
		require.True(t, errors.As(err, &where), name)
		require.LessOrEqual(t, where.Offset, int64(len(value)), name)
	}
	// What only a table finds out is found by Insert, which leaves nothing.
	for name, value := range map[string]string{
		"set": "\x02\x02\x01a\x01a", "integers": "\x02\x02\xc0\x01\x01" + "1",
		"hash": "\x04\x02\x01a\x01b\x01a\x01c",
		"zset": "\x05\x02\x01a" + strings.Repeat("\x00", 8) + "\x01a" + strings.Repeat("\x00", 8),
	} {
		for _, n := range []int{0, 512} {
			lim := redisLimits()
			lim.HashMaxListpackEntries, lim.SetMaxIntsetEntries, lim.ZSetMaxListpackEntries = n, n,
				n
			ks := newKeyspace(t, lim, seed)
			v, err := Restore(payload(10, value), ReadOptions{})
			require.NoError(t, err, name)
			require.ErrorIs(t, Insert(ks.DB(0), []byte("k"), &v, NoAccess()), ErrDuplicate, "%s %d",
				name, n)
			require.Zero(t, ks.DB(0).Len())
		}
	}
}

// payload puts version and checksum behind a value.
func payload(version int, value string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte(value), uint16(version))
	return binary.LittleEndian.AppendUint64(b, CRC64(0, b))
}

// TestEveryCut cuts a file after every byte. Each time the reader must return an error that says
// where, and no key from behind the cut before it.
func TestEveryCut(t *testing.T) {
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	fillAny(ks, rng, 15)
	b := encodeAll(ks, true)
	step := 1 + len(b)/700
	for n := 0; n < len(b); n += step {
		for _, workers := range []int{0, 2} {
			r := NewReader(bytes.NewReader(b[:n]), ReadOptions{Workers: workers})
			for {
				rec, err := r.Next()
				if err == nil {
					require.LessOrEqual(t, rec.End, int64(n))
					require.NotEqual(t, KindEOF, rec.Kind)
					continue
				}
				var where *Error
				require.True(t, errors.As(err, &where), "%d: %v", n, err)
				require.Equal(t, int64(n), where.Offset)
				break
			}
			r.Close()
		}
	}
}

// TestFlippedBits flips bits: the file is refused, or it is as it was.
func TestFlippedBits(t *testing.T) {
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	fillAny(ks, rng, 20)
	b := encodeAll(ks, true)
	for range 200 {
		i := rng.IntN(len(b))
		bad := bytes.Clone(b)
		bad[i] ^= 1 << rng.IntN(8)
		back := newKeyspace(t, redisLimits(), seed)
		// version 12 turned to 2, which had no checksum
		if load(back, bytes.NewReader(bad), ReadOptions{}) == nil {
			for i := range 3 {
				require.Equal(t, image(ks.DB(i)), image(back.DB(i)))
			}
		}
		// Without its checksum it may be another, but whatever was accepted must be sound.
		again := newKeyspace(t, redisLimits(), seed)
		if load(again, bytes.NewReader(bad), ReadOptions{NoChecksum: true}) == nil {
			for i := range again.Databases() {
				image(again.DB(i))
			}
		}
	}
}

// TestReaderEnd checks that the reader tells where the file ends and what follows begins.
func TestReaderEnd(t *testing.T) {
	for _, workers := range []int{0, 1} {
		b := append(file(10, []byte("\x00\x01k\x01v")), "*1\r\n$4\r\nPING\r\n"...)
		r := NewReader(iotest.OneByteReader(bytes.NewReader(b)), ReadOptions{Workers: workers})
		for {
			rec, err := r.Next()
			require.NoError(t, err)
			if rec.Kind == KindEOF {
				break
			}
		}
		require.Equal(t, int64(len(b)-14), r.Offset())
		require.Equal(t, 10, r.Version())
		_, err := r.Next()
		require.Equal(t, io.EOF, err)
		r.Close()
	}
}

func TestSourceError(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{0, 2} {
		r := NewReader(
			io.MultiReader(strings.NewReader("REDIS0010\x00\x01k\x01v"), iotest.ErrReader(broken)),
			ReadOptions{Workers: workers})
		_, err := r.Next()
		for err == nil {
			_, err = r.Next()
		}
		require.ErrorIs(t, err, broken)
		r.Close()
	}
}

// TestCloseEarly closes readers that are ahead.
func TestCloseEarly(t *testing.T) {
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	fillAny(ks, rng, 300)
	b := encodeAll(ks, false)
	for range 20 {
		pieces := rand.New(rand.NewPCG(seed, rng.Uint64())) // used on another goroutine
		r := NewReader(&bits{bytes.NewReader(b), pieces, 3000},
			ReadOptions{Workers: 1 + rng.IntN(3)})
		for range rng.IntN(50) {
			_, err := r.Next()
			require.NoError(t, err)
		}
		r.Close()
	}
}

// TestGiantRecord reads a record that is longer than the reader's buffer, in small pieces.
func TestGiantRecord(t *testing.T) {
	var e Encoder
	const n = 200_000
	e.Large([]byte("big"), &object.Outline{Type: object.Set, Len: n})
	for i := range n {
		e.Int(int64(i) * 1000)
	}
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	b := file(10, []byte("\x00\x01k\x01v"), e.B, []byte("\x00\x01l\x01v"))
	require.NoError(t, load(ks, &bits{bytes.NewReader(b), rng, 2000}, ReadOptions{Workers: 1}))
	require.Equal(t, 3, ks.DB(0).Len())
	x := ks.DB(0).Open(ks.DB(0).Peek([]byte("big")))
	require.Equal(t, n, object.AsSet(x).Len())
	require.True(t, object.AsSet(x).Has([]byte("199999000")))
}

func TestAccess(t *testing.T) {
	var e Encoder
	e.Meta(Meta{Idle: 100, Freq: -1})
	e.B = append(e.B, "\x00\x01a\x01v"...)
	e.Meta(Meta{Idle: -1, Freq: 77, Deadline: testNow * 2})
	e.B = append(e.B, "\x00\x01b\x01v"...)
	b := file(10, e.B)
	seed := testseed.New(t)
	ks := newKeyspace(t, redisLimits(), seed)
	require.NoError(t, load(ks, bytes.NewReader(b), ReadOptions{}))
	require.Equal(t, int64(100), ks.IdleSeconds(ks.DB(0).Peek([]byte("a"))))
	require.Equal(t, int64(0), ks.IdleSeconds(ks.DB(0).Peek([]byte("b"))))
	require.Equal(t, int64(testNow*2), ks.DB(0).Peek([]byte("b")).Deadline())
}
