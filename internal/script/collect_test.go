package script

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

// TestCollectGarbage checks that Go's collector runs when there may be much garbage.
func TestCollectGarbage(t *testing.T) {
	s := NewState(nobody{}, func(*State) *lua.Table { return lua.NewTable(0, 0) })
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	for range 16 {
		garbage = make([]byte, 1<<20)
	}
	s.collectGarbage(8 << 20)
	objects, live := heapBytes()
	require.Less(t, int(objects)-int(live), 8<<20)
}

var garbage []byte
