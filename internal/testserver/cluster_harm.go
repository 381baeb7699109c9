package testserver

import (
	"slices"
	"syscall"
)

// Thaw has a stopped node go on.
func (n *Node) Thaw() error { return n.resume() }

func (n *Node) resume() error { return n.Signal(syscall.SIGCONT) }

// Cut cuts every link between the given nodes and the others of a cluster that is Proxied: bytes
// stay where they are, and connections are made but carry nothing. Clients reach all nodes still.
func (c *Cluster) Cut(side ...*Node) { c.hold(side, true) }

// Heal has all links carry bytes again, also those that they have kept back.
func (c *Cluster) Heal() { c.hold(nil, false) }

// hold holds the links that cross the border of a side, or lets go of all.
func (c *Cluster) hold(side []*Node, yes bool) {
	for _, to := range c.Nodes {
		for _, from := range c.Nodes {
			if yes && slices.Contains(side, to) == slices.Contains(side, from) {
				continue
			}
			to.Bus.Hold(from.source, yes)
			to.Door.Hold(from.source, yes)
		}
	}
}
