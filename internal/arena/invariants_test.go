//go:build invariants

package arena

import (
	"strings"
	"testing"
)

// wantPanic runs f on a fresh arena with two blocks of 100 bytes, one of them already freed.
func wantPanic(t *testing.T, what string, f func(a *Arena, live, freed Ref)) {
	t.Helper()
	a := New()
	live, freed := a.Alloc(100, Keys), a.Alloc(100, Keys)
	a.Free(freed, 100, Keys)
	defer func() {
		if e, _ := recover().(string); !strings.Contains(e, what) {
			t.Errorf("panicked with %q, want %q", e, what)
		}
	}()
	f(a, live, freed)
}

func TestMisusePanics(t *testing.T) {
	wantPanic(t, "double free", func(a *Arena, _, freed Ref) { a.Free(freed, 100, Keys) })
	wantPanic(t, "stale Ref", func(a *Arena, _, freed Ref) { a.Bytes(freed, 100) })
	wantPanic(t, "stale Ref", func(a *Arena, _, freed Ref) { a.From(freed) })
	wantPanic(t, "stale Ref", func(a *Arena, _, freed Ref) { a.Resize(freed, 100, 50, Keys) })
	wantPanic(t, "has size 100", func(a *Arena, live, _ Ref) { a.Free(live, 99, Keys) })
	wantPanic(t, "purpose", func(a *Arena, live, _ Ref) { a.Free(live, 100, Values) })
	wantPanic(t, "access to 101 bytes", func(a *Arena, live, _ Ref) { a.Bytes(live, 101) })
	wantPanic(t, "canary", func(a *Arena, live, _ Ref) {
		a.raw(live, 101)[100]++
		a.Free(live, 100, Keys)
	})
	wantPanic(t, "after it was freed", func(a *Arena, _, freed Ref) {
		a.raw(freed, 100)[50]++
		a.Alloc(100, Keys)
	})
	wantPanic(t, "never freed", func(a *Arena, _, _ Ref) { a.Close() })
	wantPanic(t, "stale Ref", func(a *Arena, _, _ Ref) {
		big := a.Alloc(1<<20, Values)
		a.Free(big, 1<<20, Values)
		a.Bytes(big, 1)
	})
}

func TestFreshAndFreedMemoryIsPoisoned(t *testing.T) {
	a := New()
	r := a.Alloc(64, Keys)
	if b := a.Bytes(r, 64); b[0] != freshByte || b[63] != freshByte {
		t.Errorf("fresh block holds %x", b)
	}
	b := a.raw(r, 64)
	a.Free(r, 64, Keys)
	if b[5] != poisonByte || b[63] != poisonByte {
		t.Errorf("freed block holds %x", b)
	}
	a.Close()
}
