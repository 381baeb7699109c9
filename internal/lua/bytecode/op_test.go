package bytecode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInstr(t *testing.T) {
	i := Make(SetFieldK, 249, 255, 1, -70000)
	require.Equal(t, SetFieldK, i.Op())
	require.Equal(t, []int{249, 255, 1, -70000}, []int{int(i.A()), int(i.B()), int(i.C()), i.D()})
}
