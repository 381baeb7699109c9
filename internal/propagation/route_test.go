package propagation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/propagation"
	"godwit/internal/propagation/propagationtest"
)

// TestRouteHead sends a command with a large value while there is an export. Who says where
// commands go gets only what that depends on, and the value is not copied.
func TestRouteHead(t *testing.T) {
	var f propagation.Feed
	seen := [][]int{}
	f.Route = func(_ int, argv [][]byte) propagation.Targets {
		sizes := []int{}
		for _, a := range argv {
			sizes = append(sizes, len(a))
		}
		seen = append(seen, sizes)
		if string(argv[1]) == "mine" {
			return propagation.FirstExport
		}
		return 0
	}
	f.Head = func(name []byte) int { return map[string]int{"SET": 2, "PING": 9}[string(name)] }
	exported := propagationtest.AttachTo(&f, propagation.FirstExport)
	large := make([]byte, 1<<20)
	set := func(key string) [][]byte { return [][]byte{[]byte("SET"), []byte(key), large} }
	f.Send(0, 0, set("other"))
	f.Send(propagation.Log, 0, set("mine"))
	f.Send(0, 0, [][]byte{[]byte("PING"), []byte("x")})
	f.Send(0, 0, [][]byte{[]byte("MSET"), []byte("a"), []byte("1"), []byte("b")})
	require.Equal(t, [][]int{{3, 5}, {3, 4}, {4, 1}, {4, 1, 1, 1}}, seen)
	require.Len(t, exported.Units(), 1)
	require.Contains(t, exported.Units()[0], string(large))
}
