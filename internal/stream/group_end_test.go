package stream

import (
	"slices"

	"github.com/stretchr/testify/require"
)

// dropped is a group or consumer that is not freed yet.
type dropped interface {
	Size() int64
	Drain(n int) (done bool)
}

// end frees everything in one of several orders.
func (l *groupLife) end() {
	if l.frozen != nil && l.rng.IntN(2) == 0 {
		l.frozen.close()
		l.frozen = nil
	}
	if l.frozen == nil {
		l.drain(l.s)
		return
	}
	for _, g := range slices.Clone(l.s.Groups()) {
		l.s.DestroyGroup(g)
		l.gone = append(l.gone, g)
	}
	if l.rng.IntN(2) == 0 {
		l.freeAll()
	}
	l.frozen.close()
	l.drain(l.s)
}

// free frees some of the last of what was dropped.
func (l *groupLife) free(d dropped, n int) {
	was := d.Size()
	done := d.Drain(n)
	require.LessOrEqual(l.t, d.Size(), was)
	if done {
		require.Zero(l.t, d.Size())
		l.gone = l.gone[:len(l.gone)-1]
	}
}

func (l *groupLife) freeAll() {
	for n := len(l.gone); n > 0; n = len(l.gone) {
		l.free(l.gone[n-1], 1+l.rng.IntN(500))
	}
}

func (l *groupLife) drain(s *Stream) {
	if s == l.s {
		l.freeAll()
	}
	n := 0
	for !s.drainGroups(&n) {
		n = 1 + l.rng.IntN(500)
	}
	require.Zero(l.t, s.groupBytes())
	require.Zero(l.t, s.sh.GoBytes)
	require.Zero(l.t, s.sh.A.Used())
	s.sh.A.Close()
}
