package script

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

// TestCollectGarbage checks when Go's collector is made to run.
func TestCollectGarbage(t *testing.T) {
	s := NewState(nobody{}, func(*State) *lua.Table { return lua.NewTable(0, 0) })
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	forced := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := forced()
	s.collectGarbage(8 << 20)
	require.Equal(t, before, forced())
	for range 16 {
		garbage = make([]byte, 1<<20)
	}
	s.collectGarbage(8 << 20)
	require.Equal(t, before+1, forced())
	s.collectGarbage(8 << 20)
	require.Equal(t, before+1, forced())
}

var garbage []byte
