package movein

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
)

// TestUndo has the source take writes again only after the target's masters have been told to end
// what they follow by this run: another one might hand the slots over otherwise.
func TestUndo(t *testing.T) {
	f := world()
	m := newMover(Options{Dial: f.dial, Out: io.Discard})
	source, master := m.from.node("a:1"), m.to.node("x:1")
	m.pairs = []*pair{{from: source, to: master, follows: true}}
	m.fences = []*fence{{node: source, least: "1", lag: "10", raised: true}}
	require.ErrorContains(t, m.undo(), "the source goes on refusing writes")
	require.True(t, m.fences[0].raised)

	f["x:1"]["CLUSTER FOLLOW NO ONE"], f["x:1"]["FLUSHALL"] = "OK", "OK"
	f["x:1"]["FUNCTION FLUSH"] = "OK"
	f["a:1"]["CONFIG SET min-replicas-to-write 1"] = "OK"
	require.NoError(t, m.undo())
	require.False(t, m.fences[0].raised)
	m.from.close()
	m.to.close()
}

// TestTakenIsNotUndone has the target's masters be out of reach once they have the slots. They may
// have taken writes, so the move must not be undone.
func TestTakenIsNotUndone(t *testing.T) {
	f := world()
	var said strings.Builder
	m := newMover(Options{Dial: f.dial, Out: &said})
	all := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
	m.pairs = []*pair{{from: m.from.node("a:1"), to: m.to.node("x:1"), slots: all, follows: true}}
	f["x:1"]["CLUSTER FOLLOW NO ONE"] = "OK"
	require.Error(t, m.take(time.Now()), "it is not known whether the target has them")
	f["x:1"]["CLUSTER ADDSLOTSRANGE 0 16383"] = "OK"
	delete(f["x:1"], "CLUSTER INFO")
	require.NoError(t, m.take(time.Now()))
	require.Contains(t, said.String(), "does not serve yet")
	m.from.close()
	m.to.close()
}
