package topology

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCopy wants the keys of a node to be a copy only until clients may write to it.
func TestCopy(t *testing.T) {
	for _, a := range []Action{
		AddSlots{nodeID(0), slots(5, 5)}, Admit{Node: nodeID(1), Shard: shardID(1)},
	} {
		l := &log{t, &State{}}
		l.ok(Init{Cluster: string(nodeID(9)), Node: nodeID(0), Shard: shardID(0), Copy: true})
		l.ok(Tell{Node: nodeID(0)})
		require.True(t, l.shard(0).Copy)
		l.ok(a)
		require.False(t, l.shard(0).Copy)
	}
}
