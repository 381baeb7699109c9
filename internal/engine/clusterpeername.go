package engine

import (
	"fmt"
	"strconv"
	"strings"

	"godwit/internal/cluster/topology"
)

// Peer is what a node of a cluster says of itself when it asks for the stream of its shard.
type Peer struct {
	Cluster string
	Node    topology.NodeID
	Shard   topology.ShardID
	Term    uint64 // of the shard, as it knows it
}

// String returns the argument of REPLCONF cluster-peer.
func (p Peer) String() string {
	return fmt.Sprintf("%s %s %s %d", p.Cluster, p.Node, p.Shard, p.Term)
}

// ParsePeer reads what String returns.
func ParsePeer(text string) (p Peer, ok bool) {
	words := strings.Fields(text)
	if len(words) != 4 {
		return p, false
	}
	term, err := strconv.ParseUint(words[3], 10, 64)
	return Peer{words[0], topology.NodeID(words[1]), topology.ShardID(words[2]), term}, err == nil
}

// ownPeer returns what this node says of itself. It must be a member.
func (e *Engine) ownPeer() Peer {
	v := &e.cluster
	return Peer{v.state.Cluster, v.self.ID, v.shard.ID, v.shard.Term}
}
