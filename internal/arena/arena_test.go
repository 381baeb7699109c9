package arena

import (
	"bytes"
	"math/rand/v2"
	"os"
	"sort"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/testseed"
)

// randSize favours small blocks and the borders of size classes, with some big ones.
func randSize(r *rand.Rand) int {
	switch r.IntN(20) {
	case 0:
		return r.IntN(2 * MaxSmall)
	case 1, 2, 3:
		return max(0, 1<<r.IntN(20)+r.IntN(3)-1)
	}
	return r.IntN(700)
}

func TestClassSize(t *testing.T) {
	last := 0
	for n := 0; n <= MaxSmall+9000; n++ {
		s := ClassSize(n)
		if s < n || s < last || s%4 != 0 || s == 0 {
			t.Fatalf("ClassSize(%d) = %d after %d", n, s, last)
		}
		if n > 0 && n <= 128 && s-n >= 4 || n > 128 && n <= 512 && s-n >= 8 {
			t.Fatalf("ClassSize(%d) = %d wastes %d bytes", n, s, s-n)
		}
		if n > 512 && n <= MaxSmall && (s-n)*8 > n {
			t.Fatalf("ClassSize(%d) = %d wastes more than 1/8", n, s)
		}
		if ClassSize(s) != s {
			t.Fatalf("ClassSize(%d) = %d, not a fixed point", s, ClassSize(s))
		}
		last = s
	}
	a := New()
	defer a.Close()
	for n := 1; n <= MaxSmall; n++ {
		c := &a.class[classOf(n)]
		if int(c.size) != ClassSize(n) {
			t.Fatalf("class of %d holds %d, want %d", n, c.size, ClassSize(n))
		}
		if tail := c.units << unitShift % c.size; tail*16 > c.units<<unitShift {
			t.Fatalf("class %d: runs of %d units waste %d", c.size, c.units, tail)
		}
	}
}

// TestAlignment checks that blocks of a multiple of 8 or 64 bytes are aligned to that, if their
// class has that size.
func TestAlignment(t *testing.T) {
	a := New()
	defer a.Close()
	for n := 4; n <= 64<<10; n += 4 {
		if ClassSize(padded(n)) != padded(n) {
			continue
		}
		for range 3 {
			ref := a.Alloc(n, Values)
			defer a.Free(ref, n, Values)
			at := uintptr(a.Pointer(ref))
			if padded(n)%8 == 0 && at%8 != 0 || padded(n)%64 == 0 && at%64 != 0 {
				t.Fatalf("a block of %d bytes is at %#x", n, at)
			}
		}
	}
}

type modelBlock struct {
	ref  Ref
	data []byte
	p    Purpose
}

// fill writes random bytes into the block and the model.
func (m *modelBlock) fill(a *Arena, r *rand.Rand, from int) {
	b := a.Bytes(m.ref, len(m.data))
	seed := byte(r.Uint32())
	for i := from; i < len(b); i++ {
		b[i] = seed + byte(i*7)
		m.data[i] = b[i]
	}
}

// newModelBlock allocates a block of random size and content.
func newModelBlock(t *testing.T, a *Arena, r *rand.Rand) modelBlock {
	n := randSize(r)
	m := modelBlock{data: make([]byte, n), p: Purpose(r.IntN(int(NumPurposes)))}
	if r.IntN(4) == 0 {
		m.ref = a.AllocZero(n, m.p)
		if !bytes.Equal(a.Bytes(m.ref, n), m.data) {
			t.Fatalf("AllocZero(%d) is not zero", n)
		}
	} else {
		m.ref = a.Alloc(n, m.p)
	}
	m.fill(a, r, 0)
	return m
}

// resize gives the block another random size.
func (m *modelBlock) resize(t *testing.T, a *Arena, r *rand.Rand) {
	n := randSize(r)
	old := len(m.data)
	m.ref = a.Resize(m.ref, old, n, m.p)
	m.data = append(make([]byte, 0, n), m.data[:min(old, n)]...)[:n]
	if !bytes.Equal(a.Bytes(m.ref, min(old, n)), m.data[:min(old, n)]) {
		t.Fatalf("Resize from %d to %d lost contents", old, n)
	}
	m.fill(a, r, min(old, n))
}

// TestModel runs random operations against copies kept on Go's heap.
func TestModel(t *testing.T) {
	r := testseed.Rand(t)
	a := New()
	var live []modelBlock
	free := func(i int) {
		m := live[i]
		if !bytes.Equal(a.Bytes(m.ref, len(m.data)), m.data) {
			t.Fatalf("block %#x of %d bytes changed", m.ref, len(m.data))
		}
		a.Free(m.ref, len(m.data), m.p)
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
	}
	for step := range 12000 {
		grow := step/1500%2 == 0 // waves, so that runs and chunks empty again
		switch k := r.IntN(10); {
		case len(live) == 0, k < 5 && grow, k < 2:
			live = append(live, newModelBlock(t, a, r))
		case k < 7:
			live[r.IntN(len(live))].resize(t, a, r)
		default:
			free(r.IntN(len(live)))
		}
		if step%1000 == 0 {
			verify(t, a, live)
			if step%4000 == 0 {
				a.Trim()
			} else {
				a.Release()
			}
		}
	}
	verify(t, a, live)
	for len(live) > 0 {
		free(r.IntN(len(live)))
	}
	verify(t, a, live)
	if a.Used() != 0 {
		t.Errorf("Used() = %d with nothing allocated", a.Used())
	}
	a.Trim()
	if a.Mapped() != 0 {
		t.Errorf("Mapped() = %d after Trim with nothing allocated", a.Mapped())
	}
	a.Close()
}

// verify checks the bookkeeping, the accounting, the contents, and that no two blocks overlap.
func verify(t *testing.T, a *Arena, live []modelBlock) {
	t.Helper()
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	var used [NumPurposes]int64
	sorted := append([]modelBlock(nil), live...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].ref < sorted[j].ref })
	for i, m := range sorted {
		used[m.p] += int64(ClassSize(len(m.data)))
		if i > 0 && sorted[i-1].ref+Ref(len(sorted[i-1].data)) > m.ref {
			t.Fatalf("blocks %#x (%d bytes) and %#x overlap", sorted[i-1].ref,
				len(sorted[i-1].data), m.ref)
		}
		if !bytes.Equal(a.Bytes(m.ref, len(m.data)), m.data) {
			t.Fatalf("block %#x of %d bytes changed", m.ref, len(m.data))
		}
	}
	for p, n := range used {
		if got := a.UsedBy(Purpose(p)); got != n {
			t.Fatalf("UsedBy(%d) = %d, want %d", p, got, n)
		}
	}
}

func TestChunksGoBack(t *testing.T) {
	a := New()
	defer a.Close()
	var refs []Ref
	for range 40 << 20 / 1024 {
		refs = append(refs, a.Alloc(1000, Values))
	}
	if a.Mapped() < 40<<20 {
		t.Fatalf("Mapped() = %d", a.Mapped())
	}
	for _, r := range refs {
		a.Free(r, 1000, Values)
	}
	if a.Mapped() < 40<<20 || !a.Idle() {
		t.Errorf("Mapped() = %d before Release, Idle() = %v: Free must not unmap", a.Mapped(),
			a.Idle())
	}
	for n := a.Mapped(); a.Release(); n = a.Mapped() {
		if n-a.Mapped() > chunkSize {
			t.Fatalf("one Release gave %d bytes back", n-a.Mapped())
		}
	}
	if a.Mapped() > 2*chunkSize {
		t.Errorf("Mapped() = %d after everything was freed, want at most two chunks", a.Mapped())
	}
	again := a.Alloc(1000, Values)
	if again>>32 != refs[0]>>32 {
		t.Errorf("chunk %d used where chunk %d was free", again>>32, refs[0]>>32)
	}
	a.Free(again, 1000, Values)
}

func TestFreedBlocksAreReused(t *testing.T) {
	a := New()
	defer a.Close()
	x, y := a.Alloc(100, Keys), a.Alloc(100, Keys)
	a.Free(x, 100, Keys)
	if z := a.Alloc(97, Keys); z != x {
		t.Errorf("Alloc gave %#x, want the freed %#x", z, x)
	}
	a.Free(x, 97, Keys)
	a.Free(y, 100, Keys)
}

func TestFrom(t *testing.T) {
	a := New()
	defer a.Close()
	for _, n := range []int{1, 24, 5000, MaxSmall, MaxSmall + 1} {
		r := a.Alloc(n, Keys)
		copy(a.Bytes(r, n), "header")
		if b := a.From(r); len(b) < n || b[0] != 'h' {
			t.Errorf("From of a block of %d: %d bytes", n, len(b))
		}
		a.Free(r, n, Keys)
	}
}

func TestDiscard(t *testing.T) {
	a := New()
	defer a.Close()
	const n = 1 << 20
	r := a.Alloc(n, Tables)
	b := a.Bytes(r, n)
	for i := range b {
		b[i] = 1
	}
	page := os.Getpagesize()
	for _, to := range []int{1, 2*page + 1, 4*page + 1, 3 * page, 4 * page} {
		used, held := a.Used(), a.Held()
		freed := a.Discard(r, n, to, Tables)
		if a.Used() != used-freed || a.Held() != held-freed {
			t.Fatalf("%d bytes up to %d given up: %d used, %d held", freed, to, a.Used()-used,
				a.Held()-held)
		}
	}
	for i, c := range b {
		if gone := i < 4*page; (c == 0) != gone {
			t.Fatalf("byte %d is %d", i, c)
		}
	}
	size := int64(ClassSize(n))
	if a.Counted(r, n) != size-int64(4*page) || a.UsedBy(Tables) != a.Counted(r, n) {
		t.Fatalf("%d counted, %d used", a.Counted(r, n), a.UsedBy(Tables))
	}
	held := a.Held()
	a.Free(r, n, Tables)
	if a.Used() != 0 || a.Waiting() != held {
		t.Fatalf("after Free: %d used, %d of %d waiting", a.Used(), a.Waiting(), held)
	}
	for a.Release() {
	}
	if a.Held() != 0 || a.Waiting() != 0 {
		t.Fatalf("after Release: %d held, %d waiting", a.Held(), a.Waiting())
	}
}

func TestRunOfUnits(t *testing.T) {
	r := testseed.Rand(t)
	for range 2000 {
		free := r.Uint64() | r.Uint64()
		n := uint32(1 + r.IntN(maxUnits))
		got := starts(free, n)
		for i := uint32(0); i < 64; i++ {
			want := i+n <= 64 && free>>i&(1<<n-1) == 1<<n-1
			if want != (got>>i&1 == 1) {
				t.Fatalf("starts(%#x, %d) bit %d = %v", free, n, i, !want)
			}
		}
	}
}

func TestNoGoAllocation(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	a := New()
	defer a.Close()
	keep := a.Alloc(80, Keys)
	if n := testing.AllocsPerRun(1000, func() {
		r := a.Alloc(80, Keys)
		a.Bytes(r, 80)[3]++
		r = a.Resize(r, 80, 300, Keys)
		a.Free(r, 300, Keys)
	}); n != 0 {
		t.Errorf("%v Go allocations", n)
	}
	a.Free(keep, 80, Keys)
}

func FuzzArena(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 1, 200, 40, 0x81, 0xc0, 9})
	f.Fuzz(func(t *testing.T, ops []byte) {
		a := New()
		var live []modelBlock
		r := rand.New(rand.NewPCG(1, 2))
		for i := 0; i+1 < len(ops) && i < 2000; i += 2 {
			arg := int(ops[i+1])
			size := arg << (ops[i] & 0x3f % 14)
			switch {
			case ops[i] < 0x80 || len(live) == 0:
				m := modelBlock{ref: a.Alloc(size, Keys), data: make([]byte, size)}
				m.fill(a, r, 0)
				live = append(live, m)
			case ops[i] < 0xc0:
				m := &live[arg%len(live)]
				old := len(m.data)
				m.ref = a.Resize(m.ref, old, size, Keys)
				m.data = append(make([]byte, 0, size), m.data[:min(old, size)]...)[:size]
				m.fill(a, r, min(old, size))
			default:
				m := live[arg%len(live)]
				a.Free(m.ref, len(m.data), Keys)
				live[arg%len(live)] = live[len(live)-1]
				live = live[:len(live)-1]
			}
		}
		verify(t, a, live)
		for _, m := range live {
			a.Free(m.ref, len(m.data), m.p)
		}
		a.Close()
	})
}

func BenchmarkAllocFree(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"32", 32}, {"96", 96}, {"1000", 1000}, {"100000", 100000}, {"1000000", 1000000}} {
		b.Run(c.name, func(b *testing.B) {
			a := New()
			defer a.Close()
			a.Alloc(c.n, Keys)
			for b.Loop() {
				a.Free(a.Alloc(c.n, Keys), c.n, Keys)
			}
		})
	}
}

// BenchmarkChurn frees and allocates blocks of mixed sizes all over 1 M live ones.
func BenchmarkChurn(b *testing.B) {
	a := New()
	defer a.Close()
	r := rand.New(rand.NewPCG(1, 2))
	refs := make([]Ref, 1<<20)
	size := func(i int) int { return 64 + i*8&63 }
	for i := range refs {
		refs[i] = a.Alloc(size(i), Keys)
	}
	for b.Loop() {
		i := r.IntN(len(refs))
		a.Free(refs[i], size(i), Keys)
		refs[i] = a.Alloc(size(i), Keys)
	}
}

var sink byte

func BenchmarkBytes(b *testing.B) {
	a := New()
	defer a.Close()
	refs := make([]Ref, 1024)
	for i := range refs {
		refs[i] = a.AllocZero(64, Keys)
	}
	i := 0
	for b.Loop() {
		sink += a.Bytes(refs[i&1023], 64)[5]
		i++
	}
}

// TestBigBlocksGoInSlices frees blocks that take long to unmap: Free leaves that to Release, which
// never does much of it at once.
func TestBigBlocksGoInSlices(t *testing.T) {
	a := New()
	defer a.Close()
	const size = 40 << 20
	r := a.Alloc(size, Values)
	before := a.Mapped()
	a.Free(r, size, Values)
	if a.Used() != 0 || a.Mapped() != before || !a.Idle() {
		t.Fatalf("after Free: used %d, mapped %d of %d, idle %v", a.Used(), a.Mapped(), before,
			a.Idle())
	}
	calls := 1
	for a.Release() {
		calls++
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if calls < size/releaseBytes || a.Mapped() != 0 {
		t.Fatalf("%d calls of Release, %d bytes still mapped", calls, a.Mapped())
	}
	var refs []Ref
	for range 10 {
		refs = append(refs, a.Alloc(size, Values))
	}
	for i, r := range refs {
		a.Free(r, size, Values)
		if want := int64(i+1) * bigSize(size); a.Waiting() != want {
			t.Fatalf("%d bytes wait to be unmapped, want %d", a.Waiting(), want)
		}
	}
	for last := a.Waiting(); a.Release(); last = a.Waiting() {
		if last-a.Waiting() > releaseBytes {
			t.Fatalf("one call of Release gave %d bytes back", last-a.Waiting())
		}
	}
	if a.Waiting() != 0 || a.Mapped() != 0 {
		t.Fatalf("%d bytes wait, %d are mapped", a.Waiting(), a.Mapped())
	}
}

// TestPack checks that Refs at the ends of what Alloc hands out survive Pack and Unpack.
func TestPack(t *testing.T) {
	for _, chunk := range []Ref{1, 2, 0x5a5a5, 1<<numberBits - 1} {
		for _, off := range []Ref{0, 4, 0x155554, chunkSize - 4} {
			r := chunk<<32 | off
			p := r.Pack()
			if p>>PackedBits != 0 || Unpack(p) != r || Unpack(p|1<<PackedBits|1<<63) != r {
				t.Errorf("%#x packs to %#x, which is %#x", uint64(r), p, uint64(Unpack(p)))
			}
		}
	}
}

// TestGrowingBlockLeavesNoRuns checks that a block that doubles, as a table does, leaves no runs of
// its former sizes: units of large blocks serve other sizes at once.
func TestGrowingBlockLeavesNoRuns(t *testing.T) {
	a := New()
	n := keepBelow
	ref := a.Alloc(n, Tables)
	for ; 2*n < MaxSmall; n *= 2 {
		ref = a.Resize(ref, n, 2*n, Tables)
	}
	if kept := a.keptRuns(); kept > 0 {
		t.Fatalf("%d bytes of empty runs are kept", kept)
	}
	a.Free(ref, n, Tables)
	a.Close()
}
