package cuckoo

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChunks hands a filter over in chunks, from the header to the last.
func TestChunks(t *testing.T) {
	f := newFilter(t, 64, 2, 20, 2)
	for i := range 1000 {
		f.Insert(item(i))
	}
	head := make([]byte, HeadSize)
	f.PutHead(head)
	g, n := ParseHead(head)
	require.EqualValues(t, f.Mem.Blocks(), n)
	require.True(t, g.Valid(n))
	g.Mem = &memory{}
	for range n {
		require.True(t, g.Grow())
	}
	total, ok := f.TotalBytes(n)
	require.True(t, ok)
	for pos := int64(1); ; {
		chunk, next := f.Chunk(pos)
		if chunk == nil {
			require.Equal(t, total+1, pos)
			break
		}
		require.True(t, g.LoadChunk(next, chunk))
		pos = next
	}
	require.Equal(t, f.Mem, g.Mem)
	for _, pos := range []int64{-1 << 63, -1, 0, 1, total + 2, 1<<63 - 1} {
		require.False(t, g.LoadChunk(pos, []byte("xx")), "%d", pos)
	}
	require.False(t, g.LoadChunk(5, nil))
	require.False(t, g.LoadChunk(66, []byte("xx")), "across two sub-filters")
}

func FuzzHead(f *testing.F) {
	head := make([]byte, HeadSize)
	filter := newFilter(f, 64, 2, 20, 2)
	filter.PutHead(head)
	f.Add(head, int64(3), []byte("ab"))
	f.Add(bytes.Repeat([]byte{0xff}, HeadSize), int64(1), []byte("a"))
	f.Fuzz(func(t *testing.T, head []byte, pos int64, chunk []byte) {
		if len(head) != HeadSize {
			return
		}
		g, n := ParseHead(head)
		total, ok := g.TotalBytes(min(n, MaxFilters))
		if !g.Valid(n) || !ok || total > 1<<20 {
			return
		}
		g.Mem, g.Limit = &memory{}, limit(1<<20)
		for range n {
			require.True(t, g.Grow())
		}
		g.LoadChunk(pos, chunk)
		if pos > 0 {
			g.Chunk(pos)
		}
		for i := range 30 {
			g.Insert(item(i))
			g.Delete(item(i / 2))
		}
		g.Compact()
		again := make([]byte, HeadSize)
		g.PutHead(again)
	})
}
