package engine_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
)

// defrag runs the cron once, and the whole round of defragmentation if the cron begins one. It
// reports whether it did.
func (s *session) defrag() (round bool) {
	s.e.Enter()
	defer s.e.Leave()
	s.e.Cron()
	for s.e.Defragging() > 0 {
		round = true
		s.e.PassTime(10 * time.Millisecond)
		s.e.Slice()
	}
	for s.e.Slice() {
	}
	return round
}

// TestDefragAfterFlush checks that a round that moved nothing does not put off the keys that come
// after FLUSHALL.
func TestDefragAfterFlush(t *testing.T) {
	s := newSession(t, func(cfg *config.Config) { cfg.ActiveDefragIgnoreBytes = 1 << 20 })
	fill := func(keys int, value string) {
		for i := range keys {
			s.ok("set", "key:"+strconv.Itoa(i), value)
		}
	}
	const dense = 40_000
	fill(dense, strings.Repeat("x", 1000))
	for i := 0; i < dense; i += 8 {
		s.raw("del", "key:"+strconv.Itoa(i))
	}
	require.True(t, s.defrag())
	vain := s.e.KS.A.Fragmentation()
	require.False(t, s.defrag(), "the round was in vain")

	s.ok("flushall", "sync")
	s.defrag() // until all is freed
	const sparse = 100_000
	fill(sparse, "x")
	for i := range sparse {
		if i%30 != 0 {
			s.raw("del", "key:"+strconv.Itoa(i))
		}
	}
	fragmented := s.e.KS.A.Fragmentation()
	require.Less(t, fragmented, vain)
	require.True(t, s.defrag())
	require.Less(t, s.e.KS.A.Fragmentation(), fragmented/2)
}
