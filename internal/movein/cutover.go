package movein

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/internal/slot"
)

// cutOver hands the slots over. When it fails, undo follows.
func (m *mover) cutOver() error {
	list, err := m.from.all()
	if err != nil {
		return err
	}
	m.findFences(list)
	if err := errors.Join(m.fenced(), m.noMigrations()); err != nil {
		return err
	}
	held := time.Now()
	end := held.Add(m.o.Hold)
	m.say("cutting over: writers of the source wait")
	if err := m.hold(); err != nil {
		return err
	}
	if err := m.compare(end); err != nil {
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
	m.awaitReplicas()
	return nil
}

// compare makes sure that the target has what the source has.
func (m *mover) compare(end time.Time) error {
	for _, p := range m.pairs {
		if err := p.catchUp(end); err != nil {
			return err
		}
	}
	m.say("the target has all that was written")
	shards, err := m.sourceShards()
	if err != nil {
		return err
	}
	if _, err := m.sourceKeys(shards); err != nil { // there may be more databases now
		return err
	}
	c := m.compareAll()
	if c.err != nil {
		return c.err
	}
	m.say("%d keys in %d slots, the same numbers on both sides", c.keys, slot.Count)
	m.say("%d values compared, equal", c.values)
	if shards, err = m.sourceShards(); err != nil { // no failover meanwhile
		return err
	}
	for _, p := range m.pairs {
		if s := find(shards, &p.slots); s == nil || s.master != p.from.addr {
			return fmt.Errorf("source: %s is not the master of the slots %s any more", p.from.addr,
				p.slots)
		}
	}
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
	return slices.ContainsFunc(m.pairs, func(p *pair) bool { return p.from == n })
}

// catchUp waits until the target and its replicas have all that the shard's master has taken. No
// write comes any more.
func (p *pair) catchUp(end time.Time) error {
	source, err := p.from.info("replication")
	if err != nil {
		return err
	}
	if source["role"] != "master" {
		return fmt.Errorf("source: %s is no master any more", p.from.addr)
	}
	want := number(source, "master_repl_offset")
	for {
		info, err := p.to.info("replication")
		if err != nil {
			return err
		}
		if info["master_link_status"] == "up" && info["master_replid"] == source["master_replid"] &&
			number(info, "slave_repl_offset") >= want && p.waiting(want) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("target: %s or a replica has not got all in time", p.to.addr)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// take gives the slots to the target. Once it has them all it may take writes, so nothing is an
// error any more, because that would be undone.
func (m *mover) take(end time.Time) error {
	for _, p := range m.pairs {
		if err := p.stop(); err != nil {
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
		if err := p.serving(end); err != nil {
			m.say("the target has all slots, but does not serve yet: %s", err)
		}
	}
	return nil
}

// serving waits until the target's master serves its slots.
func (p *pair) serving(end time.Time) error {
	for {
		info, err := p.to.clusterInfo()
		if err == nil && info["cluster_state"] == "ok" {
			return nil
		}
		if time.Now().After(end) {
			if err == nil {
				err = fmt.Errorf("target: the cluster is down, says %s", p.to.addr)
			}
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// awaitReplicas waits until the replicas of the target have found their masters again, which begin
// histories of their own.
func (m *mover) awaitReplicas() {
	for end := time.Now().Add(m.o.Patience); time.Now().Before(end); time.Sleep(poll) {
		lag := 0
		for _, p := range m.pairs {
			lag += p.waiting(0)
		}
		if lag == 0 {
			return
		}
	}
	m.say("replicas of the target do not follow their masters. Look at their logs")
}

// letGo ends the pause of the source's clients.
func (m *mover) letGo() {
	for _, f := range m.fences {
		if _, err := f.node.do("CLIENT", "UNPAUSE"); err != nil {
			m.say("the pause ends by itself: %s", err)
		}
	}
}
