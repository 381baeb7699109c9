package luagen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/compiler"
	"godwit/internal/testseed"
)

// TestValid checks that scripts that the generator calls valid are, and that about half of the
// others are not.
func TestValid(t *testing.T) {
	r := testseed.Rand(t)
	parse := func(src string) error {
		_, err := compiler.Compile(src, "c", nil)
		return err
	}
	wrong := 0
	for range 2000 {
		src := Valid(r)
		require.NoError(t, parse(src), src)
		if parse(Script(r)) != nil {
			wrong++
		}
	}
	require.Greater(t, wrong, 400)
	require.Less(t, wrong, 1400)
}
