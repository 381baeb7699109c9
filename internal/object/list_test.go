package object

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// noTable is the Slot of an entry that is in no table.
type noTable struct{}

func (noTable) Moved(arena.Ref, arena.Ref) {}
func (noTable) Changing(Entry)             {}

func newList(t *testing.T, lim Limits) Elements {
	a := arena.New()
	h := NewHeap(a, maphash.MakeSeed(), rand.New(rand.NewPCG(1, 2)), &lim)
	x := new(Edit)
	v := PackedValue(a, List, EncListpack, listpack.Empty())
	x.Reset(h, Build(a, []byte("key"), &v, Meta{}), noTable{})
	t.Cleanup(func() {
		o := h.Take(x.E)
		o.Free(h)
		x.E.FreeBlock(a)
		if !t.Failed() {
			require.Zero(t, a.Used())
			a.Close()
		}
	})
	return AsList(x)
}

func add(l Elements, b []byte, head bool) {
	l.MakeRoomFor(b)
	l.Push(b, head)
}

func TestListModel(t *testing.T) {
	seed := testseed.New(t)
	for _, lim := range []Limits{{ListMaxListpackSize: 4},
		{ListMaxListpackSize: 12, ListCompressDepth: 1}, {ListMaxListpackSize: -1},
		{ListMaxListpackSize: -5}} {
		rng := rand.New(rand.NewPCG(seed, uint64(lim.ListMaxListpackSize)))
		l := newList(t, lim)
		var want [][]byte
		encodings := map[Encoding]bool{}
		for range 3000 {
			want = listStep(t, l, want, rng)
			require.Equal(t, len(want), l.Len())
			encodings[l.Base()] = true
			checkList(t, l, want, rng.IntN(2) == 0)
		}
		require.Equal(t, lim.ListMaxListpackSize != -5, encodings[EncQuicklist], "limit %d",
			lim.ListMaxListpackSize)
		require.True(t, encodings[EncListpack])
	}
}

// listStep changes list and model in the same way.
func listStep(t *testing.T, l Elements, want [][]byte, rng *rand.Rand) [][]byte {
	b := bytes.Repeat([]byte{byte('a' + rng.IntN(3))}, rng.IntN(400))
	if rng.IntN(2) == 0 {
		b = strconv.AppendInt(nil, rng.Int64(), 10)
	}
	op, n := rng.IntN(15)-6, len(want)
	if op < 3 && n < 60 || n == 0 {
		if rng.IntN(2) == 0 {
			add(l, b, true)
			return slices.Insert(want, 0, b)
		}
		add(l, b, false)
		return append(want, b)
	}
	i := rng.IntN(n)
	it := l.Iter(i, false)
	switch op {
	case 3:
		v := l.Pop(true)
		require.True(t, v.Equal(want[0]))
		want = want[1:]
	case 4:
		v := l.Pop(false)
		require.True(t, v.Equal(want[n-1]))
		want = want[:n-1]
	case 5:
		k := rng.IntN(6)
		if rng.IntN(10) == 0 {
			k = n
		}
		l.DeleteRange(i, k)
		want = slices.Delete(want, i, min(i+k, n))
	case 6:
		l.MakeRoomFor(b)
		it = l.Iter(i, true)
		_, _ = it.Next()
		l.Replace(&it, b)
		want[i] = b
	case 7:
		l.MakeRoomFor(b)
		it = l.Iter(i, true)
		_, _ = it.Next()
		l.Insert(&it, b, true)
		return slices.Insert(want, i+1, b)
	default:
		for range 3 {
			if _, ok := it.Next(); ok {
				l.Delete(&it)
				want = slices.Delete(want, i, i+1)
			}
		}
		it.Close()
	}
	if len(want) > 0 {
		l.Shrunk()
	}
	return want
}

func checkList(t *testing.T, l Elements, want [][]byte, reverse bool) {
	if q := l.Quicklist(); q != nil {
		require.NoError(t, q.Check())
	} else {
		require.NoError(t, listpack.Validate(l.Bytes()))
	}
	i, step := 0, 1
	if reverse {
		i, step = len(want)-1, -1
	}
	it := l.Iter(i, reverse)
	for range want {
		v, ok := it.Next()
		require.True(t, ok)
		require.True(t, v.Equal(want[i]), "element %d: %q, want %q", i, v.Append(nil), want[i])
		i += step
	}
	_, ok := it.Next()
	require.False(t, ok)
	if len(want) > 0 {
		v, ok := l.At(-1)
		require.True(t, ok)
		require.True(t, v.Equal(want[len(want)-1]))
		v, _ = l.At(-len(want))
		require.True(t, v.Equal(want[0]))
	}
	_, ok = l.At(len(want))
	require.False(t, ok)
	_, ok = l.At(-len(want) - 1)
	require.False(t, ok)
}

// TestListConversions checks at which sizes a list becomes a quicklist, and a listpack again.
func TestListConversions(t *testing.T) {
	l := newList(t, Limits{ListMaxListpackSize: -1})
	big := bytes.Repeat([]byte("x"), 2000)
	add(l, big, true)
	add(l, big, true)
	require.Equal(t, EncListpack, l.Base())
	l.MakeRoom(0, 1) // an integer
	require.Equal(t, EncListpack, l.Base())
	l.MakeRoom(80, 1) // 4013 bytes and 80 are still below 4096
	require.Equal(t, EncListpack, l.Base())
	l.MakeRoom(90, 1)
	require.Equal(t, EncQuicklist, l.Base())
	l.Shrunk()
	require.Equal(t, EncQuicklist, l.Base(), "it has to be half as much")
	require.True(t, func() bool { v := l.Pop(true); return v.Equal(big) }())
	l.Shrunk()
	require.Equal(t, EncListpack, l.Base())
	checkList(t, l, [][]byte{big}, false)
}

func TestListClone(t *testing.T) {
	l := newList(t, Limits{ListMaxListpackSize: 2, ListCompressDepth: 1})
	var want [][]byte
	for i := range 20 {
		want = append(want, bytes.Repeat([]byte{byte('a' + i)}, 100))
		add(l, want[i], false)
	}
	c := l.Large().Clone(l.H)
	l.Drop(true)
	require.Equal(t, 20, c.Len())
	y := new(Edit)
	y.Reset(l.H, Build(l.H.A, []byte("copy"), &Value{Type: List, Enc: EncQuicklist, H: l.H.add(c)},
		Meta{}), noTable{})
	checkList(t, AsList(y), want, false)
	checkList(t, l, want[1:], true)
	l.H.Take(y.E).Free(l.H)
	y.E.FreeBlock(l.H.A)
}
