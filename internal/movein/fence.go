package movein

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// fence has a node of the source refuse writes: it asks for more replicas than there are.
type fence struct {
	node       *node
	least, lag string // as they were
	raised     bool
}

// A node that refuses writes has a min-replicas-to-write that nobody else sets: fenceLeast, with
// what was there before added, and fenceNoLag if min-replicas-max-lag was 0. So a later run knows
// it for what it is, and what to set it back to, when this one has been killed.
const (
	fenceLeast = 1_000_001
	fenceNoLag = 1_000_000
)

// value returns the min-replicas-to-write of the node while it refuses writes.
func (f *fence) value() int {
	n, _ := strconv.Atoi(f.least) // what is none was not set by a server
	n = fenceLeast + min(n, fenceNoLag-1)
	if f.lag == "0" {
		n += fenceNoLag
	}
	return n
}

// read notes what a node has. If that is what value returns, a run has left it there, or another
// one is at work.
func (f *fence) read(least, lag string) {
	f.least, f.lag, f.raised = least, lag, false
	n, err := strconv.Atoi(least)
	if n -= fenceLeast; err != nil || n < 0 {
		return
	}
	f.raised, f.least = true, strconv.Itoa(n%fenceNoLag)
	if n >= fenceNoLag {
		f.lag = "0"
	}
}

// look reads what the node has.
func (f *fence) look() error {
	least, err := f.node.config("min-replicas-to-write")
	lag, err2 := f.node.config("min-replicas-max-lag")
	if err = errors.Join(err, err2); err == nil {
		f.read(least, lag)
	}
	return err
}

// findFences makes a fence for each node. A replica may become a master.
func (m *mover) findFences(list []*node) {
	m.fences = nil
	for _, n := range list {
		f := &fence{node: n}
		if err := f.look(); err != nil {
			m.say("source: %s cannot be told to refuse writes: %s", n.addr, err)
			continue
		}
		m.fences = append(m.fences, f)
	}
}

// fencedNodes returns the nodes of the source that refuse writes, for this run or another one.
func (m *mover) fencedNodes() string {
	var list []string
	for _, f := range m.fences {
		if f.raised {
			list = append(list, f.node.addr)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// sayFences tells of nodes that refuse writes though this run has not begun.
func (m *mover) sayFences() {
	if list := m.fencedNodes(); list != "" {
		m.say("source: writes are refused (min-replicas-to-write) by %s: a run that was handing "+
			"the slots over has been killed, unless it is at work. --cutover hands them over, "+
			"--cancel lets the source take writes again", list)
	}
}

// withFences adds to an error that nodes of the source refuse writes.
func (m *mover) withFences(err error) error {
	if list := m.fencedNodes(); list != "" {
		err = fmt.Errorf("%w\nsource: writes are refused (min-replicas-to-write) by %s since "+
			"another run was handing the slots over. If that has been killed, --cancel undoes it, "+
			"or says what is left", err, list)
	}
	return err
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
	_, err := f.node.do("CONFIG", "SET", "min-replicas-to-write", f.value())
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
	if f.raised = err != nil; f.raised {
		err = fmt.Errorf("%w. Until CONFIG SET min-replicas-to-write %s there the node refuses "+
			"writes", err, f.least)
	}
	return err
}
