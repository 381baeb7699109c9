package bus

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewind breaks a link in the middle of a message of either lane: the one of the control lane
// is sent again, the bulk one is dropped. The other side may have closed the link because of it.
func TestRewind(t *testing.T) {
	long := bytes.Repeat([]byte{1}, maxFrame+1)
	for _, kind := range []Kind{1, Bulk} {
		q := queues{wake: make(chan struct{}, 1)}
		require.True(t, q.push(message{kind, long}, DefaultQueue))
		require.True(t, q.push(message{kind, []byte("next")}, DefaultQueue))
		require.Zero(t, q.rewind())
		h, _, ok := q.next()
		require.True(t, ok && h.more)
		dropped := q.rewind()
		_, part, ok := q.next()
		require.True(t, ok)
		if kind == Bulk {
			require.EqualValues(t, 1, dropped)
			require.Equal(t, "next", string(part))
			require.Zero(t, q.queued())
		} else {
			require.Zero(t, dropped)
			require.Len(t, part, maxFrame)
		}
	}
}
