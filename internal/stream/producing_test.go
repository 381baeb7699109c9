package stream

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
)

// TestExpireRecords lets the records of many streams go by time alone, and some streams before it.
func TestExpireRecords(t *testing.T) {
	sh := &Shared{A: arena.New()}
	var streams []*Stream
	for i := range 50 {
		s := New(sh)
		s.UseIDMP(10, 100)
		for j := range 5 {
			s.Note([]byte{'p', byte(j % 2)}, strconv.AppendInt(nil, int64(j), 10),
				ID{Ms: uint64(1000*i + j)}, 0)
		}
		streams = append(streams, s)
	}
	require.Equal(t, 50, sh.Producing())
	for _, s := range streams[:10] {
		for !s.Drain(100) {
		}
	}
	require.Equal(t, 40, sh.Producing())
	const now = 30_000 + 10_000 + 2 // what was added up to 30-2 counts no more
	sh.ExpireRecords(now, 7)
	require.Greater(t, sh.Producing(), 19, "a call looks at no more streams than it is told")
	for range 80 {
		sh.ExpireRecords(now, 3)
	}
	require.Equal(t, 20, sh.Producing())
	_, left := streams[30].Tracked()
	require.Equal(t, 2, left)
	_, ok := streams[30].Lookup([]byte{'p', 0}, []byte("2"), now)
	require.False(t, ok)
	_, ok = streams[30].Lookup([]byte{'p', 1}, []byte("3"), now)
	require.True(t, ok)
	for _, s := range streams[10:] {
		for !s.Drain(100) {
		}
	}
	require.Zero(t, sh.Producing())
	require.Zero(t, sh.A.Used())
}
