package movein

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/internal/slot"
)

// follow has the target's masters give up their slots and follow the source's.
func (m *mover) follow() error {
	for _, s := range m.spares {
		if _, err := s.node.do("CLUSTER", "FLUSHSLOTS"); err != nil {
			return err
		}
	}
	for _, p := range m.pairs {
		if p.follows {
			continue
		}
		if err := m.attach(p); err != nil {
			return err
		}
		m.say("%s follows %s: slots %s", p.to.addr, p.from.addr, p.slots)
	}
	return nil
}

// attach has a master of the target follow the master of its shard.
func (m *mover) attach(p *pair) error {
	host, port := hostPort(p.from.addr)
	args := append([]any{"CLUSTER", "FOLLOW", host, port, "SLOTSRANGE"}, ends(&p.slots)...)
	side := &m.o.From
	if side.TLS {
		args = append(args, "TLS")
	}
	switch {
	case side.Password == "":
	case side.User == "":
		args = append(args, "AUTH", side.Password)
	default:
		args = append(args, "AUTH2", side.User, side.Password)
	}
	_, err := p.to.do(args...)
	p.follows = p.follows || err == nil
	return err
}

// ends returns the first and last slot of each range, as commands take them.
func ends(s *slot.Set) (args []any) {
	for _, r := range s.Ranges() {
		args = append(args, r.First, r.Last)
	}
	return args
}

// near is how many bytes behind a node may be to be in step.
const near = 1 << 20

// errOver is a fault that does not pass.
var errOver = errors.New("the shard is not followed any more")

// errLost reports a master of the target that follows nothing, though nobody has its slots yet.
var errLost = errors.New("the node has started anew, or another one is the master of its shard, " +
	"or another run has ended it")

// errTaken reports that another run has handed the slots over.
var errTaken = errors.New("another run has handed the slots over")

// progress is how far the target is.
type progress struct {
	linked int   // shards whose link is up
	behind int64 // bytes, of the linked ones
	lag    int   // replicas of the target that are not in step
	fault  string
}

// watch waits until the target is in step with the source, and without Options.Cutover until the
// context ends. What is wrong for longer than Options.Patience ends it.
func (m *mover) watch(ctx context.Context) error {
	good, inStep := time.Now(), false
	for {
		pr, err := m.look()
		switch {
		case errors.Is(err, errOver), errors.Is(err, errTaken),
			errors.Is(err, errLost) && time.Since(good) > m.o.Hold:
			return err
		case errors.Is(err, errLost): // another run may be about to hand the slots over
		case err == nil && pr.fault == "":
			good = time.Now()
		case time.Since(good) > m.o.Patience && err == nil:
			return errors.New(pr.fault)
		case time.Since(good) > m.o.Patience:
			return err
		}
		done := err == nil && pr.linked == len(m.pairs) && pr.behind <= near && pr.lag == 0
		m.tell(pr, err, done, inStep)
		if done && m.o.Cutover {
			return nil
		}
		inStep = done
		select {
		case <-ctx.Done():
			return ErrLeft
		case <-time.After(poll):
		}
	}
}

// tell writes a line when something has changed, and now and then.
func (m *mover) tell(pr progress, err error, done, was bool) {
	if done == was && time.Since(m.told) < 5*time.Second {
		return
	}
	m.told = time.Now()
	switch {
	case err != nil:
		m.say("trouble: %s", err)
	case pr.fault != "":
		m.say("%d of %d shards in step; %s", pr.linked, len(m.pairs), pr.fault)
	case done:
		m.say("in step: %d shards, %d bytes behind", pr.linked, pr.behind)
	default:
		m.say("%d of %d shards linked, %d bytes behind, %d replicas of the target not in step",
			pr.linked, len(m.pairs), pr.behind, pr.lag)
	}
}

// look finds out how far the target is. When the source has another master for a shard, the target
// follows that one from now on.
func (m *mover) look() (pr progress, err error) {
	if pr, err = m.lookAtTarget(); err != nil {
		return pr, err
	}
	list, err := m.sourceShards()
	if err != nil {
		return pr, err
	}
	for _, p := range m.pairs {
		s := find(list, &p.slots)
		if s == nil {
			return pr, fmt.Errorf("source: no shard has the slots %s any more", p.slots)
		}
		if s.master != p.from.addr {
			p.from = m.from.node(s.master)
			if err := m.attach(p); err != nil {
				return pr, err
			}
			m.say("%s follows %s now, the new master of its shard", p.to.addr, s.master)
		}
	}
	return pr, nil
}

func find(list []shard, slots *slot.Set) *shard {
	for i := range list {
		if list[i].slots == *slots {
			return &list[i]
		}
	}
	return nil
}

// lookAtTarget asks the target's masters.
func (m *mover) lookAtTarget() (pr progress, err error) {
	for _, p := range m.pairs {
		info, err := p.to.info("replication")
		if err != nil {
			return pr, err
		}
		switch {
		case info["follow_slots"] == "":
			return pr, p.whyNot()
		case info["follow_state"] == "failed":
			return pr, fmt.Errorf("target at %s: %w: %s", p.to.addr, errOver, info["follow_error"])
		case info["master_link_status"] != "up":
			if info["follow_error"] != "" {
				pr.fault = fmt.Sprintf("target at %s: %s", p.to.addr, info["follow_error"])
			}
			continue
		}
		pr.linked++
		at := number(info, "slave_repl_offset")
		pr.lag += p.waiting(at - near)
		source, err := p.from.info("replication")
		if err != nil {
			continue // its shard will tell
		}
		pr.behind += max(number(source, "master_repl_offset")-at, 0)
	}
	return pr, nil
}

// whyNot returns why the pair's master follows nothing any more.
func (p *pair) whyNot() error {
	v, err := p.to.view()
	if err != nil {
		return err
	}
	for _, l := range v {
		if l.Slots == p.slots {
			return errTaken
		}
	}
	return fmt.Errorf("target at %s: nothing is followed any more: %w", p.to.addr, errLost)
}

// waiting returns how many replicas of the pair's master do not have the stream up to an offset.
func (p *pair) waiting(offset int64) (n int) {
	for _, r := range p.replicas {
		info, err := r.info("replication")
		if err != nil || info["master_link_status"] != "up" ||
			number(info, "slave_repl_offset") < offset {
			n++
		}
	}
	return n
}
