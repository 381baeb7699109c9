package stream

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPutInt writes and reads integers of all lengths.
func TestPutInt(t *testing.T) {
	for shift := range 64 {
		for _, n := range []int64{1 << shift, 1<<shift - 1, -1 << shift, -1<<shift - 1} {
			b := make([]byte, 9)
			size := putInt(b, n)
			it := Iter{c: scan{b: b}}
			v, end := it.Value(), it.value
			require.True(t, v.IsInt)
			require.Equal(t, n, v.N)
			require.Equal(t, size, end)
			require.Equal(t, size, valueEnd(b, 0))
			require.LessOrEqual(t, size, valueBound(len(strconv.FormatInt(n, 10))))
		}
	}
}
