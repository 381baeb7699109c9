package stream

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/testseed"
)

// TestDefragGroups moves the blocks of groups, and walks and changes them as before.
func TestDefragGroups(t *testing.T) {
	l := newGroupLife(t, testseed.Rand(t))
	for range 1500 {
		l.step()
	}
	g := l.s.Groups()[0]
	it := g.Range(ID{}, MaxID)
	it.Next()
	first := it.ID
	a := l.s.sh.A
	drain := a.NewDrain()
	for !drain.Survey(8) {
	}
	drain.ChooseAll()
	for !drain.Mark(8) {
	}
	moved := a.Moves
	for cursor, left := uint64(0), 0; ; {
		cursor, left = l.s.defragGroups(cursor, 1+l.rng.IntN(30))
		require.GreaterOrEqual(t, left, 0)
		if cursor == 0 {
			break
		}
	}
	require.NotEqual(t, moved, a.Moves)
	drain.Rewind()
	for done := false; !done; {
		_, done = drain.End(8)
	}
	for n := 1; n < g.Pending(); n++ {
		require.True(t, it.Next())
		require.True(t, first.Less(it.ID))
	}
	require.False(t, it.Next())
	l.check(l.s)
	l.end()
}

// TestGroupsDoNotAllocate sets, reads and acknowledges entries without anything of Go's heap.
func TestGroupsDoNotAllocate(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the arena's records of blocks allocate")
	}
	s := New(&Shared{A: arena.New()})
	g := s.CreateGroup([]byte("g"), ID{}, 0)
	c, d := g.CreateConsumer([]byte("c"), 0), g.CreateConsumer([]byte("d"), 0)
	for i := range uint64(1000) {
		g.Set(Pending{ID{i, 1}, c, int64(i), 1})
	}
	i := uint64(1000)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		g.Set(Pending{ID{i, 1}, c, int64(i), 1})
		g.Set(Pending{ID{i - 500, 1}, d, int64(i), 1})
		g.Nack(ID{i - 600, 1}, 1)
		g.Oldest()
		g.Find(ID{i - 500, 1})
		g.Bounds()
		it := g.Range(ID{i - 100, 0}, MaxID)
		it.Next()
		it = g.Owned(d, ID{i - 100, 0}, MaxID)
		it.Next()
		g.Ack(ID{i - 900, 1})
		g.Ack(ID{i - 500, 1})
		i++
	}))
	long := bytes.Repeat([]byte("name"), 100)
	s.CreateGroup(long, ID{}, 0).CreateConsumer(long, 0)
	require.Zero(t, testing.AllocsPerRun(1000, func() { s.Group(long).Consumer(long) }))
	empty := s.CreateGroup([]byte("empty"), ID{}, 0)
	e := empty.CreateConsumer([]byte("e"), 0)
	empty.Set(Pending{ID{1, 1}, e, 1, 1})
	empty.Ack(ID{1, 1})
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		empty.Set(Pending{ID{i, 1}, e, 1, 1})
		empty.Ack(ID{i, 1})
		i++
	}), "the last entry that goes")
	for !s.Drain(100) {
	}
	require.Zero(t, s.sh.A.Used())
}

// TestGoBytes holds the sizes that are counted against those of the structs.
func TestGoBytes(t *testing.T) {
	for _, c := range []struct {
		counted int
		v       any
	}{
		{groupGoBytes, Group{}}, {consumerGoBytes, Consumer{}}, {rowsGoBytes, rows{}},
		{idmpGoBytes, idmp{}}, {heldGoBytes, held{}},
		{producerGoBytes, producer{}}, {recordGoBytes, Record{}},
	} {
		size := int(reflect.TypeOf(c.v).Size())
		require.GreaterOrEqual(t, c.counted, size, "%T", c.v)
		require.LessOrEqual(t, c.counted, size+size/8, "%T", c.v)
	}
}
