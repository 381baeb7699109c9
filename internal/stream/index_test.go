package stream

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// modelBlock is a block of the model: its first ID and what its eight bytes say.
type modelBlock struct {
	first ID
	value uint64
}

// TestIndex holds an index, and walks over it as it was frozen, against a sorted slice.
func TestIndex(t *testing.T) {
	rng := testseed.Rand(t)
	for range 15 {
		indexLife(t, rng)
	}
}

func indexLife(t *testing.T, rng *rand.Rand) {
	a := arena.New()
	sh := &Shared{A: a}
	x := &index{sh: sh}
	var model, frozen []modelBlock
	var given []modelBlock
	space := uint64(1 + rng.IntN(2000))
	for step := range 4000 {
		id := ID{rng.Uint64N(space), rng.Uint64N(3)}
		at, has := slices.BinarySearchFunc(model, id, func(m modelBlock, id ID) int {
			return m.first.Compare(id)
		})
		p, ok := x.find(id)
		require.Equal(t, has || at > 0, ok)
		switch op := rng.IntN(10); {
		case op < 5 && !has:
			v := rng.Uint64()
			d := x.alloc(id, 8)
			binary.LittleEndian.PutUint64(x.resize(&d, 8, 8), v)
			d.low = int64(v >> 1)
			got := x.insert(d)
			require.Equal(t, id, x.at(got).first)
			model = slices.Insert(model, at, modelBlock{id, v})
		case op < 7 && has:
			x.keep(p)
			d := x.at(p)
			v := rng.Uint64()
			binary.LittleEndian.PutUint64(x.data(&d), v)
			d.low = int64(v >> 1)
			x.put(p, d)
			model[at].value = v
		case op < 9 && has:
			next, more := x.remove(p)
			model = slices.Delete(model, at, at+1)
			require.Equal(t, at < len(model), more)
			if more {
				require.Equal(t, model[at].first, x.at(next).first)
			}
		case x.frozen == nil && rng.IntN(20) == 0:
			x.freeze()
			frozen, given = slices.Clone(model), given[:0]
		case x.frozen != nil:
			given = stepFrozen(t, rng, x, frozen, given)
		}
		if step%50 == 0 {
			checkIndex(t, x, model)
		}
	}
	if x.frozen != nil {
		x.drop()
		x.frozen.close()
	} else {
		x.drop()
	}
	require.Zero(t, a.Used())
	require.Zero(t, sh.GoBytes)
	a.Close()
}

// stepFrozen goes on with the walk over a frozen index, and ends it when it is done or by chance.
// It returns what the walk has given out so far.
func stepFrozen(t *testing.T, rng *rand.Rand, x *index, frozen, given []modelBlock) []modelBlock {
	n := rng.IntN(40)
	done := x.frozen.step(&n, func(d *block, b []byte) {
		given = append(given, modelBlock{d.first, binary.LittleEndian.Uint64(b)})
	})
	if done || rng.IntN(30) == 0 {
		require.Equal(t, len(given) == len(frozen), done)
		require.Equal(t, frozen[:len(given)], given)
		x.frozen.close()
	}
	return given
}

// checkIndex compares the whole index with the model, forwards and backwards.
func checkIndex(t *testing.T, x *index, model []modelBlock) {
	require.Equal(t, len(model), x.blocks)
	i := 0
	p, ok := x.head()
	for ; ok; p, ok = x.next(p) {
		d := x.at(p)
		require.Equal(t, model[i].first, d.first)
		require.Equal(t, model[i].value, binary.LittleEndian.Uint64(x.data(&d)))
		i++
	}
	require.Equal(t, len(model), i)
	for p, ok = x.tail(); ok; p, ok = x.prev(p) {
		i--
		require.Equal(t, model[i].first, x.at(p).first)
	}
	require.Zero(t, i)
	require.NoError(t, x.check(func(*block, []byte) error { return nil }))
}

// TestFrozenStep changes most blocks of an index before their turn. A step must not pass them all
// to find the next that has not changed: what it gives out comes long before that.
func TestFrozenStep(t *testing.T) {
	x := &index{sh: &Shared{A: arena.New()}}
	defer x.sh.A.Close()
	const blocks, changed = 1000, 900
	for i := range uint64(blocks) {
		d := x.alloc(ID{i, 0}, 8)
		binary.LittleEndian.PutUint64(x.resize(&d, 8, 8), i)
		x.insert(d)
	}
	f := x.freeze()
	for i := range uint64(changed) {
		p, _ := x.find(ID{i, 0})
		x.keep(p)
	}
	for i := range uint64(blocks) {
		n := 1
		f.step(&n, func(d *block, b []byte) {
			require.Equal(t, ID{i, 0}, d.first)
			require.Equal(t, i, binary.LittleEndian.Uint64(b))
		})
		require.False(t, f.begun && ID{i, 0}.Less(f.last), "passed %v", f.last)
	}
	require.Zero(t, f.left)
	f.close()
	x.empty()
}
