package arena

import (
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// system stands between the arena and the system: it counts the mapped bytes and refuses what
// exceeds the limits of the process.
type system struct {
	mapped, limit int64
	noCuts        bool // there are too many mappings to cut one up
}

// underLimits makes the arena's calls go through a system without limits until the test ends.
func underLimits(t *testing.T) *system {
	s := &system{limit: 1 << 62}
	realMap, realUnmap, realRemap := mmap, munmap, mremap
	t.Cleanup(func() { mmap, munmap, mremap = realMap, realUnmap, realRemap })
	type pointer = unsafe.Pointer
	mmap = func(fd int, at int64, p pointer, n uintptr, prot, flags int) (pointer, error) {
		if s.mapped+int64(n) > s.limit {
			return nil, unix.ENOMEM
		}
		s.mapped += int64(n)
		return realMap(fd, at, p, n, prot, flags)
	}
	munmap = func(p pointer, n uintptr) error {
		if s.noCuts {
			return unix.ENOMEM
		}
		s.mapped -= int64(n)
		return realUnmap(p, n)
	}
	mremap = func(p pointer, from uintptr, q pointer, to uintptr, flags int) (pointer, error) {
		if s.mapped+int64(to)-int64(from) > s.limit {
			return nil, unix.ENOMEM
		}
		s.mapped += int64(to) - int64(from)
		return realRemap(p, from, q, to, flags)
	}
	return s
}

// block is a block that a test holds.
type block struct {
	ref Ref
	n   int
}

// TestReserveCarriesWhatHasBegun checks that an arena that is refused memory reports it, goes on
// with its reserve for new and growing blocks, and panics when the reserve is used up.
func TestReserveCarriesWhatHasBegun(t *testing.T) {
	const piece = chunkSize / 2
	for name, grow := range map[string]func(a *Arena, blocks []block) []block{
		"new blocks": func(a *Arena, blocks []block) []block {
			return append(blocks, block{a.Alloc(piece, Values), piece})
		},
		"a growing block": func(a *Arena, blocks []block) []block {
			b := &blocks[0]
			b.ref, b.n = a.Resize(b.ref, b.n, b.n+piece, Values), b.n+piece
			return blocks
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := underLimits(t)
			a := New()
			a.Guard()
			blocks := []block{{a.Alloc(4*piece, Values), 4 * piece}}
			if a.Short() || !a.Fits(64*piece) {
				t.Fatal("there is memory")
			}
			s.limit = s.mapped
			steps, message := 0, any(nil)
			func() {
				defer func() { message = recover() }()
				for ; steps < 100*reservePieces; steps++ {
					blocks = grow(a, blocks)
					if !a.Short() || a.Fits(64*piece) {
						t.Fatal("there is no memory")
					}
				}
			}()
			if steps < reservePieces || steps > 2*reservePieces {
				t.Fatalf("the reserve was enough for %d steps", steps)
			}
			text, _ := message.(string)
			if !strings.HasPrefix(text, "out of memory: the system refused ") {
				t.Fatalf("panic: %v", message)
			}
			s.limit = 1 << 62
			if !a.Probe(0) || a.Short() {
				t.Fatal("there is memory again")
			}
			if err := a.Check(); err != nil {
				t.Fatal(err)
			}
			for _, b := range blocks {
				a.Free(b.ref, b.n, Values)
			}
			a.Close()
			if s.mapped != 0 {
				t.Fatalf("%d bytes stay mapped", s.mapped)
			}
		})
	}
}

// TestRefusedUnmapping checks that blocks and trials that the system does not take back are
// returned later.
func TestRefusedUnmapping(t *testing.T) {
	s := underLimits(t)
	a := New()
	a.Guard()
	ref := a.Alloc(8*chunkSize, Values)
	s.noCuts = true
	if a.Probe(0) || !a.Short() {
		t.Fatal("a trial that cannot be undone is no memory")
	}
	a.Free(ref, 8*chunkSize, Values)
	for a.Release() {
	}
	s.noCuts = false
	a.Probe(0)
	a.Close()
	if s.mapped != 0 {
		t.Fatalf("%d bytes stay mapped", s.mapped)
	}
}
