package movein

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"godwit/internal/slot"
)

// cutOver hands the slots over. When it fails, undo follows.
func (m *mover) cutOver() error {
	if pr, err := m.look(); err != nil || pr.fault != "" {
		return errors.Join(err, errors.New("the source or the target has changed: "+pr.fault))
	}
	list, err := m.from.all()
	if err != nil {
		return err
	}
	m.findFences(list)
	held := time.Now()
	end := held.Add(m.o.Hold)
	m.say("cutting over: writers of the source wait")
	if err := m.hold(); err != nil {
		return err
	}
	if err := m.catchUp(end); err != nil {
		return err
	}
	m.say("the target has all that was written")
	keys, err := m.compareCounts()
	if err != nil {
		return err
	}
	m.say("%d keys in %d slots, the same numbers on both sides", keys, slot.Count)
	values, err := m.compareValues()
	if err != nil {
		return err
	}
	m.say("%d values compared, equal", values)
	if _, err := m.look(); err != nil { // no failover meanwhile
		return err
	}
	if time.Now().After(end) {
		return fmt.Errorf("the writers of the source have waited for %s", m.o.Hold)
	}
	if err := m.take(end); err != nil {
		return err
	}
	m.say("the target has the slots. Writers have waited for %d ms",
		time.Since(held).Milliseconds())
	m.letGo()
	m.say("done: point the clients to the target. The source refuses writes (NOREPLICAS)")
	return nil
}

// hold makes writers of the source wait, and then has its nodes refuse what they write when the
// pause is over, whatever becomes of this process.
func (m *mover) hold() error {
	m.holds = true
	for _, p := range m.pairs {
		if _, err := p.from.do("CLIENT", "PAUSE", m.o.Hold.Milliseconds(), "WRITE"); err != nil {
			return err
		}
	}
	for _, f := range m.fences {
		if err := f.raise(); err != nil && m.isSource(f.node) {
			return err
		}
	}
	return nil
}

// isSource reports whether a node is the master of a shard that is moved.
func (m *mover) isSource(n *node) bool {
	for _, p := range m.pairs {
		if p.from == n {
			return true
		}
	}
	return false
}

// catchUp waits until the target and its replicas have all that the source has taken. No write
// comes any more.
func (m *mover) catchUp(end time.Time) error {
	for _, p := range m.pairs {
		info, err := p.from.info("replication")
		if err != nil {
			return err
		}
		if info["role"] != "master" {
			return fmt.Errorf("source: %s is no master any more", p.from.addr)
		}
		want := number(info, "master_repl_offset")
		for {
			info, err := p.to.info("replication")
			if err != nil {
				return err
			}
			if info["master_link_status"] == "up" && number(info, "slave_repl_offset") >= want &&
				inStep(info, want) >= p.replicas {
				break
			}
			if time.Now().After(end) {
				return fmt.Errorf("target: %s or a replica has not got all in time", p.to.addr)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return nil
}

// take gives the slots to the target. From here on it may take writes.
func (m *mover) take(end time.Time) error {
	for _, p := range m.pairs {
		if _, err := p.to.do("CLUSTER", "FOLLOW", "NO", "ONE"); err != nil {
			return err
		}
	}
	for _, p := range m.pairs {
		p.taken = true
		args := append([]any{"CLUSTER", "ADDSLOTSRANGE"}, ends(&p.slots)...)
		if _, err := p.to.do(args...); err != nil {
			return err
		}
	}
	for _, p := range m.pairs {
		for {
			info, err := p.to.clusterInfo()
			if err != nil {
				return err
			}
			if info["cluster_state"] == "ok" {
				break
			}
			if time.Now().After(end) {
				return fmt.Errorf("target: the cluster is down, says %s", p.to.addr)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return nil
}

// letGo ends the pause of the source's clients.
func (m *mover) letGo() {
	for _, p := range m.pairs {
		if _, err := p.from.do("CLIENT", "UNPAUSE"); err != nil {
			m.say("the pause ends by itself: %s", err)
		}
	}
}

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

// probeFence makes sure before anything begins that masters of the source can be told to refuse
// writes: without that the move could not be safe.
func (m *mover) probeFence() error {
	for _, p := range m.pairs {
		least, err := p.from.config("min-replicas-to-write")
		if err != nil {
			return err
		}
		if least == fenceReplicas {
			least = "0"
		}
		if _, err := strconv.Atoi(least); err != nil {
			return fmt.Errorf("source: min-replicas-to-write of %s is %q", p.from.addr, least)
		}
	}
	return nil
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
