package arena

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"godwit/internal/testseed"
)

// fakeCollapse makes Collapse do nothing and answer with err, until the test ends.
func fakeCollapse(t *testing.T, err *error) {
	wasResident, wasCollapse := resident, collapse
	t.Cleanup(func() { resident, collapse = wasResident, wasCollapse })
	resident = func(unsafe.Pointer) bool { return true }
	collapse = func(unsafe.Pointer) error { return *err }
}

// pad is what the build tag invariants adds to a block.
var pad = padded(0)

// fill allocates two chunks full of blocks of n bytes, which with pad are 512.
func fill(a *Arena, n int) (refs []Ref) {
	for range 2 * chunkSize / 512 {
		refs = append(refs, a.Alloc(n, Keys))
	}
	return refs
}

// sweep runs a sweep and returns what it has found.
func sweep(a *Arena) (found []Half) {
	for a.BeginHuge(); a.huge.at > 0; {
		found = a.FullHalves(found, len(found)+1)
	}
	return found
}

// collapseAll collapses what a sweep finds and returns how much that is.
func collapseAll(a *Arena) int {
	found := sweep(a)
	for _, f := range found {
		ok, _, _ := f.Collapse()
		a.Collapsed(f, ok)
	}
	return len(found)
}

// TestFullHalves checks when a half is collapsed: not before two sweeps have found it full, once,
// and after units of it were given back only when it has been full for long.
func TestFullHalves(t *testing.T) {
	var refused error
	fakeCollapse(t, &refused)
	a := New()
	n := 512 - pad // a power of two in all, so that runs are full to the last byte
	refs := fill(a, n)
	if a.Mapped() != 2*chunkSize {
		t.Fatalf("%d bytes mapped", a.Mapped())
	}
	check := func(when string, found, huge int) {
		t.Helper()
		if got := collapseAll(a); got != found || a.HugeBytes() != int64(huge)*halfBytes {
			t.Fatalf("%s: %d halves found, %d bytes huge", when, got, a.HugeBytes())
		}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
	}
	check("seen once", 0, 0)
	check("seen twice", 4, 4)
	check("seen again", 0, 4)
	const unit = 65536 / 512
	for _, r := range refs[:unit] {
		a.Free(r, n, Keys)
	}
	check("with a free unit", 0, 4)
	a.Trim()
	check("trimmed", 0, 3)
	for i := range unit {
		refs[i] = a.Alloc(n, Keys)
	}
	refused = unix.ENOMEM
	for range fullSweeps + againSweeps - 1 {
		check("full again", 0, 3)
	}
	check("refused", 1, 3)
	refused = nil
	for range fullSweeps + againSweeps - 1 {
		check("after the refusal", 0, 3)
	}
	check("full for long", 1, 4)
	for _, r := range refs {
		a.Free(r, n, Keys)
	}
	a.Trim()
	check("without a block", 0, 0)
	a.Close()
}

// TestHugeTables checks that large blocks are collapsed if they are for tables, and that blocks
// that are discarded, resized or freed do not count.
func TestHugeTables(t *testing.T) {
	var refused error
	fakeCollapse(t, &refused)
	n := 3*halfBytes - pad
	for name, end := range map[string]func(a *Arena, ref Ref) Ref{
		"discarded": func(a *Arena, ref Ref) Ref {
			a.Discard(ref, n, pageSize, Tables)
			return ref
		},
		"resized": func(a *Arena, ref Ref) Ref {
			return a.Resize(a.Resize(ref, n, 2*n, Tables), 2*n, n, Tables)
		},
		"freed": func(a *Arena, ref Ref) Ref {
			a.Free(ref, n, Tables)
			return a.Alloc(n, Tables)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := New()
			value, table := a.Alloc(n, Values), a.AllocZero(n, Tables)
			sweep(a)
			found := sweep(a)
			whole := 3
			if aligned(a.base[table>>32]) != a.base[table>>32] {
				whole = 2
			}
			if len(found) != whole {
				t.Fatalf("%d halves found", len(found))
			}
			a.Collapsed(found[0], true)
			if a.HugeBytes() != halfBytes {
				t.Fatalf("%d bytes huge", a.HugeBytes())
			}
			table = end(a, table)
			a.Collapsed(found[1], true)
			if err := a.Check(); err != nil || a.HugeBytes() != 0 {
				t.Fatalf("%d bytes huge, %v", a.HugeBytes(), err)
			}
			a.Free(value, n, Values)
			a.Free(table, n, Tables)
			a.Close()
		})
	}
}

// TestHugeModel collapses and refuses at random among allocations and trims, with results that come
// late, and checks the books.
func TestHugeModel(t *testing.T) {
	r := testseed.Rand(t)
	a := New()
	var live []modelBlock
	var late []Half
	for step := range 20000 {
		grow := step/4000%2 == 0
		if k := r.IntN(10); len(live) == 0 || k < 3 || k < 7 && grow {
			live = append(live, newModelBlock(t, a, r))
		} else {
			i := r.IntN(len(live))
			a.Free(live[i].ref, len(live[i].data), live[i].p)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		if step%50 == 0 {
			late = append(late, sweep(a)...)
		}
		for len(late) > 0 && r.IntN(40) == 0 {
			a.Collapsed(late[0], r.IntN(4) > 0)
			late = late[1:]
		}
		if step%500 == 0 {
			a.Trim()
			verify(t, a, live)
		}
	}
	for _, m := range live {
		a.Free(m.ref, len(m.data), m.p)
	}
	a.Trim()
	if err := a.Check(); err != nil || a.HugeBytes() != 0 {
		t.Fatalf("%d bytes huge with nothing allocated, %v", a.HugeBytes(), err)
	}
	a.Close()
}

// TestRealCollapse checks against the system that a full half becomes one page without losing
// anything, that a half with an untouched page does not, and that what was trimmed while a half was
// collapsed is not resident afterwards.
func TestRealCollapse(t *testing.T) {
	if !HugePagesOffered() {
		t.Skip("the system offers no huge pages")
	}
	a := New()
	n := 512 - pad
	refs := fill(a, n)
	for i, r := range refs {
		copy(a.Bytes(r, n), fmt.Sprint(i))
	}
	defer func() {
		for _, r := range refs {
			if r != 0 {
				a.Free(r, n, Keys)
			}
		}
		a.Close()
	}()
	sweep(a)
	found := sweep(a)
	if len(found) != 4 {
		t.Skipf("%d halves found: the system does not align mappings", len(found))
	}
	for _, f := range found[:2] {
		done, took, err := f.Collapse()
		if err != nil {
			t.Skipf("the system refuses after %v: %v", took, err)
		}
		if a.Collapsed(f, done); !done || took <= 0 || took > time.Hour {
			t.Fatalf("done %v after %v", done, took)
		}
	}
	if got := hugeAt(t, a.base[1]); got < 2*halfBytes {
		t.Fatalf("%d bytes of the first chunk are in huge pages", got)
	}
	for i, r := range refs {
		if want := fmt.Sprint(i); string(a.Bytes(r, n)[:len(want)]) != want {
			t.Fatalf("block %d has changed", i)
		}
	}
	const perUnit = 65536 / 512
	unit := refs[2*halfUnits*perUnit:][:perUnit] // the first of the third half
	for i, r := range unit {
		a.Free(r, n, Keys)
		unit[i] = 0
	}
	a.Trim()
	if done, _, err := found[2].Collapse(); done || err != nil {
		t.Fatalf("a half with a hole: %v, %v", done, err)
	}
	if err := collapse(found[2].at); err != nil {
		t.Skipf("the system refuses: %v", err)
	}
	a.Collapsed(found[2], true)
	if resident(found[2].at) {
		t.Fatal("what was trimmed is resident")
	}
}

// hugeAt returns how many bytes of the mapping that contains p are in huge pages.
func hugeAt(t *testing.T, p unsafe.Pointer) (n int64) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uintptr
		if _, err := fmt.Sscanf(s.Text(), "%x-%x ", &from, &to); err == nil {
			inside = from <= uintptr(p) && uintptr(p) < to
		}
		if rest, ok := strings.CutPrefix(s.Text(), "AnonHugePages:"); ok && inside {
			fmt.Sscanf(rest, "%d", &n)
			return n << 10
		}
	}
	t.Fatal(errors.New("there is no such mapping"))
	return 0
}

// TestHugeAlignment checks that chunks begin where a huge page may, even if the system places
// mappings anywhere.
func TestHugeAlignment(t *testing.T) {
	underLimits(t)
	real := mmap
	asked := 0
	mmap = func(fd int, at int64, p unsafe.Pointer, n uintptr, prot, flags int) (
		unsafe.Pointer, error) {
		if p != nil {
			asked++
			return real(fd, at, p, n, prot, flags)
		}
		// One page below the top of a larger stretch, as if another mapping lay there.
		q, err := real(fd, at, nil, 2*n, prot, flags)
		if err != nil {
			return nil, err
		}
		cut := unsafe.Add(aligned(q), pageSize)
		if err := munmap(q, uintptr(cut)-uintptr(q)); err != nil {
			t.Fatal(err)
		}
		rest := uintptr(q) + 2*n - uintptr(cut) - n
		if err := munmap(unsafe.Add(cut, n), rest); err != nil {
			t.Fatal(err)
		}
		return cut, nil
	}
	a := New()
	ref := a.Alloc(100, Keys)
	if b := a.base[ref>>32]; aligned(b) != b || asked != 1 {
		t.Fatalf("the chunk begins at %p after %d requests for a place", b, asked)
	}
	a.Free(ref, 100, Keys)
	a.Trim()
	a.Close()
}
