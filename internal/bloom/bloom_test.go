package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// memory is a Store on Go's heap.
type memory struct {
	head   []byte
	blocks [][]byte
}

func (m *memory) Head() []byte { return m.head }
func (m *memory) ResizeHead(n int) []byte {
	m.head = append(m.head, make([]byte, n-len(m.head))...)
	return m.head
}
func (m *memory) Block(i int) []byte          { return m.blocks[i] }
func (m *memory) Change(i, off, n int) []byte { return m.blocks[i][off : off+n] }
func (m *memory) Append(n int) []byte {
	m.blocks = append(m.blocks, make([]byte, n))
	return m.blocks[len(m.blocks)-1]
}
func (m *memory) lens() (n []int) {
	for _, b := range m.blocks {
		n = append(n, len(b))
	}
	return n
}
func (m *memory) add(t testing.TB, item []byte) Result {
	r := Add(m, item)
	if r == Full && Scales(m.head) {
		grown, bytes, err := NextLink(m.head)
		require.NoError(t, err)
		Grow(m, grown)
		require.Equal(t, bytes, uint64(len(m.blocks[len(m.blocks)-1])))
		r = Add(m, item)
	}
	return r
}

func newFilter(t testing.TB, p Params) *memory {
	head, err := NewHeader(p)
	require.NoError(t, err)
	m := &memory{head: head}
	Init(m)
	require.NoError(t, Check(m.head, m.lens()))
	return m
}

// item returns item i of a set of items. Sets of different salts have none in common.
func item(buf []byte, salt byte, i int) []byte {
	return strconv.AppendInt(append(buf[:0], salt, ':'), int64(i), 10)
}

func debugLines(m *memory) (lines []string) {
	for i := range links(m.head) {
		lines = append(lines, string(AppendDebug(nil, m.head, i)))
	}
	return lines
}

// TestRedisBloom makes filters with exactly the bits that RedisBloom makes. How many items seem to
// be there already depends on hash, sizes and places. The expectations are those of RedisBloom's
// own tests.
func TestRedisBloom(t *testing.T) {
	for _, c := range []struct {
		p     Params
		items int
		lines []string
	}{
		{Params{Error: 0.01, Capacity: 10, Growth: 2, Murmur64A: true}, 100, []string{
			"bytes:16 bits:128 hashes:8 hashwidth:64 capacity:10 size:10 ratio:0.005",
			"bytes:32 bits:256 hashes:9 hashwidth:64 capacity:20 size:20 ratio:0.0025",
			"bytes:72 bits:576 hashes:10 hashwidth:64 capacity:40 size:40 ratio:0.00125",
			"bytes:160 bits:1280 hashes:11 hashwidth:64 capacity:80 size:29 ratio:0.000625",
		}},
		{Params{Error: 0.001, Capacity: 100, Growth: 2, Murmur64A: true}, 4000, []string{
			"bytes:200 bits:1600 hashes:11 hashwidth:64 capacity:100 size:100 ratio:0.0005",
			"bytes:432 bits:3456 hashes:12 hashwidth:64 capacity:200 size:200 ratio:0.00025",
			"bytes:936 bits:7488 hashes:13 hashwidth:64 capacity:400 size:400 ratio:0.000125",
			"bytes:2016 bits:16128 hashes:14 hashwidth:64 capacity:800 size:800 ratio:6.25e-05",
			"bytes:4320 bits:34560 hashes:15 hashwidth:64 capacity:1600 size:1600 ratio:3.125e-05",
			"bytes:9216 bits:73728 hashes:16 hashwidth:64 capacity:3200 size:897 ratio:1.5625e-05",
		}},
		{Params{Error: 0.001, Capacity: 50000, Growth: 2, Murmur64A: true}, 1, []string{
			"bytes:98880 bits:791040 hashes:11 hashwidth:64 capacity:50000 size:1 ratio:0.0005",
		}},
		{Params{Error: 0.000001, Capacity: 300_000_000, Growth: 2, Murmur64A: true}, 0, nil},
	} {
		if c.lines == nil {
			head, err := NewHeader(c.p)
			require.NoError(t, err)
			require.EqualValues(t, 1132420232-96, Bytes(head))
			continue
		}
		m := newFilter(t, c.p)
		for i := range c.items {
			m.add(t, strconv.AppendInt(nil, int64(i), 10))
		}
		require.Equal(t, c.lines, debugLines(m))
	}
}

// TestModel adds random items. None may be missed, an item that counts as added must not have been
// there before, and the header must stay valid.
func TestModel(t *testing.T) {
	rng := testseed.Rand(t)
	for range 60 {
		p := Params{Error: math.Pow(10, -rng.Float64()*6), Capacity: 1 + rng.Uint64N(3000),
			Growth: uint32(rng.IntN(4)), Murmur64A: rng.IntN(2) == 0}
		m := newFilter(t, p)
		n := 1 + rng.IntN(int(p.Capacity)*3)
		added := uint64(0)
		var buf []byte
		for i := range n {
			buf = item(buf, 'm', rng.IntN(n))
			had := Has(m, buf)
			r := m.add(t, buf)
			require.Equal(t, had, r == Present, "%+v", p)
			if r == Full {
				require.Zero(t, p.Growth)
				break
			}
			require.True(t, Has(m, buf), "%+v: item %d", p, i)
			if r == Added {
				added++
			}
		}
		in := InfoOf(m.head)
		require.Equal(t, added, in.Items)
		require.GreaterOrEqual(t, in.Capacity, added)
		require.NoError(t, Check(m.head, m.lens()))
		require.Error(t, Check(m.head, m.lens()[1:]))
		require.Error(t, Check(m.head[1:], m.lens()))
	}
}

// lookups returns how many absent items the tests ask for. GODWIT_BLOOM_LOOKUPS makes it the
// 10,000,000 of a thorough run.
func lookups(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("GODWIT_BLOOM_LOOKUPS"))
	if err != nil {
		return 100_000
	}
	t.Logf("%d lookups", n)
	return n
}

// TestErrorRate measures the share of wrong answers of filters at their capacity, and again after
// four more links are full. No present item may be missed. The bounds are the promised rate and
// what chance adds: four standard deviations.
func TestErrorRate(t *testing.T) {
	n := lookups(t)
	for _, rate := range []float64{0.01, 0.001, 0.0001} {
		for _, murmur64a := range []bool{false, true} {
			for _, scalings := range []int{0, 4} {
				p := Params{Error: rate, Capacity: 14000, Growth: 2, Murmur64A: murmur64a}
				fill := int(p.Capacity) * (1<<(scalings+1) - 1)
				m := newFilter(t, p)
				var buf []byte
				for i := 0; InfoOf(m.head).Items < uint64(fill); i++ {
					m.add(t, item(buf, 'i', i))
				}
				require.Equal(t, scalings+1, InfoOf(m.head).Links)
				for i := range fill {
					require.True(t, Has(m, item(buf, 'i', i)))
				}
				wrong := 0
				for i := range n {
					if Has(m, item(buf, 'o', i)) {
						wrong++
					}
				}
				got := float64(wrong) / float64(n)
				bits := float64(Bytes(m.head)*8) / float64(fill)
				t.Logf("%g%%, murmur64a %t, %d scalings: %.5f%% wrong, %.2f bits an item", rate*100,
					murmur64a, scalings, got*100, bits)
				require.LessOrEqual(t, got, rate+4*math.Sqrt(rate/float64(n)))
				if rate == 0.01 && scalings == 0 && !murmur64a {
					require.LessOrEqual(t, bits, 10.0)
				}
			}
		}
	}
}

// TestSmallErrorRate does the same for many small filters, whose bits vary more.
func TestSmallErrorRate(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		for _, capacity := range []uint64{3, 10, 100, 1000} {
			wrong, n := 0, 0
			var buf []byte
			for f := range 120 {
				m := newFilter(t, Params{Error: rate, Capacity: capacity})
				for i := 0; Add(m, item(buf, byte(f), i)) != Full; i++ {
				}
				for i := range 2000 {
					n++
					if Has(m, item(buf, byte(f)^0x80, i)) {
						wrong++
					}
				}
			}
			got := float64(wrong) / float64(n)
			t.Logf("%g%%, %d items: %.4f%% wrong", rate*100, capacity, got*100)
			require.LessOrEqual(t, got, rate+5*math.Sqrt(rate/float64(n)))
		}
	}
}

// linedError returns the share of wrong answers of a link in lines with so many bits an item. The
// number of items that put a given part of their bits into a line has a Poisson distribution.
func linedError(perItem float64, probes, lines uint32) float64 {
	mean := lineBits / perItem
	kinds := map[uint32]int{} // by probes: how many of an item's lines get so many
	for left, n := probes, lines; n > 0; n-- {
		k := (left + n - 1) / n
		kinds[k]++
		left -= k
	}
	set := map[int]float64{0: 1} // by bits that were set, with repetition
	for k, times := range kinds {
		next := map[int]float64{}
		p := math.Exp(-mean * float64(times))
		for i := 0; i < int(mean)*4*times+40; i++ {
			for n, q := range set {
				next[n+i*int(k)] += p * q
			}
			p *= mean * float64(times) / float64(i+1)
		}
		set = next
	}
	all := 1.0
	for k, times := range kinds {
		e := 0.0
		for n, q := range set {
			e += q * math.Pow(1-math.Pow(1-1.0/lineBits, float64(n)), float64(k))
		}
		all *= math.Pow(e, float64(times))
	}
	return all
}

// TestSizes compares the sizes of our own links with the error that they really have.
func TestSizes(t *testing.T) {
	for _, rate := range []float64{0.25, 0.1, 0.05, 0.02, 0.01, 0.0086, 0.005, 0.002, 0.001, 3e-4,
		1e-4, 1e-5, 1e-6, 1e-7} {
		l, err := newLink(optMurmur3, 1_000_000, rate)
		require.NoError(t, err)
		_, even := classic(rate)
		e := linedError(l.perItem, l.probes, uint32(l.n2))
		t.Logf("%g: %d probes in %d lines, %.3f bits an item (%.2f%% more than in one area), "+
			"error %.4g", rate, l.probes, l.n2, l.perItem, (l.perItem/even-1)*100, e)
		require.LessOrEqual(t, e, rate)
		require.GreaterOrEqual(t, e, rate*0.9, "more bits than needed")
	}
}

// TestShares checks that the error rates of all links together stay below the agreed rate.
func TestShares(t *testing.T) {
	for _, opt := range []uint32{optMurmur3, 0} {
		sum := 0.0
		for i := range 1000 {
			sum += share(opt, 0.01, i)
		}
		require.LessOrEqual(t, sum, 0.01)
		require.Greater(t, sum, 0.0099)
	}
	require.Equal(t, MaxError, share(optNoScaling, 0.9, 0))
}

func TestTooLarge(t *testing.T) {
	_, err := NewHeader(Params{Error: 1e-300, Capacity: 1 << 40})
	require.ErrorIs(t, err, ErrSize)
	_, err = NewHeader(Params{Error: 5e-324, Capacity: 1, Growth: 2, Murmur64A: true})
	require.ErrorIs(t, err, ErrSize) // half of it is 0
	m := newFilter(t, Params{Error: 0.01, Capacity: 1, Growth: math.MaxInt32})
	for i := 0; ; i++ {
		head, _, err := NextLink(m.head)
		if err != nil {
			require.ErrorIs(t, err, ErrSize)
			require.Less(t, i, 10)
			break
		}
		m.head = head
	}
}

// TestTooManyLinks checks that a header from outside cannot have so many links that the sum of
// their bytes overflows.
func TestTooManyLinks(t *testing.T) {
	link := link{bits: maxBits, capacity: 1, err: 0.01, perItem: 10, probes: 7}
	head := make([]byte, HeadLen, HeadLen+(maxLinks+1)*LinkLen)
	binary.LittleEndian.PutUint32(head[12:], ourOptions)
	for range maxLinks {
		head = append(head, make([]byte, LinkLen)...)
		link.put(head[len(head)-LinkLen:])
	}
	binary.LittleEndian.PutUint32(head[8:], maxLinks)
	require.NoError(t, CheckHeader(head))
	require.Equal(t, uint64(maxLinks*(maxBits/8)), Bytes(head))
	require.ErrorIs(t, CheckHeader(appendLink(head, link)), ErrInvalid)
}

func TestDebugRate(t *testing.T) {
	for _, f := range []float64{0.005, 0.00125, 1.5625e-05, 0.25, 1e-10, 0.000123456789, 0.1} {
		require.Equal(t, fmt.Sprintf("%.6g", f), string(AppendRate(nil, f)))
	}
}

// TestChunks walks over a dump and reassembles it.
func TestChunks(t *testing.T) {
	m := newFilter(t, Params{Error: 0.01, Capacity: 100, Growth: 3})
	for i := range 5000 {
		m.add(t, item(nil, 'i', i))
	}
	back := &memory{head: append([]byte(nil), m.head...)}
	Init(back)
	for iter := int64(1); ; {
		block, off, n, next := Chunk(m.head, iter)
		if n == 0 {
			require.Zero(t, next)
			break
		}
		b, at, known, fits := Place(back.head, next, n)
		require.True(t, known && fits)
		copy(back.blocks[b][at:], m.blocks[block][off:off+n])
		iter = next
	}
	require.Equal(t, m, back)
	_, _, known, fits := Place(m.head, int64(len(m.blocks[0])), len(m.blocks[0]))
	require.False(t, known || fits, "it would begin before the first byte")
	_, _, known, fits = Place(m.head, int64(len(m.blocks[0]))+2, len(m.blocks[0]))
	require.True(t, known && !fits)
	_, _, known, _ = Place(m.head, math.MaxInt64, 1)
	require.False(t, known)
}

// FuzzHeader uses whatever passes for a filter.
func FuzzHeader(f *testing.F) {
	for _, p := range []Params{{0.01, 10, 2, false}, {0.001, 5000, 2, false}, {0.01, 10, 0, true}} {
		head, _ := NewHeader(p)
		f.Add(head)
	}
	old := make([]byte, HeadLen)
	binary.LittleEndian.PutUint32(old[16:], 2)
	f.Add(appendLink(old,
		link{bits: 1024, err: 0.01, perItem: 9.5, probes: 7, capacity: 100, n2: 10}))
	f.Fuzz(func(t *testing.T, head []byte) {
		if CheckHeader(head) != nil || Bytes(head) > 1<<20 || links(head) > 100 {
			return
		}
		m := &memory{head: append([]byte(nil), head...)}
		Init(m)
		require.NoError(t, Check(m.head, m.lens()))
		for i := range 20 {
			x := item(nil, 'f', i)
			switch r := Add(m, x); {
			case r != Full:
				require.True(t, Has(m, x))
			case Scales(m.head):
				grown, n, err := NextLink(m.head)
				if err != nil || n > 1<<20 {
					return
				}
				Grow(m, grown)
				require.Equal(t, Added, Add(m, x))
			}
			require.NoError(t, CheckHeader(m.head))
		}
		debugLines(m)
		InfoOf(m.head)
	})
}

func TestNoAllocations(t *testing.T) {
	m := newFilter(t, Params{Error: 0.01, Capacity: 1 << 20})
	x := []byte("user:1234567890")
	i := 0
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		i++
		x[5], x[6], x[7] = byte(i), byte(i>>8), byte(i>>16)
		Add(m, x)
		Has(m, x)
	}))
}
