package luagen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/script/syntax"
	"godwit/internal/testseed"
)

// TestValid checks that scripts that the generator calls valid are, and that about half of the
// others are not.
func TestValid(t *testing.T) {
	r := testseed.Rand(t)
	none := func(string, string) string { return "" }
	parse := func(src string) error {
		_, err := syntax.Parse(src, "c", &syntax.Options{Constant: none})
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
