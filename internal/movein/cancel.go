package movein

import (
	"errors"
	"fmt"
	"strings"

	"godwit/internal/slot"
)

// What a run leaves that is killed, and what Cancel does about it:
//
//	killed while        the source      the target               Cancel
//	it copies           takes writes    follows                  ends that, empties the target
//	it compares         refuses writes  follows                  likewise, and lowers the fences
//	it takes slots      refuses writes  has keys, some slots     tells; with Options.Force likewise
//	it has all slots    refuses writes  is the cluster from now  tells
//	                                    on, may have new writes
//
// As long as a master follows, ending that keeps any run that may be at work from taking slots
// (undo). Later on nobody can tell a run that was killed from one that is slow: the user must.

// Cancel ends the following that an earlier run has left, and empties the target's masters that
// took part.
func Cancel(o Options) error {
	m := newMover(o)
	defer m.from.close()
	defer m.to.close()
	if err := m.findFollowed(); err != nil {
		return err
	}
	list, err := m.from.all()
	switch {
	case err == nil:
		m.findFences(list)
		m.holds = m.holding()
	case len(m.pairs) == 0:
		return err
	default:
		m.say("the source does not answer: %s", err)
	}
	if len(m.pairs) == 0 {
		return m.cancelEnded()
	}
	if err := m.undo(); err != nil {
		return err
	}
	rest, err := m.findLeft()
	for _, l := range rest.masters {
		m.say("but %s. If these keys are left of the move: FLUSHALL there", l)
	}
	return err
}

// left is a master of the target that follows nothing, and has keys.
type left struct {
	node  *node
	slots slot.Set
}

// String tells what is left there.
func (l *left) String() string {
	if l.slots.Empty() {
		return fmt.Sprintf("the target's master at %s has keys and no slots", l.node.addr)
	}
	return fmt.Sprintf("the target's master at %s has keys and the slots %s", l.node.addr, l.slots)
}

// remains is what the target has after a run that was killed.
type remains struct {
	masters []*left
	// serves says that the target may have taken writes.
	serves bool
}

// findLeft looks for masters of the target that have keys and follow nothing.
func (m *mover) findLeft() (r remains, err error) {
	masters, _, err := m.targetMasters()
	if err != nil {
		return r, err
	}
	var owned slot.Set
	for _, l := range masters {
		owned.Union(&l.Slots)
		n := m.to.node(l.Addr)
		space, err := n.info("keyspace")
		if err != nil {
			return r, err
		}
		partly, err := n.config("cluster-require-full-coverage")
		if err != nil {
			return r, err
		}
		r.serves = r.serves || partly == "no" && !l.Slots.Empty()
		for name := range space {
			if strings.HasPrefix(name, "db") {
				r.masters = append(r.masters, &left{n, l.Slots})
				break
			}
		}
	}
	r.serves = r.serves || owned.Len() == slot.Count
	return r, nil
}

// cancelEnded is Cancel when no master of the target follows anything.
func (m *mover) cancelEnded() error {
	rest, err := m.findLeft()
	if err != nil {
		return m.withFences(err)
	}
	for _, l := range rest.masters {
		m.say("%s", l)
	}
	fenced := m.fencedNodes()
	switch {
	case fenced == "":
		return errors.New("nothing is cancelled: no master of the target follows another " +
			"cluster, and no node of the source refuses writes")
	case rest.serves: // without keys, its clients may have deleted them
		return fmt.Errorf("nothing is cancelled: the target serves slots, and may have taken "+
			"writes. If it has all of them the move is done: shut the source down. Writes are "+
			"refused there (min-replicas-to-write) by %s", fenced)
	case len(rest.masters) == 0:
		return m.lowerAll()
	case !m.o.Force:
		return fmt.Errorf("nothing is cancelled: a run was about to give the slots to the target, "+
			"and may still be at work. Writes to the source are refused "+
			"(min-replicas-to-write) by %s. Make sure that there is no such run any more. Then "+
			"--cancel --force empties these masters of the target, and lets the source take "+
			"writes again", fenced)
	}
	for _, l := range rest.masters {
		m.pairs = append(m.pairs, &pair{slots: l.slots, to: l.node, follows: true, stopped: true,
			taken: !l.slots.Empty()})
	}
	return m.undo()
}

// lowerAll lets the source take writes again. The target is empty: if the source is not, no run has
// all that it needs to hand slots over.
func (m *mover) lowerAll() error {
	shards, err := m.sourceShards()
	if err != nil {
		return m.withFences(err)
	}
	keys, err := m.sourceKeys(shards)
	if err != nil {
		return m.withFences(err)
	}
	if keys == 0 && !m.o.Force {
		return m.withFences(errors.New("nothing is cancelled: both clusters are empty, and " +
			"another run may be handing the slots over. If there is none, use --cancel --force"))
	}
	var errs []error
	for _, f := range m.fences {
		errs = append(errs, f.lower())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	m.letGo()
	m.say("the source takes writes again, the target is empty")
	return nil
}
