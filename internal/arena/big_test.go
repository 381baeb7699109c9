package arena

import (
	"bytes"
	"testing"

	"godwit/internal/invariant"

	"github.com/stretchr/testify/require"
)

// TestRevive checks that a big block takes the mapping of one of the same size that was freed, but
// not if it must be zero, and that mappings nobody wants go back to the system.
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
	release := func() {
		for a.Release() {
		}
		require.NoError(t, a.Check())
	}
	ref := make1()
	a.Free(ref, n, 0)
	mapped := a.mapped
	release()
	ref = make1()
	require.Equal(t, mapped, a.mapped)

	a.Free(ref, n, 0)
	zero := a.AllocZero(n, 0)
	require.False(t, bytes.ContainsFunc(a.Bytes(zero, n), func(r rune) bool { return r != 0 }))
	a.Free(zero, n, 0)
	both := 2
	if invariant.Enabled { // which clears what is to be zero, so that any mapping does
		both = 1
	}
	a.BeginTrim()
	release()
	require.Equal(t, both, len(a.kept.maps), "they may be wanted soon")
	a.Free(make1(), n, 0)
	a.BeginTrim()
	release()
	require.Equal(t, 1, len(a.kept.maps), "one was wanted")
	a.BeginTrim()
	release()
	require.Zero(t, a.mapped)
	require.Zero(t, a.kept.bytes+a.goneBytes+a.dyingBytes)
}

// TestReviveDying checks that a block too large to keep takes the mapping of one that waits for
// Release, as long as nothing of it has been given back.
func TestReviveDying(t *testing.T) {
	const n = 6 << 20
	a := New()
	a.Free(a.Alloc(n, 0), n, 0)
	require.Equal(t, bigSize(n), a.dyingBytes)
	ref := a.Alloc(n, 0)
	require.Zero(t, a.dyingBytes)
	require.NoError(t, a.Check())
	a.Free(ref, n, 0)
	a.Release() // a part of it
	ref = a.Alloc(n, 0)
	require.NotZero(t, a.dyingBytes)
	require.NoError(t, a.Check())
	a.Free(ref, n, 0)
	for a.Release() {
	}
	require.Zero(t, a.mapped)
	require.NoError(t, a.Check())
}

// TestKeptIsBounded checks that freed big blocks are kept up to keptBytes, and that all goes when
// the arena is trimmed.
func TestKeptIsBounded(t *testing.T) {
	a := New()
	var refs []Ref
	sizes := []int{1 << 20, 3 << 20, 5 << 20, 600 << 10}
	for i := range 40 {
		refs = append(refs, a.Alloc(sizes[i%len(sizes)], 0))
	}
	for i, ref := range refs {
		a.Free(ref, sizes[i%len(sizes)], 0)
		require.LessOrEqual(t, a.kept.bytes, int64(keptBytes))
	}
	require.NotZero(t, a.kept.bytes)
	require.NoError(t, a.Check())
	a.Trim()
	require.Zero(t, a.mapped)
	require.NoError(t, a.Check())
}

// TestChunksGoInSlices checks that no call of Release gives back more than a part of a chunk.
func TestChunksGoInSlices(t *testing.T) {
	a := New()
	defer a.Close()
	const size = 100 << 10
	var refs []Ref
	for a.Mapped() < 8*chunkSize {
		refs = append(refs, a.Alloc(size, Values))
	}
	for _, r := range refs {
		a.Free(r, size, Values)
	}
	a.dropKeptRuns()
	calls := 0
	for was := a.Resident(); a.Release(); was = a.Resident() {
		require.LessOrEqual(t, was-a.Resident(), int64(releaseBytes))
		require.NoError(t, a.Check())
		calls++
	}
	require.GreaterOrEqual(t, calls, 5*chunkSize/releaseBytes)
	require.Equal(t, int64(chunkSize), a.Held(), "one empty chunk stays")
}
