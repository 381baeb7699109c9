package listpack

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// pairElement returns a field or value in one of all forms of entries.
func pairElement(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("x", r.IntN(200))
	case 2:
		return strings.Repeat("y", 4000+r.IntN(200))
	case 3:
		return strconv.FormatInt(r.Int64()>>r.IntN(64), 10)
	case 4:
		return strconv.Itoa(-r.IntN(10))
	}
	return "f" + strconv.Itoa(r.IntN(300))
}

// TestPairs compares pairs with a slice, and with the listpack that they turn into.
func TestPairs(t *testing.T) {
	r := testseed.Rand(t)
	s := &Slice{PairsEmpty()}
	var model [][2]string
	find := func(field string) int {
		for i := range model {
			if model[i][0] == field {
				return i
			}
		}
		return -1
	}
	for step := range 4000 {
		field, value := pairElement(r), pairElement(r)
		i, pos := find(field), PairsFind(s.B, []byte(field))
		require.Equal(t, i >= 0, pos != 0)
		switch {
		case i >= 0 && r.IntN(2) == 0:
			PairsReplace(s, pos, []byte(value))
			model[i][1] = value
		case i >= 0:
			PairsDelete(s, pos)
			model = append(model[:i], model[i+1:]...)
		case len(model) < 400:
			PairsAppend(s, []byte(field), []byte(value))
			model = append(model, [2]string{field, value})
		}
		if step%50 == 0 {
			comparePairs(t, s.B, model)
		}
	}
	for len(model) > 0 {
		PairsDelete(s, PairsFind(s.B, []byte(model[0][0])))
		model = model[1:]
	}
	comparePairs(t, s.B, nil)
}

func comparePairs(t *testing.T, b []byte, model [][2]string) {
	t.Helper()
	require.Equal(t, len(model), PairsCount(b))
	p, lp := PairsFirst(b), NewSlice()
	for _, m := range model {
		require.Equal(t, m[0], string(Get(b, p).Append(nil)))
		require.Equal(t, m[1], string(Get(b, PairsValue(b, p)).Append(nil)))
		p = PairsNext(b, p)
		AppendPair(lp, []byte(m[0]), []byte(m[1]))
	}
	require.Zero(t, p)
	require.Equal(t, lp.B, PairsListpack(nil, b))
	of := PairsOf(nil, lp.B)
	require.Equal(t, b[pairsHeader(b):], of[pairsHeader(of):])
	require.Equal(t, len(model), PairsCount(of))
}

// TestPairsBytes looks at a small hash: 16 bytes less than a listpack.
func TestPairsBytes(t *testing.T) {
	s, lp := &Slice{PairsEmpty()}, NewSlice()
	for i := range 5 {
		f, v := []byte("field:"+strconv.Itoa(i)), []byte(strconv.Itoa(i*1111))
		PairsAppend(s, f, v)
		AppendPair(lp, f, v)
	}
	require.Len(t, s.B, len(lp.B)-16)
}
