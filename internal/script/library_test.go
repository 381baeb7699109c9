package script

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibrariesCount counts functions by their own names: of two that differ in case only, one is
// found, but both count. (redis-server 7.0 counts both too, but ends when the library is deleted.)
func TestLibrariesCount(t *testing.T) {
	var s LibrarySet
	for name, functions := range map[string][]string{"a": {"f", "F", "g"}, "b": {"h"}} {
		l := &Library{Name: name}
		for _, f := range functions {
			require.NoError(t, l.register(&Function{Name: f}))
		}
		require.NoError(t, s.Add(l, false))
	}
	libraries, functions := s.Len()
	require.Equal(t, [2]int{2, 4}, [2]int{libraries, functions})
	require.Equal(t, "f", s.Function([]byte("F")).Name)
	require.True(t, s.Delete("a"))
	libraries, functions = s.Len()
	require.Equal(t, [2]int{1, 1}, [2]int{libraries, functions})
	require.Nil(t, s.Function([]byte("f")))
}
