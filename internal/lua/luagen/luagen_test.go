package luagen_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/compiler"
	"godwit/internal/lua/luagen"
	"godwit/internal/testseed"
)

func compile(src string) error {
	_, err := compiler.Compile(src, "c", &compiler.Options{})
	return err
}

// TestValid checks that scripts that the generator calls valid are, and that many of those that it
// has damaged are not.
func TestValid(t *testing.T) {
	r := testseed.Rand(t)
	wrong := 0
	for range 300 {
		src := luagen.Valid(r)
		require.NoError(t, compile(src), src)
		src = luagen.Program(r)
		require.NoError(t, compile(src), src)
		if compile(luagen.Script(r)) != nil {
			wrong++
		}
	}
	require.Greater(t, wrong, 40)
	require.Less(t, wrong, 200)
}

// TestTokens checks that nothing is lost when a program is split, and that comments and strings are
// tokens.
func TestTokens(t *testing.T) {
	r := testseed.Rand(t)
	for range 20 {
		src := luagen.Program(r)
		require.Equal(t, src, strings.Join(luagen.Tokens(src), ""))
	}
	require.Equal(t, []string{"a", " =", " 'x\\'y'", "..", "[[\nz]]", " --[[ c ]]", " b", " -- c",
		"\nreturn", " 0x1F", "..", " 1.5e+3", "\n"},
		luagen.Tokens("a = 'x\\'y'..[[\nz]] --[[ c ]] b -- c\nreturn 0x1F.. 1.5e+3\n"))
}
