package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/hll"
)

// TestHLLGrowsAndShrinks checks that if the elements of one PFADD make a value longer and then as
// short as before, no extra byte stays behind. The seed is one with that effect.
func TestHLLGrowsAndShrinks(t *testing.T) {
	l, r := newLocal(t), rand.New(rand.NewPCG(1, 1))
	for key := range 60 {
		name := fmt.Sprint("h", key)
		model := hll.AppendEmpty(nil)
		for i := 0; i < 700; i++ {
			args := [][]byte{[]byte("PFADD"), []byte(name)}
			for range 2 + r.IntN(3) {
				args = append(args, fmt.Append(nil, r.IntN(20_000)))
			}
			for _, elem := range args[2:] {
				index, rank := hll.Hash(elem)
				room := append(make([]byte, 0, len(model)+hll.Room), model...)
				var err error
				if model, _, err = hll.SetSparse(room, index, rank, 3000); err != nil {
					model = make([]byte, hll.DenseSize) // Compared no further.
					break
				}
			}
			l.exec(args)
			if len(model) == hll.DenseSize {
				break
			}
			got := run(t, l, "GET", name).Str
			require.True(t, string(model[hll.HeaderSize:]) == got[hll.HeaderSize:],
				"%s, command %d: %d bytes, not %d", name, i, len(got), len(model))
		}
	}
}
