package persist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
	"godwit/internal/persist"
)

// stuck is a Dest that writes nothing until it is let go.
type stuck struct {
	memory
	gate chan struct{}
}

func (d *stuck) Write(p []byte) error { <-d.gate; return d.memory.Write(p) }
func (d *stuck) WriteString(f *object.FrozenString) error {
	<-d.gate
	return d.memory.WriteString(f)
}

// TestEvictionOfFrozenStrings checks that evicting a string that a snapshot has not written yet
// frees nothing at once, that no more keys are evicted for that, and that INFO says what is not
// counted.
func TestEvictionOfFrozenStrings(t *testing.T) {
	const size, keys = 2 << 20, 24
	s := newServer(t)
	s.c = s.e.NewClient(nil)
	value := strings.Repeat("v", size)
	for i := range keys {
		s.do("SET", fmt.Sprint("key:", i), value)
	}
	limit := s.e.UsedMemory()
	s.do("CONFIG", "SET", "maxmemory", limit, "maxmemory-policy", "allkeys-random")
	dest := &stuck{gate: make(chan struct{})}
	sn := persist.Start(s.e.KS, persist.NewCommandFormat(s.e.KS.Heap, 0),
		persist.NewQueue(dest, nil), persist.Options{})
	for i := range 8 {
		s.do("SET", fmt.Sprint("new:", i), value)
	}
	require.GreaterOrEqual(t, s.e.KS.DB(0).Len(), keys-2, "evicted more than came")
	kept := s.e.KS.Heap.FrozenBytes()
	require.GreaterOrEqual(t, kept, int64(size))
	require.Greater(t, s.e.UsedMemory(), limit+kept-2*size, "what is kept is memory in use")
	info := s.do("INFO", "memory") // which may evict a key itself
	kept = s.e.KS.Heap.FrozenBytes()
	require.Contains(t, info, fmt.Sprintf("mem_not_counted_for_evict:%d\r\n", kept))
	close(dest.gate)
	require.NoError(t, sn.Run())
	require.Zero(t, s.e.KS.Heap.FrozenBytes())
	require.LessOrEqual(t, s.e.UsedMemory(), limit+size)
	back := newServer(t)
	back.replay(dest.b)
	require.Equal(t, keys, back.e.KS.DB(0).Len())
}
