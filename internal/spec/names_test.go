package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestTop looks up all names in random case, and names that differ from them in a bit.
func TestTop(t *testing.T) {
	rnd := testseed.Rand(t)
	table := New()
	for _, c := range table.List() {
		for bit := range 8 * len(c.Name) {
			name := []byte(c.Name)
			for i := range name {
				if rnd.IntN(2) == 0 {
					name[i] = strings.ToUpper(c.Name)[i]
				}
			}
			require.Same(t, c, table.Top(name))
			name[bit/8] ^= 1 << (bit % 8)
			require.Same(t, lookup(table.byName, name), table.Top(name), "%q", name)
		}
	}
	for _, name := range []string{"", "\x00", strings.Repeat("x", 100)} {
		require.Nil(t, table.Top([]byte(name)))
	}
}
