package bytecode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInstr(t *testing.T) {
	i := Make(SetFieldK, 249, 255, 1, -70000)
	require.Equal(t, SetFieldK, i.Op())
	require.Equal(t, []int{249, 255, 1, -70000}, []int{int(i.A()), int(i.B()), int(i.C()), i.D()})
	require.Equal(t, "SetFieldK a=249 b=255 c=1 d=-70000", i.String())
}

func TestNames(t *testing.T) {
	require.Len(t, opNames, int(numOps))
	require.Equal(t, "Line", Line.String())
	require.Equal(t, "JumpLeKR", JumpLeKR.String())
}
