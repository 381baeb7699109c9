package hll

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// model holds the registers in the plainest form.
type model [Registers]byte

func (m *model) add(index int, rank byte) bool {
	up := m[index] < rank
	m[index] = max(m[index], rank)
	return up
}

// registersOf reads the registers of a value through the dense form.
func registersOf(t testing.TB, b []byte) *model {
	t.Helper()
	if !Dense(b) {
		dense := make([]byte, DenseSize)
		require.NoError(t, ToDense(dense, b))
		b = dense
	}
	var m model
	for i := range m {
		m[i] = Register(b, i)
	}
	return &m
}

// room gives b the spare capacity that SetSparse needs.
func room(b []byte) []byte { return append(make([]byte, 0, len(b)+Room), b...) }

// TestHash compares with registers and ranks that redis-server shows.
func TestHash(t *testing.T) {
	for _, c := range []struct {
		elem  string
		index int
		rank  byte
	}{{"a", 12711, 2}, {"b", 15780, 1}, {"c", 8436, 1}, {"", 5938, 2}, {"foobar", 1910, 4}} {
		index, rank := Hash([]byte(c.elem))
		require.Equal(t, c.index, index, c.elem)
		require.Equal(t, c.rank, rank, c.elem)
	}
}

// TestRandom sets random registers of a sparse and a dense value and compares both with the model.
func TestRandom(t *testing.T) {
	rnd := testseed.Rand(t)
	for round := range 40 {
		var m model
		sparse, dense := room(AppendEmpty(nil)), make([]byte, DenseSize)
		copy(dense, AppendEmpty(nil)[:HeaderSize])
		dense[offEnc] = encDense
		span := 1 + rnd.IntN(Registers) // few registers make long runs of values
		for range 1 << (round % 12) {
			index, rank := Registers-1-rnd.IntN(span), byte(1+rnd.IntN(1+round%maxVal))
			up := m.add(index, rank)
			require.Equal(t, up, SetDense(dense, index, rank))
			nb, changed, err := SetSparse(room(sparse), index, rank, MaxSparse)
			require.NoError(t, err)
			require.Equal(t, up, changed)
			sparse = nb
		}
		require.NoError(t, valid(sparse))
		require.Equal(t, m, *registersOf(t, sparse))
		require.Equal(t, m, *registersOf(t, dense))
		n, err := Count(sparse)
		require.NoError(t, err)
		n2, _ := Count(dense)
		require.Equal(t, n, n2)
		var u Union
		require.NoError(t, u.Add(sparse))
		require.Equal(t, m, model(u.regs))
		require.Equal(t, n, u.Count())
	}
}

// TestUnion joins values of both forms and stores the result in both.
func TestUnion(t *testing.T) {
	rnd := testseed.Rand(t)
	for round := range 30 {
		var m model
		var u Union
		into := AppendEmpty(nil)
		for range 1 + rnd.IntN(4) {
			b := room(AppendEmpty(nil))
			for range rnd.IntN(1 << (round % 10)) {
				index, rank := rnd.IntN(Registers), byte(1+rnd.IntN(maxVal))
				m.add(index, rank)
				b, _, _ = SetSparse(room(b), index, rank, MaxSparse)
			}
			if rnd.IntN(2) == 0 {
				dense := make([]byte, DenseSize)
				require.NoError(t, ToDense(dense, b))
				for range rnd.IntN(500) {
					index, rank := rnd.IntN(Registers), byte(1+rnd.IntN(63))
					m.add(index, rank)
					SetDense(dense, index, rank)
				}
				b = dense
			}
			require.NoError(t, u.Add(b))
			if !Dense(b) {
				into = b // one of the sources is the destination
			}
		}
		require.Equal(t, m, model(u.regs))
		dense := make([]byte, DenseSize)
		require.NoError(t, ToDense(dense, into))
		u.StoreDense(dense)
		require.Equal(t, m, *registersOf(t, dense))

		work := append(make([]byte, 0, MaxSparse+Room), into...)
		got, err := u.StoreSparse(work, MaxSparse)
		if u.Dense && err == ErrDense {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, m, *registersOf(t, got))
		// Setting register by register from the beginning gives the same bytes: the cursor only
		// saves the search.
		for i, r := range m {
			if r != 0 {
				into, _, err = SetSparse(room(into), i, r, MaxSparse)
				require.NoError(t, err)
			}
		}
		require.True(t, bytes.Equal(into, got), "round %d", round)
	}
}

func TestSpread(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 10_000 {
		v, w := rnd.Uint64(), rnd.Uint64()&0x3f3f3f3f3f3f3f3f
		s := spread(v)
		var a, b, want [8]byte
		binary.LittleEndian.PutUint64(a[:], s)
		binary.LittleEndian.PutUint64(b[:], w)
		for i := range 8 {
			require.Equal(t, byte(v>>(6*i)&63), a[i])
			want[i] = max(a[i], b[i])
		}
		require.Equal(t, v&(1<<48-1), squeeze(s))
		require.Equal(t, binary.LittleEndian.Uint64(want[:]), max8(s, w))
	}
}

func TestLimits(t *testing.T) {
	b := room(AppendEmpty(nil))
	for _, rank := range []byte{33, 51} {
		_, changed, err := SetSparse(b, 5, rank, MaxSparse)
		require.Equal(t, ErrDense, err)
		require.False(t, changed)
	}
	// 18 bytes become 21: XZERO VAL XZERO.
	_, _, err := SetSparse(room(b), 5000, 1, 20)
	require.Equal(t, ErrDense, err)
	b, changed, err := SetSparse(room(b), 5000, 1, 21)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, "Z:5000 v:1,1 Z:11383", string(AppendOpcodes(nil, b)))
	// What needs no more bytes is allowed in any case.
	b, _, err = SetSparse(room(b), 5000, 2, 0)
	require.NoError(t, err)
	require.Equal(t, "Z:5000 v:2,1 Z:11383", string(AppendOpcodes(nil, b)))
}

func TestCache(t *testing.T) {
	b := AppendEmpty(nil)
	n, ok := Cached(b)
	require.True(t, ok)
	require.Zero(t, n)
	SetCached(b, 12345)
	n, ok = Cached(b)
	require.True(t, ok)
	require.EqualValues(t, 12345, n)
	Invalidate(b)
	_, ok = Cached(b)
	require.False(t, ok)
}

func TestCheck(t *testing.T) {
	good := AppendEmpty(nil)
	require.NoError(t, Check(good))
	require.NoError(t, Check(good[:HeaderSize]),
		"a header is enough: the opcodes are looked at later")
	require.Equal(t, ErrFormat, Check(good[:HeaderSize-1]))
	require.Equal(t, ErrFormat, Check(nil))
	for i, c := range []byte("hyll\x02") {
		b := bytes.Clone(good)
		b[i] = c
		require.Equal(t, ErrFormat, Check(b))
	}
	dense := make([]byte, DenseSize+1)
	require.NoError(t, ToDense(dense[:DenseSize], good))
	require.NoError(t, Check(dense[:DenseSize]))
	require.Equal(t, ErrFormat, Check(dense))
	require.Equal(t, ErrFormat, Check(dense[:DenseSize-1]))
}

// TestCorrupt checks that runs that exceed the registers, end too early or are cut off are all
// noticed and harmless.
func TestCorrupt(t *testing.T) {
	head := string(AppendEmpty(nil)[:HeaderSize])
	for _, ops := range []string{
		"", "\x7f", "\x7f\xfe", "\x7f\xff\x00", "\x7f\xff\x80", "\x7f\xff\x7f\xff", "\x7f\xff\x7f",
		"\x7f\xfe\x81", "\x7f\xfb\x83\x83", string(bytes.Repeat([]byte{0x83}, 4097)),
		string(bytes.Repeat([]byte{0x3f}, 257)), string(bytes.Repeat([]byte{0x7f}, 33)),
	} {
		b := []byte(head + ops)
		require.Equal(t, ErrCorrupt, valid(b), "%q", ops)
		_, err := Count(b)
		require.Equal(t, ErrCorrupt, err, "%q", ops)
		require.Equal(t, ErrCorrupt, ToDense(make([]byte, DenseSize), b), "%q", ops)
		require.Equal(t, ErrCorrupt, new(Union).Add(b), "%q", ops)
	}
	_, changed, err := SetSparse(room([]byte(head+"\x7f\xfe")), Registers-1, 1, MaxSparse)
	require.Equal(t, ErrCorrupt, err)
	require.False(t, changed)
}

// TestUsers runs the example of 100,000 users, whose result is known from redis-server.
func TestUsers(t *testing.T) {
	b := make([]byte, DenseSize)
	require.NoError(t, ToDense(b, AppendEmpty(nil)))
	for i := range 100_000 {
		index, rank := Hash([]byte("user" + strconv.Itoa(i)))
		SetDense(b, index, rank)
	}
	n, err := Count(b)
	require.NoError(t, err)
	require.EqualValues(t, 99725, n)
}

// TestError measures the error of many sets while they grow. The root of the mean square must be
// about the theory's 1.04/√16384 = 0.8125 %; with so many sets it is within a fourth of it in all
// but one of thousands of trials, and the sets are always the same.
func TestError(t *testing.T) {
	const theory = 1.04 / 128
	for _, c := range []struct{ sets, upTo int }{{200, 100_000}, {20, 1_000_000}, {2, 10_000_000}} {
		if testing.Short() && c.upTo > 1_000_000 {
			continue
		}
		var sum [8]float64 // of squared relative errors at 1, 10, 100 …
		for set := range c.sets {
			b := make([]byte, DenseSize)
			elem := []byte("12345678:set" + strconv.Itoa(set))
			next, power := 1, 0
			for n := 1; n <= c.upTo; n++ {
				binary.LittleEndian.PutUint64(elem, uint64(n))
				index, rank := Hash(elem)
				SetDense(b, index, rank)
				if n != next {
					continue
				}
				got, _ := Count(b)
				e := (float64(got) - float64(n)) / float64(n)
				sum[power] += e * e
				next *= 10
				power++
			}
		}
		slack := 1 + 3.5/math.Sqrt(2*float64(c.sets))
		for power, s := range sum {
			rms, limit := math.Sqrt(s/float64(c.sets)), theory*slack
			if power < 3 {
				limit = 2 * theory // a rare collision of two elements is an error of 10 % among ten
			}
			require.LessOrEqual(t, rms, limit, "%d sets of 10^%d", c.sets, power)
		}
		t.Logf("%d sets up to %d: %.5f", c.sets, c.upTo, sum)
	}
}

func TestSelfTest(t *testing.T) { require.NoError(t, SelfTest()) }

// FuzzValue feeds bytes that claim to be a value to everything that reads one.
func FuzzValue(f *testing.F) {
	f.Add(AppendEmpty(nil), uint16(3), byte(1))
	f.Add(append(AppendEmpty(nil)[:HeaderSize], 0x7f, 0xff, 0x7f), uint16(16383), byte(2))
	f.Add(append(AppendEmpty(nil)[:HeaderSize], 0x7f, 0xfb, 0x87, 0x83, 0x83), uint16(16380),
		byte(32))
	f.Add(append(AppendEmpty(nil)[:HeaderSize], 0x43, 0xe7, 0x83, 0x87, 0x3f, 0x7c, 0),
		uint16(1002), byte(33))
	f.Add(make([]byte, DenseSize), uint16(1), byte(51))
	f.Fuzz(func(t *testing.T, b []byte, index uint16, rank byte) {
		i, rank := int(index)&(Registers-1), rank&63+1
		if Check(b) != nil {
			return
		}
		AppendOpcodes(nil, b)
		_, err := Count(b)
		var u Union
		require.Equal(t, err, u.Add(b))
		require.Equal(t, err, valid(b))
		if Dense(b) {
			require.NoError(t, err)
			SetDense(b, i, min(rank, 63))
			return
		}
		require.Equal(t, err, ToDense(make([]byte, DenseSize), b))
		before := bytes.Clone(b)
		nb, changed, serr := SetSparse(room(b), i, rank, MaxSparse)
		if serr != nil || !changed {
			require.Equal(t, before, nb)
			require.False(t, changed)
			return
		}
		if err != nil {
			return // only the part before the register was looked at
		}
		want := registersOf(t, before)
		want.add(i, rank)
		require.Equal(t, *want, *registersOf(t, nb))
		dense := make([]byte, DenseSize)
		require.NoError(t, ToDense(dense, before))
		u.regs[i] = max(u.regs[i], rank)
		u.StoreDense(dense)
		require.Equal(t, *want, *registersOf(t, dense))
	})
}

func BenchmarkUnionDense(b *testing.B) {
	v := make([]byte, DenseSize)
	copy(v, magic)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range Registers {
		setRegister(v[HeaderSize:], i, byte(rnd.IntN(20)))
	}
	var u Union
	for b.Loop() {
		u.Add(v)
	}
}

func BenchmarkStoreDense(b *testing.B) {
	v := make([]byte, DenseSize)
	var u Union
	for b.Loop() {
		u.StoreDense(v)
	}
}

func BenchmarkCountDense(b *testing.B) {
	v := make([]byte, DenseSize)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range Registers {
		setRegister(v[HeaderSize:], i, byte(rnd.IntN(20)))
	}
	for b.Loop() {
		Count(v)
	}
}

// valid returns ErrCorrupt unless the opcodes of a sparse value give exactly its registers.
func valid(b []byte) error {
	if Dense(b) {
		return nil
	}
	var h histogram
	return h.sparse(b)
}
