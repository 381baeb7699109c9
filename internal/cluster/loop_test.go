package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/bus"
)

// TestClockOfMessages wants each message of a burst to be taken by a clock that was read when the
// message was there already, and the one before it done with.
func TestClockOfMessages(t *testing.T) {
	m := launch(t)
	m.Close() // from here on the test is the loop
	r := m.Runtime
	now, read := r.o.Now, map[int]bool{}
	r.o.Now = func() int64 {
		read[len(r.inbox)] = true
		return now()
	}
	garbage := received{from: bus.Peer{Node: newID()}, data: []byte("x")}
	for range 3 {
		r.inbox <- garbage
	}
	r.take(garbage)
	require.Equal(t, map[int]bool{3: true, 2: true, 1: true, 0: true}, read)
}
