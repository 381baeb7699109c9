package command

import (
	"strings"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/propagation"
)

// TestStreamAllocations checks that adding and reading entries allocates nothing, with a target
// that is sent what changes.
func TestStreamAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	l := newLocal(t)
	l.e.Feed.Attach(propagation.Log, &quietTarget{})
	for _, command := range []string{
		"XADD s * temp 21.5 hum 40 pres 1013",
		"XADD s MAXLEN ~ 100 * temp 21.5",
		"XADD s MINID ~ 1-1 * temp 21.5",
		"XADD i IDMPAUTO p MAXLEN = 3 * temp 21.5",
		"XADD i IDMP p 1 MAXLEN = 3 * temp 21.5",
		"XRANGE s - + COUNT 100",
		"XREVRANGE s + - COUNT 100",
		"XDEL s 1-1 2-2",
		"XDELEX s ACKED IDS 2 1-1 2-2",
		"XTRIM s MAXLEN ~ 1000",
		"XINFO STREAM s",
	} {
		argv := argvOf(strings.Fields(command)...)
		run := func() {
			l.c.W.Reset()
			l.e.Exec(l.c, argv)
		}
		for range 1000 {
			run()
		}
		if n := testing.AllocsPerRun(500, run); n != 0 {
			t.Errorf("%s: %v allocations, reply %.80q", command, n, l.c.W.Buf)
		}
	}
}
