package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHelloNamesModules checks that HELLO names the same modules as MODULE LIST.
func TestHelloNamesModules(t *testing.T) {
	l := newLocal(t)
	list := l.do(t, argvOf("MODULE", "LIST"))
	require.NotEmpty(t, list.Elems)
	hello := l.do(t, argvOf("HELLO"))
	require.Equal(t, "modules", hello.Elems[12].Text())
	require.Equal(t, list, hello.Elems[13])
}
