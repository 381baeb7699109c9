package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// TestCompactLongNames deletes entries of a block whose shapes cannot all have numbers once it is
// packed: a file can bring names that are longer than a block.
func TestCompactLongNames(t *testing.T) {
	lp := listpack.Begin(nil)
	n := 0
	add := func(values ...any) {
		for _, v := range values {
			switch v := v.(type) {
			case int:
				lp = listpack.AppendEntry(lp, listpack.Int(int64(v)))
			case string:
				lp = listpack.AppendEntry(lp, listpack.Str([]byte(v)))
			}
			n++
		}
	}
	add(4, 0, 1, strings.Repeat("m", 200<<10), 0) // the node's head
	add(2, 0, 1, "v", 4)                          // an entry with its name
	add(2, 0, 2, "v", 4)
	add(0, 0, 3, 1, strings.Repeat("o", 70<<10), "v", 6) // one with a name of its own
	add(2, 0, 4, "v", 4)
	lp = listpack.Seal(lp, 0, n)

	b := NewBuilder(Limits{NodeBytes: 4096, NodeEntries: 100})
	require.NoError(t, b.Listpack(ID{}, lp))
	b.Meta(&Meta{LastID: ID{0, 9}, Added: 4})
	require.NoError(t, b.Finish())
	s := b.Build(&Shared{A: arena.New()})
	for left := 4; left > 0; left-- {
		require.NoError(t, s.Check())
		require.Equal(t, left, s.Len())
		require.Len(t, entriesOf(s.Range(ID{}, MaxID, false)), left)
		require.True(t, s.Delete(ID{0, uint64(5 - left)}))
	}
}

// TestCompactInVain deletes nearly all entries of a long block that has no other form: the names of
// most are those of its first entry, and an entry with names of its own stays, which would come to
// be before them. What is tried in vain is tried a few times only.
func TestCompactInVain(t *testing.T) {
	const half = 2000
	var w nodeWriter
	w.lp = listpack.Begin(nil)
	for _, n := range []int64{2*half + 1, 0, 1} {
		w.int(n)
	}
	w.value(listpack.Str([]byte(strings.Repeat("m", 200<<10))))
	w.int(0)
	for i := range int64(2*half + 1) {
		if i == half {
			for _, n := range []int64{0, 0, i, 1} {
				w.int(n)
			}
			w.value(listpack.Str([]byte(strings.Repeat("o", 70<<10))))
			w.int(7)
			w.int(6)
			continue
		}
		for _, n := range []int64{nodeSame, 0, i, 7, 4} {
			w.int(n)
		}
	}
	b := NewBuilder(Limits{})
	require.NoError(t, b.Listpack(ID{1, 1}, listpack.Seal(w.lp, 0, w.n)))
	require.NoError(t, b.Finish())
	s := b.Build(&Shared{A: arena.New()})
	require.Equal(t, 1, s.Nodes())
	packed := 0
	for i := range uint64(2 * half) {
		if i == half {
			continue
		}
		s.sh.pack.b = nil
		require.True(t, s.Delete(ID{1, 1 + i}))
		if s.sh.pack.b != nil {
			packed++
		}
	}
	require.NoError(t, s.Check())
	require.Equal(t, 2, s.Len())
	require.Positive(t, packed)
	require.LessOrEqual(t, packed, 8)
}

// takeBack deletes some of the last entries and sets LastID back to the one before, as XSETID may.
// What is added next has IDs below those of entries that were deleted.
func (m *entryModel) takeBack() {
	for range m.rng.IntN(4) {
		if len(m.m) > 0 {
			m.del(m.m[len(m.m)-1].id)
		}
	}
	if len(m.m) > 0 {
		m.last = m.m[len(m.m)-1].id
		m.s.LastID = m.last
	}
}

// TestSpareRoom deletes a large entry. The block that begins behind it must not be as large.
func TestSpareRoom(t *testing.T) {
	s := New(&Shared{A: arena.New()})
	large := make([]byte, 10<<20)
	s.Append(ID{1, 1}, [][]byte{[]byte("f"), large}, Limits{4096, 100})
	s.Append(ID{1, 2}, [][]byte{[]byte("f"), []byte("v")}, Limits{4096, 100})
	require.True(t, s.Delete(ID{1, 1}))
	require.Less(t, s.Bytes(), int64(10<<10))
}
