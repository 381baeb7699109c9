package arena

import (
	"bytes"
	"testing"

	"godwit/internal/invariant"

	"github.com/stretchr/testify/require"
)

// TestRevive checks that a big block takes the mapping of one of the same size that was freed, but
// not if it must be zero, or after a part of the mapping was given back.
func TestRevive(t *testing.T) {
	const n = 2 << 20
	a := New()
	make1 := func() Ref {
		ref := a.Alloc(n, 0)
		b := a.Bytes(ref, n)
		for i := 0; i < n; i += 512 {
			b[i] = 7
		}
		return ref
	}
	ref := make1()
	a.Free(ref, n, 0)
	mapped := a.mapped
	ref = make1()
	require.Equal(t, mapped, a.mapped)
	require.Zero(t, a.dyingBytes)
	require.NoError(t, a.Check())

	a.Free(ref, n, 0)
	zero := a.AllocZero(n, 0)
	require.False(t, bytes.ContainsFunc(a.Bytes(zero, n), func(r rune) bool { return r != 0 }))
	a.releaseBig() // half of the one that waits
	ref = make1()
	require.NoError(t, a.Check())
	if !invariant.Enabled { // which clears what is to be zero, so that any mapping does
		require.NotZero(t, a.dyingBytes)
	}
	a.Free(ref, n, 0)
	a.Free(zero, n, 0)
	for a.dyingBytes > 0 {
		a.releaseBig()
	}
	require.Zero(t, a.goneBytes)
	require.NoError(t, a.Check())
}
