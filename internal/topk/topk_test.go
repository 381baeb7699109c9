package topk

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// memory holds a header and buckets on Go's heap. It records which bytes were announced to change.
type memory struct {
	head, buckets []byte
	announced     map[int]bool
}

func (m *memory) Head() []byte     { return m.head }
func (m *memory) Block(int) []byte { return m.buckets }

func (m *memory) ResizeHead(n int) []byte {
	b := make([]byte, n)
	copy(b, m.head)
	m.head = b
	return b
}

func (m *memory) Change(_, off, n int) []byte {
	for at := off; at < off+n && m.announced != nil; at++ {
		m.announced[at] = true
	}
	return m.buckets[off : off+n : off+n]
}

func newMemory(t testing.TB, k, width, depth uint32) *memory {
	head, buckets, ok := Sizes(k, width, depth)
	require.True(t, ok)
	return &memory{head: make([]byte, head), buckets: make([]byte, buckets)}
}

func newList(t testing.TB, k, width, depth uint32, decay float64) *List {
	return New(newMemory(t, k, width, depth), k, width, depth, decay)
}

func add(l *List, name string, n uint32) string {
	b, replaced := l.Add([]byte(name), n, nil)
	if !replaced {
		return "-"
	}
	return string(b)
}

func names(l *List) (out []string) {
	for _, it := range l.List() {
		out = append(out, fmt.Sprint(string(it.Name), it.Count))
	}
	return out
}

// check walks the whole list.
func check(t testing.TB, l *List) {
	t.Helper()
	live := uint64(0)
	used := map[string]bool{}
	linked := 0
	for i := range l.K {
		e := l.entry(i)
		if i > 0 {
			require.LessOrEqual(t, l.entry((i-1)/2).count(), e.count(), "the heap's order at %d", i)
		}
		if e.where() == 0 {
			require.Zero(t, e.count())
			continue
		}
		name := string(l.item(e))
		require.False(t, used[name], "%q twice", name)
		used[name] = true
		require.Equal(t, fingerprint([]byte(name)), e.fp())
		require.Equal(t, i+1, l.slot(e.slot()), "slot of %q", name)
		at, ok := l.find([]byte(name), e.fp())
		require.True(t, ok, "%q", name)
		require.Equal(t, i, at)
		live += uint64(e.length())
		linked++
	}
	require.EqualValues(t, linked, l.items)
	for s := range l.mask() + 1 {
		if l.slot(s) != 0 {
			linked--
		}
	}
	require.Zero(t, linked, "slots of nobody")
	require.Equal(t, live, l.live)
	require.LessOrEqual(t, l.used, uint64(len(l.bytes())))
	require.Equal(t, l, Open(l.mem), "what is in the memory")
}

// TestRedisBloomExamples compares with replies that RedisBloom's own tests expect. With a decay of
// 1 nothing is left to chance, and in the others no two items meet.
func TestRedisBloomExamples(t *testing.T) {
	l := newList(t, 3, 10, 3, 1)
	require.Equal(t, []string{"-", "-", "-"},
		[]string{add(l, "bar", 3), add(l, "baz", 6), add(l, "42", 2)})
	require.Equal(t, []string{"-", "bar"}, []string{add(l, "42", 8), add(l, "xyzzy", 4)})
	var counts []uint32
	for _, s := range []string{"bar", "baz", "42", "xyzzy", "4"} {
		counts = append(counts, l.Count([]byte(s)))
	}
	require.Equal(t, []uint32{3, 6, 10, 4, 0}, counts)

	l = newList(t, 2, 50, 5, 0.9)
	for _, s := range []string{"foo", "bar", "baz", "42", "foo", "bar", "baz", "foo", "baz", "42",
		"foo", "baz", "foo", "bar", "baz", "foo", "baz"} {
		add(l, s, 1)
	}
	require.Equal(t, []string{"foo6", "baz6"}, names(l))
	var got []string
	for range 5 {
		got = append(got, add(l, "bar", 1))
	}
	require.Equal(t, []string{"-", "-", "foo", "-", "-"}, got)
	require.Equal(t, []string{"bar8", "baz6"}, names(l))

	l = newList(t, 10, 8, 7, 1)
	for _, s := range []string{"j", "h", "d", "j", "h", "h", "j", "g", "e", "g", "i", "f", "g", "f",
		"a", "j", "c", "i", "a", "d"} {
		add(l, s, 1)
	}
	check(t, l)
}

// TestModel adds at random and checks what must be true: the structure, and that estimates do not
// exceed the truth.
func TestModel(t *testing.T) {
	rng := testseed.Rand(t)
	for range 20 {
		k := uint32(1 + rng.IntN(40))
		l := newList(t, k, uint32(1+rng.IntN(60)), uint32(1+rng.IntN(6)),
			[]float64{0.5, 0.9, 0.99, 1}[rng.IntN(4)])
		m := l.mem.(*memory)
		m.announced = map[int]bool{}
		truth := map[string]uint32{}
		for range 500 {
			name := string(bytes.Repeat([]byte{'x'}, rng.IntN(20))) + fmt.Sprint(rng.IntN(100))
			if rng.IntN(50) == 0 {
				name = ""
			}
			n := uint32(rng.IntN(5))
			before := slices.Clone(m.buckets)
			clear(m.announced)
			was := names(l)
			expelled := add(l, name, n)
			truth[name] += n
			if expelled != "-" {
				require.True(t, slices.ContainsFunc(was, func(s string) bool {
					return len(s) > len(expelled) && s[:len(expelled)] == expelled
				}))
				require.False(t, l.Has([]byte(expelled)))
				require.True(t, l.Has([]byte(name)))
			}
			for at, b := range m.buckets {
				if b != before[at] && !m.announced[at] {
					t.Fatalf("offset %d changes unannounced", at)
				}
			}
		}
		check(t, l)
		for name, n := range truth {
			require.LessOrEqual(t, l.Count([]byte(name)), n, "%q", name)
		}
		for _, it := range l.List() {
			require.LessOrEqual(t, it.Count, truth[string(it.Name)])
		}
		require.LessOrEqual(t, len(l.List()), int(k))
	}
}

// TestHeavyHitters checks that nearly all of the true top of a Zipf stream is found, with nearly
// exact counts.
func TestHeavyHitters(t *testing.T) {
	rng := testseed.Rand(t)
	const k = 50
	l := newList(t, k, 2000, 5, 0.9)
	zipf := rand.NewZipf(rng, 1.2, 1, 100_000)
	truth := map[string]uint32{}
	for range 300_000 {
		name := fmt.Sprint("item:", zipf.Uint64())
		truth[name]++
		add(l, name, 1)
	}
	check(t, l)
	all := make([]string, 0, len(truth))
	for name := range truth {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int { return int(truth[b]) - int(truth[a]) })
	found := 0
	for _, name := range all[:k] {
		if l.Has([]byte(name)) {
			found++
		}
	}
	require.GreaterOrEqual(t, found, k*9/10)
	list := l.List()
	require.Len(t, list, k)
	require.Equal(t, all[0], string(list[0].Name))
	for _, it := range list[:10] {
		require.InEpsilon(t, truth[string(it.Name)], it.Count, 0.02, "%s", it.Name)
	}
}

// TestReplay checks that the same commands on the same state give the same state, chance included.
func TestReplay(t *testing.T) {
	rng := testseed.Rand(t)
	a, b := newList(t, 5, 4, 3, 0.9), newList(t, 5, 4, 3, 0.9)
	for range 2000 {
		name, n := fmt.Sprint(rng.IntN(60)), uint32(1+rng.IntN(3000))
		require.Equal(t, add(a, name, n), add(b, name, n))
	}
	require.Equal(t, a.mem, b.mem)
}

// TestMissed checks that drawing the number of failures before a success at once has the same
// distribution as trying one by one.
func TestMissed(t *testing.T) {
	rng := testseed.Rand(t)
	l := &List{state: rng.Uint64()}
	for _, p := range []float64{0.5, 0.126, 0.124, 0.01, 0.0005} {
		const tries = 20_000
		sum := 0.0
		for range tries {
			m := l.missed(p, math.MaxUint32)
			sum += float64(m)
		}
		mean := (1 - p) / p
		require.InDelta(t, mean, sum/tries, 6*math.Sqrt((1-p)/(p*p)/tries), "p %v", p)
	}
	require.EqualValues(t, 7, l.missed(0, 7))
	require.EqualValues(t, 100_000, l.missed(1e-300, 100_000))
	require.Zero(t, l.missed(1, 7))
}

// TestDecay checks that the share of counters that n additions of another item bring down to 0 is
// the same as when trying one by one.
func TestDecay(t *testing.T) {
	rng := testseed.Rand(t)
	l := &List{state: rng.Uint64(), Decay: 0.8}
	const tries = 20_000
	zero, zeroSlow := 0, 0
	for range tries {
		count := uint32(20)
		l.decay(&count, 300)
		if count == 0 {
			zero++
		}
		slow := uint32(20)
		for range 300 {
			if slow > 0 && rng.Float64() < math.Pow(0.8, float64(slow)) {
				slow--
			}
		}
		if slow == 0 {
			zeroSlow++
		}
	}
	require.InDelta(t, zeroSlow, zero, 6*math.Sqrt(tries/2.0))
	require.Greater(t, zero, 0)
	require.Less(t, zero, tries)
}

func TestSaturation(t *testing.T) {
	l := newList(t, 1, 1, 1, 0.9)
	add(l, "x", math.MaxUint32-1)
	add(l, "x", MaxIncrement)
	require.Equal(t, []string{fmt.Sprint("x", uint32(math.MaxUint32))}, names(l))
	require.Equal(t, "-", add(l, "y", 0))
	require.Equal(t, "-", add(l, "y", MaxIncrement))
	require.Zero(t, l.Count([]byte("y")))
}

func TestSizes(t *testing.T) {
	_, _, ok := Sizes(1, math.MaxUint32, math.MaxUint32)
	require.False(t, ok)
	_, _, ok = Sizes(MaxK+1, 1, 1)
	require.False(t, ok)
	head, buckets, ok := Sizes(MaxK, 1<<20, 7)
	require.True(t, ok)
	require.EqualValues(t, fixed+MaxK*EntrySize+(8<<30)+firstBytes, head)
	require.EqualValues(t, 7*BucketSize<<20, buckets)
	for k := uint32(1); k < 100; k++ {
		require.GreaterOrEqual(t, slotBytes(k), int64(8*k))
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, k := range []uint32{10, 1000, 100_000} {
		b.Run(fmt.Sprint("k", k), func(b *testing.B) {
			l := newList(b, k, 8*k, 5, 0.9)
			// Else the first touch of each page is measured.
			for i := 0; i < len(l.mem.Block(0)); i += 4096 {
				l.mem.Block(0)[i] = 0
			}
			rng := rand.New(rand.NewPCG(1, 1))
			zipf := rand.NewZipf(rng, 1.1, 1, 10_000_000)
			items := make([][]byte, 1<<16)
			for i := range items {
				items[i] = fmt.Append(nil, "item:", zipf.Uint64())
			}
			var buf []byte
			for _, it := range items { // a list that is full
				buf, _ = l.Add(it, 1, buf[:0])
			}
			for i := 0; b.Loop(); i++ {
				buf, _ = l.Add(items[i&(1<<16-1)], 1, buf[:0])
			}
		})
	}
}

func BenchmarkIncrByWorst(b *testing.B) {
	l := newList(b, 10, 1, 7, 0.999)
	for i := 0; b.Loop(); i++ {
		l.Add([]byte{byte(i)}, MaxIncrement, nil)
	}
}
