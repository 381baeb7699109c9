package engine

import (
	"strings"
	"testing"

	"godwit/internal/propagation/propagationtest"
	"godwit/internal/spec"
)

// TestPropagateEach sends commands in place of the one that runs, by itself, in a transaction, and
// for a client that then waits.
func TestPropagateEach(t *testing.T) {
	each := func(c *Ctx) {
		c.NoPropagate()
		for _, word := range c.Args[1:] {
			c.PropagateEach([]byte("did"), word)
		}
		c.Dirty(1)
	}
	f := newFixture(t, "", entry("each", -1, spec.Write, func(c *Ctx) {
		each(c)
		c.OK()
	}), entry("begin", -2, spec.Write|spec.Blocking, func(c *Ctx) {
		if !c.rerun {
			each(c)
		}
		testWait(c, c.Args[1:2], 0)
	}))
	s := propagationtest.Attach(&f.e.Feed)
	for _, step := range []struct{ line, want string }{
		{"each a", "0 did a"},
		{"each a b", "0 did a | 0 did b"},
		{"each", ""},
		{"multi", ""}, {"each a b", ""}, {"plain", ""}, {"each c", ""},
		{"exec", "0 did a | 0 did b | 0 did c"},
		{"begin a 0", "0 did a | 0 did 0"},
	} {
		before := len(s.Units())
		f.run(f.c, step.line)
		if got := strings.Join(s.Units()[before:], "; "); got != step.want {
			t.Errorf("%s: propagated %s, want %s", step.line, got, step.want)
		}
		if f.e.Feed.InUnit() {
			t.Fatalf("%s: a unit is open", step.line)
		}
	}
	f.e.Forget(f.c)
}
