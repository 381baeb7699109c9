package topology

// Started says that a node's process has started anew. It is the first entry that the node asks
// for. It may have lost data that it had, so it is not in sync, and as a master it is revoked until
// it, or a replica, is promoted.
type Started struct {
	Node NodeID `json:"node"`
	Boot uint64 `json:"boot"` // higher than before, or nothing is changed
}

func (a Started) apply(e *entry) string {
	n := e.Nodes[a.Node]
	if n == nil {
		return unknownNode(a.Node)
	}
	if a.Boot <= n.Boot {
		return ""
	}
	e.quit(a.Node)
	e.editNode(a.Node).Boot = a.Boot
	return ""
}

// SetTimeout changes cluster-node-timeout of the whole cluster.
type SetTimeout struct {
	Timeout int64 `json:"timeout"` // ms
}

// The bounds of cluster-node-timeout, in ms.
const (
	minTimeout = 500
	maxTimeout = 24 * 60 * 60 * 1000
)

func (a SetTimeout) apply(e *entry) string {
	if a.Timeout < minTimeout || a.Timeout > maxTimeout {
		return "ERR Invalid node timeout"
	}
	e.Timeout, e.Longest = a.Timeout, max(e.Longest, a.Timeout)
	e.TimeoutAt = e.index
	return ""
}

// Settle says that the leases by longer timeouts than the one since At are over.
type Settle struct {
	At uint64 `json:"at"` // State.TimeoutAt
}

func (a Settle) apply(e *entry) string {
	if a.At != e.TimeoutAt {
		return "ERR The node timeout has changed"
	}
	e.Longest = e.Timeout
	return ""
}
