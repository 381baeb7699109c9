package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/backlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/propagation"
)

// TestHandoffWithoutLag wants a migration to end though nothing may be on its way when the slots
// close: the mark that is acknowledged is no change.
func TestHandoffWithoutLag(t *testing.T) {
	f := newFixture(t, "cluster-slot-migration-handoff-max-lag-bytes 0")
	e := f.e
	x := &export{Migration: &topology.Migration{}, step: exportStreams, client: f.c,
		stream: backlog.New(e.Buffers, 0, exportKeep), bit: 1 << 7}
	e.Feed.Attach(x.bit, x.stream)
	defer e.Feed.Detach(x.bit)
	e.migrations.exports = []*export{x}
	defer func() { e.migrations.exports = nil }()
	write := func() { e.Feed.Send(x.bit, propagation.NoDB, [][]byte{[]byte("PING")}) }
	for _, late := range []bool{true, false} { // a change comes behind the mark
		write()
		end := x.streamEnd()
		x.markedAt -= markMs
		e.markExport(x)
		require.Greater(t, x.streamEnd(), end)
		if late {
			write()
		}
		require.True(t, e.SlotsApplied(f.c, end))
		require.Equal(t, late, x.step == exportStreams)
	}
}
