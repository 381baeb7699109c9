package testserver

import (
	"fmt"
	"net"

	"godwit/internal/slot/nodes"
)

// View is what one node says of all, in CLUSTER NODES.
type View = nodes.View

// View asks a node for its view.
func (n *Node) View() (View, error) {
	v, err := n.Do("CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	if v.IsError() {
		return nil, fmt.Errorf("CLUSTER NODES: %s", v.Text())
	}
	return nodes.Parse(v.Text())
}

// Node returns the node with an id, nil if there is none.
func (c *Cluster) Node(id string) *Node {
	for _, n := range c.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// Owner returns the node that has a slot, as node by sees it.
func (c *Cluster) Owner(by *Node, s int) (*Node, error) {
	v, err := by.View()
	if err != nil {
		return nil, err
	}
	if l := v.Owner(s); l != nil {
		return c.Node(l.ID), nil
	}
	return nil, fmt.Errorf("nobody has slot %d", s)
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}
