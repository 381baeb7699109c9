package resp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppendWholeAfterPart has a command arrive in two parts, so that Next has looked at the first,
// and then an empty line.
func TestAppendWholeAfterPart(t *testing.T) {
	const ping, rest = "*1\r\n$4\r\nPING\r\n", "\n*1\r\n$4\r\nECHO\r\n"
	for n := 1; n < len(ping); n++ {
		var p Parser
		argv, _, err := p.Next([]byte(ping[:n]), open)
		require.NoError(t, err)
		require.Nil(t, argv)
		_, used := p.AppendWhole(nil, []byte(ping), open)
		if used == 0 { // within the arguments
			_, used, err = p.Next([]byte(ping), open)
			require.NoError(t, err)
		}
		require.Equal(t, len(ping), used, "cut at %d", n)
		argv, used, err = p.Next([]byte(rest), open)
		require.NoError(t, err)
		require.Empty(t, argv, "cut at %d", n)
		require.Equal(t, 1, used, "cut at %d", n)
	}
}
