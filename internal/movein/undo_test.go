package movein

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
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
