package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
)

// TestPauseHides checks what time may do to keys during a pause, a timeless command, a load, and
// two of them at once, and afterwards.
func TestPauseHides(t *testing.T) {
	f := newFixture(t, "")
	f.e.Pause(PauseByClient, f.e.Steady()+1000, false)
	require.Equal(t, keyspace.ExpireHide, f.e.KS.ExpireMode())

	f.c.Origin = OriginMaster
	f.expect(f.c, "plain", "+OK")
	require.Equal(t, keyspace.ExpireHide, f.e.KS.ExpireMode(), "after a timeless command")
	f.passTo(f.e.pause.until) // it ends as the next command begins
	f.expect(f.c, "plain", "+OK")
	require.Equal(t, keyspace.ExpireDelete, f.e.KS.ExpireMode(), "after both")

	f.e.inTimeless = true
	f.e.KS.SetExpireMode(keyspace.ExpireIgnore)
	f.e.Pause(PauseByClient, f.e.Steady()+1000, false)
	require.Equal(t, keyspace.ExpireIgnore, f.e.KS.ExpireMode(), "paused by a timeless command")
	f.e.inTimeless = false

	f.e.Unpause(PauseByClient)
	f.e.configureExpire()
	f.e.BeginLoading(0)
	f.e.Pause(PauseByClient, f.e.Steady()+1000, false)
	require.Equal(t, keyspace.ExpireIgnore, f.e.KS.ExpireMode(), "paused during a load")
	f.e.EndLoading()
	require.Equal(t, keyspace.ExpireHide, f.e.KS.ExpireMode(), "after the load")
	f.e.Unpause(PauseByClient)
	require.Equal(t, keyspace.ExpireDelete, f.e.KS.ExpireMode())
}

// TestPauseEndsBeforeMemory checks that the first write after the pause is held against maxmemory,
// even if nothing else has noticed that the time is up.
func TestPauseEndsBeforeMemory(t *testing.T) {
	f := newFixture(t, "")
	f.e.KS.P.MaxMemory = 1
	f.expect(f.c, "write k", "-"+ErrOOM)
	f.e.Pause(PauseByClient, f.e.Steady()+1000, false)
	f.expect(f.c, "write k", "(postponed)")
	f.passTo(f.e.pause.until)
	f.expect(f.client(nil), "write k", "-"+ErrOOM)
}
