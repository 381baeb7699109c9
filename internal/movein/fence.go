package movein

import (
	"errors"
	"fmt"
	"slices"
)

// fence has a node of the source refuse writes: it asks for more replicas than there are.
type fence struct {
	node       *node
	least, lag string // as they were
	raised     bool
}

// fenceReplicas is the min-replicas-to-write of a node that refuses writes. Nobody sets it to that,
// so a later run knows it for what it is.
const fenceReplicas = "1000001"

// findFences makes a fence for each node. A replica may become a master.
func (m *mover) findFences(list []*node) {
	m.fences = nil
	for _, n := range list {
		f := &fence{node: n}
		least, err := n.config("min-replicas-to-write")
		lag, err2 := n.config("min-replicas-max-lag")
		if err != nil || err2 != nil {
			m.say("source: %s will not refuse writes: %s", n.addr, errors.Join(err, err2))
			continue
		}
		if f.least, f.lag = least, lag; least == fenceReplicas {
			f.least, f.raised = "0", true // left by a run that was killed
		}
		m.fences = append(m.fences, f)
	}
}

// config returns a directive.
func (n *node) config(name string) (string, error) {
	v, err := n.do("CONFIG", "GET", name)
	if err == nil && len(v.Elems) != 2 {
		err = fmt.Errorf("%s at %s: there is no directive %s", n.c.name, n.addr, name)
	}
	if err != nil {
		return "", err
	}
	return v.Elems[1].Text(), nil
}

// fenced returns an error unless all masters of the source can be told to refuse writes: without
// that the move would not be safe.
func (m *mover) fenced() error {
	for _, p := range m.pairs {
		if !slices.ContainsFunc(m.fences, func(f *fence) bool { return f.node == p.from }) {
			return fmt.Errorf("source: %s cannot be told to refuse writes", p.from.addr)
		}
	}
	return nil
}

// holding reports whether the source may be refusing writes, for this run or an earlier one.
func (m *mover) holding() bool {
	return m.holds || slices.ContainsFunc(m.fences, func(f *fence) bool { return f.raised })
}

// raise has the node refuse writes.
func (f *fence) raise() error {
	if f.lag == "0" {
		if _, err := f.node.do("CONFIG", "SET", "min-replicas-max-lag", 10); err != nil {
			return err
		}
	}
	f.raised = true
	_, err := f.node.do("CONFIG", "SET", "min-replicas-to-write", fenceReplicas)
	return err
}

// lower has the node take writes as before.
func (f *fence) lower() error {
	if !f.raised {
		return nil
	}
	_, err := f.node.do("CONFIG", "SET", "min-replicas-to-write", f.least)
	if err == nil && f.lag == "0" {
		_, err = f.node.do("CONFIG", "SET", "min-replicas-max-lag", f.lag)
	}
	f.raised = err != nil
	return err
}
