package stream

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// longBlock returns a stream of one block, which a builder has made of a node with a long name.
func longBlock(t *testing.T, entries int64) *Stream {
	var w nodeWriter
	w.lp = listpack.Begin(nil)
	w.int(entries)
	w.int(0)
	w.int(1)
	w.value(listpack.Str([]byte(strings.Repeat("n", 500_000))))
	w.int(0)
	for i := range entries {
		for _, n := range []int64{nodeSame, i, 0, 7, 4} {
			w.int(n)
		}
	}
	b := NewBuilder(Limits{})
	require.NoError(t, b.Listpack(ID{1, 0}, listpack.Seal(w.lp, 0, w.n)))
	require.NoError(t, b.Finish())
	sh := &Shared{A: arena.New()}
	t.Cleanup(sh.A.Close)
	s := b.Build(sh)
	t.Cleanup(func() { s.Drain(1 << 62) })
	require.Equal(t, 1, s.Nodes())
	return s
}

// TestLongReverse walks a block in reverse that has far more entries than an ordinary one. Its
// marks are as close together as those of the largest ordinary block.
func TestLongReverse(t *testing.T) {
	const entries = 50_000
	s := longBlock(t, entries)
	for _, reach := range []uint64{entries, entries / 3, 17} {
		ids := func(reverse bool) (list []ID) {
			for it := s.Range(ID{5, 0}, ID{reach, 0}, reverse); it.Next(); {
				list = append(list, it.ID)
			}
			return list
		}
		back := ids(true)
		slices.Reverse(back)
		require.Equal(t, ids(false), back)
		it := s.Range(ID{}, ID{reach, 0}, true)
		require.True(t, it.Next())
		require.GreaterOrEqual(t, it.back.marked, int(reach)/(maxNodeEntries/maxMarks))
	}
}

// TestNodeNames writes a block as a node. It is not much longer, even if the first entry's names
// are not those that the others have.
func TestNodeNames(t *testing.T) {
	sh := &Shared{A: arena.New()}
	defer sh.A.Close()
	s := New(sh)
	defer s.Drain(1 << 62)
	name := []byte(strings.Repeat("n", 30_000))
	for i := range 4000 {
		fields := [][]byte{name, []byte("1")}
		if i%1000 == 0 {
			fields[0] = []byte("a")
		}
		s.Append(ID{uint64(i + 1), 0}, fields, Limits{})
	}
	require.Equal(t, 1, s.Nodes())
	s.EachPart(func(p *Part) bool {
		if p.Kind == PartEntries {
			lp, master := p.AppendListpack(nil)
			require.Equal(t, ID{1, 0}, master)
			require.Less(t, len(lp), 4*len(p.block))
			require.Len(t, partEntries(t, p), 4000)
		}
		return true
	})
}

// TestMergeShapes merges nodes that have more shapes together than a block has numbers for: as many
// of them as have a place become one block.
func TestMergeShapes(t *testing.T) {
	b := NewBuilder(Limits{})
	for i := range int64(100) {
		var w nodeWriter
		w.lp = listpack.Begin(nil)
		for _, n := range []int64{2, 0, 1, i, 0, nodeSame, 0, 0, 7, 4, nodeSame, 1, 0, 7, 4} {
			w.int(n)
		}
		lp := listpack.Seal(w.lp, 0, w.n)
		require.NoError(t, b.Listpack(ID{uint64(10 * (i + 1)), 0}, lp))
	}
	require.NoError(t, b.Finish())
	require.Len(t, b.blocks, (100+maxShapes-1)/maxShapes)
}
