package dict

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/testseed"
)

// entrySize is the size of a test entry: its key, 8 bytes.
const entrySize = 8

// world is a dict whose entries are 8-byte keys, and the map that it must agree with.
type world struct {
	t     testing.TB
	a     *arena.Arena
	d     *Dict
	model map[uint64]arena.Ref
	keys  []uint64 // the model's keys, to choose from
	pos   map[uint64]int
	hash  func(key uint64) uint64
}

func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, a: arena.New(), model: map[uint64]arena.Ref{}, pos: map[uint64]int{},
		hash: mix}
	w.d = New(w.a, Funcs{
		Hash: func(r arena.Ref) uint64 { return w.hash(w.key(r)) },
		Match: func(r arena.Ref, key []byte) bool {
			return string(w.a.Bytes(r, entrySize)) == string(key)
		},
	})
	return w
}

func (w *world) key(r arena.Ref) uint64 {
	return binary.LittleEndian.Uint64(w.a.Bytes(r, entrySize))
}

func keyBytes(k uint64) []byte { return binary.LittleEndian.AppendUint64(nil, k) }

func (w *world) find(k uint64) arena.Ref { return w.d.Find(w.hash(k), keyBytes(k)) }

func (w *world) insert(k uint64) {
	if _, ok := w.model[k]; ok {
		return
	}
	r := w.a.Alloc(entrySize, arena.Keys)
	binary.LittleEndian.PutUint64(w.a.Bytes(r, entrySize), k)
	w.d.Insert(w.hash(k), r)
	w.model[k] = r
	w.pos[k] = len(w.keys)
	w.keys = append(w.keys, k)
}

func (w *world) delete(k uint64) {
	r, ok := w.model[k]
	if !ok {
		if got := w.find(k); got != 0 {
			w.t.Fatalf("key %#x found, though it is absent", k)
		}
		return
	}
	if !w.d.Delete(w.hash(k), r) {
		w.t.Fatalf("key %#x not deleted", k)
	}
	w.forget(k)
}

// forget removes the key from the model and frees its entry, which is no longer in the dict.
func (w *world) forget(k uint64) {
	w.a.Free(w.model[k], entrySize, arena.Keys)
	delete(w.model, k)
	i, last := w.pos[k], w.keys[len(w.keys)-1]
	w.keys[i] = last
	w.pos[last] = i
	w.keys = w.keys[:len(w.keys)-1]
	delete(w.pos, k)
}

func (w *world) move(k uint64) {
	old, ok := w.model[k]
	if !ok {
		return
	}
	r := w.a.Alloc(entrySize, arena.Keys)
	binary.LittleEndian.PutUint64(w.a.Bytes(r, entrySize), k)
	w.d.Replace(w.hash(k), old, r)
	w.a.Free(old, entrySize, arena.Keys)
	w.model[k] = r
}

func (w *world) check() {
	w.t.Helper()
	if err := w.d.Check(); err != nil {
		w.t.Fatal(err)
	}
	if w.d.Len() != len(w.model) {
		w.t.Fatalf("Len() = %d, want %d", w.d.Len(), len(w.model))
	}
	if got, want := w.d.TableBytes(), w.a.UsedBy(arena.Tables); got != want {
		w.t.Fatalf("TableBytes() = %d, arena says %d", got, want)
	}
}

func (w *world) checkAll() {
	w.t.Helper()
	w.check()
	for k, r := range w.model {
		if got := w.find(k); got != r {
			w.t.Fatalf("Find(%#x) = %#x, want %#x", k, got, r)
		}
	}
}

// close drains everything, in slices, and verifies that nothing is left.
func (w *world) close() {
	w.t.Helper()
	for !w.d.Drain(100, func(r arena.Ref) { w.forget(w.key(r)) }) {
	}
	w.check()
	if w.a.Used() != 0 || len(w.model) != 0 {
		w.t.Fatalf("%d bytes and %d keys left after Drain", w.a.Used(), len(w.model))
	}
	w.a.Close()
}

// TestModel grows and shrinks a dict in waves of random operations.
func TestModel(t *testing.T) {
	r := testseed.Rand(t)
	for _, c := range []struct {
		name  string
		space uint64
		steps int
		hash  func(uint64) uint64
	}{
		{"few", 40, 20000, mix},
		{"thousands", 6000, 120000, mix},
		{"bad fingerprints", 500, 20000, func(k uint64) uint64 { return mix(k) & 0xffff }},
		{"colliding", 60, 20000, func(k uint64) uint64 { return k & 1 << 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.hash = c.hash
			for step := range c.steps {
				w.randomOp(r, c.space, step*6/c.steps%2 == 0)
				if step%(c.steps/50) == 0 {
					w.check()
				}
			}
			w.checkAll()
			w.close()
		})
	}
}

func (w *world) randomOp(r *rand.Rand, space uint64, grow bool) {
	k := r.Uint64N(space)
	switch p := r.IntN(100); {
	case p < 20:
		if got := w.find(k); got != w.model[k] {
			w.t.Fatalf("Find(%#x) = %#x, want %#x", k, got, w.model[k])
		}
	case p < 25:
		w.move(k)
	case p < 27:
		w.d.RehashSlice(r.IntN(20))
	case p < 29:
		w.d.PrefetchAll([]uint64{w.hash(k), w.hash(k + 1), w.hash(k ^ 1<<7)})
	case p < 30:
		if got := w.d.Random(r.Uint64); (got == 0) != (len(w.model) == 0) ||
			got != 0 && w.model[w.key(got)] != got {
			w.t.Fatalf("Random() = %#x with %d entries", got, len(w.model))
		}
	case (p < 80) == grow:
		w.insert(k)
	default:
		w.delete(k)
	}
}

func TestDeleteOfAbsentEntry(t *testing.T) {
	w := newWorld(t)
	if w.d.Delete(5, 8) {
		t.Error("deleted from an empty dict")
	}
	w.insert(1)
	if w.d.Delete(w.hash(1), w.model[1]+8) || w.d.Len() != 1 {
		t.Error("deleted an entry that was never inserted")
	}
	w.close()
}

// TestLargeTablesGrowWithoutHashing verifies the index bits kept above the Ref.
func TestLargeTablesGrowWithoutHashing(t *testing.T) {
	if testing.Short() || invariant.Enabled {
		t.Skip("slow")
	}
	a := arena.New()
	hashes := 0
	d := New(a, Funcs{
		Hash:  func(r arena.Ref) uint64 { hashes++; return mix(uint64(r)) },
		Match: func(arena.Ref, []byte) bool { return true },
	})
	const n = maxLoad<<16 + 10
	for i := uint64(1); d.Len() < n; i++ { // the Refs are made up: nothing reads them
		d.Insert(mix(uint64(arena.Unpack(i))), arena.Unpack(i))
	}
	for d.RehashSlice(1 << 16) {
	}
	hashes = 0
	d.tab[1] = d.newTable((d.tab[0].mask + 1) * 16)
	for d.RehashSlice(1000) {
	}
	if hashes != 0 {
		t.Errorf("%d entries hashed", hashes)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	d.Drain(1<<30, func(arena.Ref) {})
	a.Close()
}

// TestTableBytes holds the memory of tables against what the layout promises.
func TestTableBytes(t *testing.T) {
	for _, c := range []struct{ load, most float64 }{
		{5, 13.1}, {6.1, 11.1}, {7.6, 9.6}, {9.9, 9.4},
	} {
		a := arena.New()
		d := New(a, Funcs{Hash: func(r arena.Ref) uint64 { return mix(uint64(r)) }})
		const buckets = 1 << 12
		d.tab[0] = d.newTable(buckets)
		d.Pause++ // never grow
		n := int(c.load * buckets)
		for i := range uint64(n) { // the Refs are made up: nothing reads them
			r := arena.Unpack(i + 1)
			d.Insert(mix(uint64(r)), r)
		}
		if got := float64(d.TableBytes()) / float64(n); got > c.most {
			t.Errorf("%.1f entries a bucket: %.2f bytes each, want at most %.2f", c.load, got,
				c.most)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
		d.Drain(1<<30, func(arena.Ref) {})
		a.Close()
	}
}

// TestMayGrow checks that against MayGrow's advice chains grow longer, up to fullLoad, and that
// otherwise the table doubles.
func TestMayGrow(t *testing.T) {
	a := arena.New()
	may := true
	d := New(a, Funcs{
		Hash:    func(r arena.Ref) uint64 { return mix(uint64(r)) },
		Match:   func(arena.Ref, []byte) bool { return true },
		MayGrow: func(int) bool { return may },
	})
	next := uint64(1)
	fill := func(n int) {
		for ; d.Len() < n; next++ { // the Refs are made up: nothing reads them
			d.Insert(mix(uint64(arena.Unpack(next))), arena.Unpack(next))
		}
		for d.RehashSlice(1 << 16) {
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	}
	fill(1000)
	buckets := int(d.tab[0].mask + 1)
	may = false
	fill(buckets * fullLoad)
	if now := int(d.tab[0].mask + 1); now != buckets {
		t.Errorf("%d buckets, had %d and may not grow", now, buckets)
	}
	fill(buckets*fullLoad + 1)
	if now := int(d.tab[0].mask + 1); now <= buckets {
		t.Errorf("%d buckets although more than full", now)
	}
	d.Drain(1<<30, func(arena.Ref) {})
	a.Close()
}

func TestEmptyDictHoldsNothing(t *testing.T) {
	w := newWorld(t)
	for k := range uint64(5000) {
		w.insert(k)
	}
	for k := range uint64(5000) {
		w.delete(k)
	}
	if n := w.d.TableBytes(); n != 0 {
		t.Errorf("%d bytes of tables after the last delete", n)
	}
	w.close()
}

func TestShrink(t *testing.T) {
	w := newWorld(t)
	for k := range uint64(50000) {
		w.insert(k)
	}
	for k := range uint64(49990) {
		w.delete(k)
	}
	for w.d.RehashSlice(100) {
	}
	if n := w.d.TableBytes(); n > 10*BucketBytes {
		t.Errorf("%d bytes of tables for 10 entries", n)
	}
	w.checkAll()
	w.close()
}

func TestPauseKeepsBuckets(t *testing.T) {
	w := newWorld(t)
	for k := range uint64(1000) {
		w.insert(k)
	}
	w.d.Pause++
	moved, t0, t1 := w.d.moved, w.d.tab[0], w.d.tab[1]
	for k := range uint64(5000) {
		w.insert(k)
	}
	for k := range uint64(4000) {
		w.delete(k)
	}
	if moved != w.d.moved || t0 != w.d.tab[0] || t1 != w.d.tab[1] || w.d.RehashSlice(5) {
		t.Error("tables changed in spite of Pause")
	}
	w.d.Pause--
	w.checkAll()
	w.close()
}

func TestExpand(t *testing.T) {
	w := newWorld(t)
	const n = 3000
	w.d.Expand(n)
	for k := range uint64(n) {
		w.insert(k)
		if w.d.Rehashing() {
			t.Fatalf("rehashing at %d entries", k)
		}
	}
	w.d.Expand(100 * n) // no effect any more
	w.checkAll()
	w.close()
}

func TestDrainWithDeletesAndInserts(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	for k := range uint64(20000) {
		w.insert(k)
	}
	for step := 0; !w.d.Drain(1+r.IntN(40), func(ref arena.Ref) { w.forget(w.key(ref)) }); step++ {
		w.delete(r.Uint64N(20000))
		w.insert(r.Uint64N(20000))
		if step%100 == 0 {
			w.check()
		}
	}
	w.close()
}

func TestSample(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	dst := make([]arena.Ref, 16)
	if n := w.d.Sample(r.Uint64, dst); n != 0 {
		t.Errorf("%d sampled from an empty dict", n)
	}
	for k := range uint64(5000) {
		w.insert(k)
		if k%50 != 9 {
			continue
		}
		n := w.d.Sample(r.Uint64, dst)
		if n != min(len(dst), w.d.Len()) {
			t.Fatalf("%d sampled of %d", n, w.d.Len())
		}
		seen := map[arena.Ref]bool{}
		for _, ref := range dst[:n] {
			if w.model[w.key(ref)] != ref || seen[ref] {
				t.Fatalf("sampled %#x, unknown or twice", ref)
			}
			seen[ref] = true
		}
	}
	w.close()
}

// TestRandomIsFair checks that every entry comes up, and none more often than several times its
// share.
func TestRandomIsFair(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	const n, rounds = 300, 400
	for k := range uint64(n) {
		w.insert(k)
	}
	count := map[arena.Ref]int{}
	for range n * rounds {
		count[w.d.Random(r.Uint64)]++
	}
	for k, ref := range w.model {
		if c := count[ref]; c < rounds/8 || c > rounds*8 {
			t.Errorf("key %d came up %d times, expected about %d", k, c, rounds)
		}
	}
	w.close()
}

// TestUniform checks that every entry is equally likely, in tables that grow, have grown, shrink
// and are sparse. The sum of squares is chi-square distributed with n-1 degrees of freedom; six
// standard deviations above its mean come up once in a billion runs.
func TestUniform(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t)
	if w.d.Uniform(r.Uint64) != 0 {
		t.Fatal("an entry of an empty dict")
	}
	grow := func(n int) {
		for len(w.keys) < n {
			w.insert(r.Uint64())
		}
	}
	cut := func(n int) {
		for len(w.keys) > n {
			w.delete(w.keys[r.IntN(len(w.keys))])
		}
	}
	for i, prepare := range []func(){
		func() { grow(1) }, func() { grow(7) }, func() { grow(81) }, func() { grow(700) },
		func() {
			for grow(701); !w.d.Rehashing(); {
				grow(w.d.Len() + 1)
			}
			grow(w.d.Len() + 20)
		},
		func() { w.d.Pause++; cut(100) },
		func() { w.d.Unpause(); cut(60) },
	} {
		prepare()
		const share = 200
		n := len(w.keys)
		w.d.Pause++
		count := make(map[arena.Ref]int, n)
		for range n * share {
			count[w.d.Uniform(r.Uint64)]++
		}
		w.d.Pause--
		chi := 0.0
		for _, ref := range w.model {
			d := float64(count[ref] - share)
			chi += d * d / share
		}
		if limit := float64(n) + 6*math.Sqrt(2*float64(n)); chi > limit || len(count) != n {
			t.Errorf("case %d: chi-square %.0f of %d entries (at most %.0f), %d came up, "+
				"rehashing %t", i, chi, n, limit, len(count), w.d.Rehashing())
		}
	}
	w.close()
}

func TestNoGoAllocation(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	w := newWorld(t)
	for k := range uint64(3000) {
		w.insert(k)
	}
	key, absent := keyBytes(77), keyBytes(1<<40)
	extra := w.a.Alloc(entrySize, arena.Keys)
	copy(w.a.Bytes(extra, entrySize), absent)
	h := w.hash(1 << 40)
	emit := func(arena.Ref) {}
	cursor := uint64(0)
	if n := testing.AllocsPerRun(2000, func() {
		w.d.Find(w.hash(77), key)
		w.d.Find(h, absent)
		w.d.Insert(h, extra)
		w.d.Delete(h, extra)
		cursor = w.d.Scan(cursor, emit)
	}); n != 0 {
		t.Errorf("%v Go allocations", n)
	}
	w.a.Free(extra, entrySize, arena.Keys)
	w.close()
}

// FuzzDict drives a dict with one operation for each pair of bytes.
func FuzzDict(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 1, 1, 2, 2, 3, 0, 4, 9, 5, 3})
	seq := []byte{}
	for i := range 200 {
		seq = append(seq, 0, byte(i))
	}
	for i := range 195 {
		seq = append(seq, 1, byte(i), 3, 1)
	}
	f.Add(seq)
	f.Fuzz(func(t *testing.T, ops []byte) {
		w := newWorld(t)
		for i := 0; i+1 < len(ops) && i < 4000; i += 2 {
			w.fuzzOp(ops[i], ops[i+1])
			if i%64 == 0 {
				w.check()
			}
		}
		w.d.Pause = 0
		w.checkAll()
		w.close()
	})
}

// fuzzOp does the operation that two bytes stand for.
func (w *world) fuzzOp(op, arg byte) {
	k := uint64(arg) | uint64(op>>4)<<8
	switch op & 0xf {
	case 0, 6, 7, 8:
		w.insert(k)
	case 1, 9, 10:
		w.delete(k)
	case 2:
		w.move(k)
	case 3:
		w.d.RehashSlice(int(arg))
	case 4:
		w.d.Drain(int(arg), func(r arena.Ref) { w.forget(w.key(r)) })
	case 5:
		w.d.Pause = int(k & 1)
	default:
		if got := w.find(k); got != w.model[k] {
			w.t.Fatalf("Find(%#x) = %#x, want %#x", k, got, w.model[k])
		}
	}
}
