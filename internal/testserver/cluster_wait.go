package testserver

import (
	"fmt"
	"strconv"
	"time"
)

// WaitReady waits until every node says that the cluster works, knows all nodes and is in touch
// with them, and until every replica follows its master. Spares do not count.
func (c *Cluster) WaitReady() error {
	members := c.members()
	return c.waitEach(members, "ready", func(n *Node) bool {
		info, err := n.ClusterInfo()
		if err != nil || info["cluster_state"] != "ok" ||
			info["cluster_known_nodes"] != strconv.Itoa(len(members)) {
			return false
		}
		// Godwit's cluster survives its leader only once it has several voters.
		if v, err := strconv.Atoi(info["cluster_raft_voters"]); err == nil && v < 3 &&
			len(members) >= 3 {
			return false
		}
		view, err := n.View()
		return err == nil && view.Linked() && c.followed(n, view) && c.offered(n)
	})
}

// offered reports whether a node offers all replicas to clients. It leaves out those that have
// nothing of their master's yet, as far as it knows.
func (c *Cluster) offered(n *Node) bool {
	v, err := n.Do("CLUSTER", "SLOTS")
	for _, r := range v.Elems {
		if len(r.Elems) != 2+1+c.Options.Replicas {
			return false
		}
	}
	return err == nil
}

// followed reports whether a view of a node has the wanted number of masters and replicas, and
// whether the node follows its master if it is a replica.
func (c *Cluster) followed(n *Node, view View) bool {
	replicas := 0
	for _, l := range view {
		if l.Has("slave") && !l.Has("fail") && !l.Has("fail?") {
			replicas++
		}
		if l.Has("myself") && l.Has("slave") {
			info, err := n.Info("replication")
			if err != nil || info["role"] != "slave" || !linked(info) {
				return false
			}
		}
	}
	return replicas == c.Options.Masters*c.Options.Replicas &&
		len(view.Masters()) == c.Options.Masters
}

// ClusterInfo returns the fields of CLUSTER INFO.
func (n *Node) ClusterInfo() (map[string]string, error) {
	v, err := n.Do("CLUSTER", "INFO")
	return Info(v.Text()), err
}

// WaitState waits until the nodes say that the cluster works, or that it does not.
func (c *Cluster) WaitState(state string, nodes ...*Node) error {
	return c.waitEach(nodes, "in state "+state, func(n *Node) bool {
		info, err := n.ClusterInfo()
		return err == nil && info["cluster_state"] == state
	})
}

// WaitView waits until each of the nodes has a view as wanted.
func (c *Cluster) WaitView(what string, ok func(v View) bool, nodes ...*Node) error {
	return c.waitEach(nodes, what, func(n *Node) bool {
		v, err := n.View()
		return err == nil && ok(v)
	})
}

// WaitOwner waits until the nodes agree that one has a slot.
func (c *Cluster) WaitOwner(s int, owner *Node, nodes ...*Node) error {
	what := fmt.Sprintf("of the mind that %s has slot %d", owner.Addr, s)
	return c.WaitView(what, func(v View) bool {
		l := v.Owner(s)
		return l != nil && l.ID == owner.ID
	}, nodes...)
}

// waitEach waits until a condition holds for each node.
func (c *Cluster) waitEach(nodes []*Node, what string, ok func(n *Node) bool) error {
	end := time.Now().Add(Patience)
	for _, n := range nodes {
		for !ok(n) {
			if time.Now().After(end) || n.Ended() {
				info, _ := n.Do("CLUSTER", "INFO")
				view, _ := n.Do("CLUSTER", "NODES")
				return fmt.Errorf("the node at %s is not %s (%w):\n%s%s\n%s", n.Addr, what, errWait,
					info.Text(), view.Text(), n.Tail())
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return nil
}
