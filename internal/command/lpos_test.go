package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLPosNodes searches a list of several nodes, some of which hold one long element only.
func TestLPosNodes(t *testing.T) {
	l := newLocal(t)
	var want []int64
	for i := range 2000 {
		elem := fmt.Sprint("element:", i)
		switch {
		case i%400 == 3:
			elem = strings.Repeat("long", 5000)
		case i%50 == 4:
			elem = "same"
			want = append(want, int64(i))
		}
		l.exec(argvOf("RPUSH", "k", elem))
	}
	for rank := range len(want) {
		got := l.do(t, argvOf("LPOS", "k", "same", "RANK", fmt.Sprint(rank+1))).Int
		require.Equal(t, want[rank], got, "rank %d", rank+1)
		back := l.do(t, argvOf("LPOS", "k", "same", "RANK", fmt.Sprint(rank-len(want)))).Int
		require.Equal(t, got, back)
	}
	long := l.do(t, argvOf("LPOS", "k", strings.Repeat("long", 5000), "RANK", "2")).Int
	require.EqualValues(t, 403, long)
}
