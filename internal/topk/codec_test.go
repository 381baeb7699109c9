package topk

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// reload makes a list from what files have of l.
func reload(t testing.TB, l *List) *List {
	t.Helper()
	items := make([][]byte, l.K)
	for i := range items {
		items[i] = l.Entry(uint32(i))
	}
	head, err := LoadHead(l.K, l.Width, l.Depth, l.Decay, l.RedisHeap(), items)
	require.NoError(t, err)
	return Open(&memory{head: head, buckets: append([]byte(nil), l.mem.Block(0)...)})
}

// TestReload checks that a list read from a file goes on as if there had been no file, chance
// included.
func TestReload(t *testing.T) {
	rng := testseed.Rand(t)
	for range 20 {
		l := newList(t, uint32(1+rng.IntN(30)), 5, 3, 0.9)
		for range 30 {
			for range rng.IntN(100) {
				add(l, fmt.Sprint(rng.IntN(80)), uint32(rng.IntN(30)))
			}
			again := reload(t, l)
			check(t, again)
			require.Equal(t, l.AppendState(nil), again.AppendState(nil))
			l = again
		}
	}
}

// TestLoadForeign loads what RedisBloom writes: not always a heap, and maybe with an item twice.
func TestLoadForeign(t *testing.T) {
	heap := make([]byte, 4*EntrySize)
	for i, count := range []uint32{9, 3, 7, 0} {
		binary.LittleEndian.PutUint32(heap[i*EntrySize+16:], count)
		binary.LittleEndian.PutUint64(heap[i*EntrySize+8:], math.MaxUint64) // a pointer
	}
	items := [][]byte{[]byte("a"), []byte("b"), []byte("a"), []byte("gone")}
	head, err := LoadHead(4, 8, 7, 0.9, heap, items)
	require.NoError(t, err)
	l := Open(&memory{head: head, buckets: make([]byte, 8*7*BucketSize)})
	check(t, l)
	require.Equal(t, []string{"a9", "b3"}, names(l))
	for i := range 100 {
		add(l, fmt.Sprint(i%9), 2)
	}
	check(t, l)
}

func FuzzLoadHead(f *testing.F) {
	l := newList(f, 3, 4, 2, 0.9)
	for _, s := range []string{"a", "b", "c", "d", "a"} {
		add(l, s, 3)
	}
	f.Add(uint32(3), uint32(4), uint32(2), 0.9, l.RedisHeap(), l.Entry(0), l.Entry(1))
	f.Add(uint32(1), uint32(1), uint32(1), 1.0, make([]byte, EntrySize), []byte(nil), []byte("x"))
	f.Fuzz(func(t *testing.T, k, width, depth uint32, decay float64, heap, a, b []byte) {
		if k > 1000 {
			return
		}
		items := make([][]byte, k)
		for i := range items {
			items[i] = [][]byte{a, b}[i%2]
			if i > 1 {
				items[i] = fmt.Append(nil, i, string(items[i]))
			}
		}
		head, err := LoadHead(k, width, depth, decay, heap, items)
		if err != nil {
			return
		}
		_, size, ok := Sizes(k, width, depth)
		if !ok || size > 1<<16 {
			return
		}
		l := Open(&memory{head: head, buckets: make([]byte, size)})
		check(t, l)
		for _, item := range [][]byte{a, b, heap} {
			l.Add(item, 7, nil)
			check(t, l)
		}
	})
}
