package movein

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// undo makes both clusters what they were before. It goes on after errors, and returns them.
//
// Ending what a master follows succeeds once (CLUSTER FOLLOW NO ONE), and slots are taken only by a
// run that has ended it for all masters. So a run that has done so for one knows that no other run
// takes the slots: the source may take writes again.
func (m *mover) undo() error {
	m.say("undoing: the target becomes empty again")
	if err := m.giveUp(); err != nil {
		return fmt.Errorf("the target may have slots, so the source goes on refusing writes "+
			"(min-replicas-to-write). --cancel --force undoes the rest, when the target's masters "+
			"answer: %w", err)
	}
	err := m.stop()
	for _, f := range m.fences { // another run may have begun to hand the slots over
		if !f.raised {
			_ = f.look() // then it is not this run that has it refuse writes
		}
	}
	if err != nil && m.holding() {
		return fmt.Errorf("another run may be handing the slots over, so the source goes on "+
			"refusing writes (min-replicas-to-write). If none is at work any more, --cancel "+
			"undoes it, or says what is left: %w", err)
	}
	var errs []error
	for _, f := range m.fences {
		errs = append(errs, f.lower())
	}
	if m.holds {
		m.letGo() // those who wait go on
	}
	for _, p := range m.pairs {
		if p.follows {
			errs = append(errs, p.clear())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the slots may not be free
	}
	for _, s := range m.spares {
		args := append([]any{"CLUSTER", "ADDSLOTSRANGE"}, ends(&s.had)...)
		errs = append(errs, patient(func() error {
			_, err := s.node.do(args...)
			return busy(err)
		}))
	}
	err = errors.Join(errs...)
	if err == nil {
		m.say("undone: the source is as it was, the target is empty")
	}
	return err
}

// giveUp takes from the target the slots that it may have got. It goes on after errors.
func (m *mover) giveUp() error {
	var errs []error
	for _, p := range m.pairs {
		if !p.taken {
			continue
		}
		args := append([]any{"CLUSTER", "DELSLOTSRANGE"}, ends(&p.slots)...)
		err := patient(func() error { return freed(p.to.do(args...)) })
		p.taken = err != nil
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// stop ends what masters of the target follow. It is an error if it does so for none.
func (m *mover) stop() error {
	var errs []error
	for _, p := range m.pairs {
		if p.follows {
			errs = append(errs, p.stop())
		}
	}
	if slices.ContainsFunc(m.pairs, func(p *pair) bool { return p.stopped }) {
		return nil // clear tries the others again
	}
	return errors.Join(errs...)
}

// stop ends what the pair's master follows. After this run has done that, it does nothing.
func (p *pair) stop() error {
	if p.stopped {
		return nil
	}
	_, err := p.to.do("CLUSTER", "FOLLOW", "NO", "ONE")
	p.stopped = err == nil
	return err
}

// clear ends the following, and empties the node. A node that has been told to end it by somebody
// else, or has lost it, keeps what it has: nobody knows what that is good for.
func (p *pair) clear() error {
	return patient(func() error {
		if err := p.stop(); err != nil {
			return err
		}
		_, err := p.to.do("FLUSHALL")
		if err == nil {
			_, err = p.to.do("FUNCTION", "FLUSH")
		}
		return err
	})
}

// freed returns the error of DELSLOTSRANGE, unless the slots are free already.
func freed(_ any, err error) error {
	if err != nil && strings.Contains(err.Error(), "already unassigned") {
		return nil
	}
	return err
}

// busy returns the error of ADDSLOTSRANGE, unless the node has the slots already.
func busy(err error) error {
	if err != nil && strings.Contains(err.Error(), "already busy") {
		return nil
	}
	return err
}

// patience is how long patient tries. A test changes it.
var patience = 30 * time.Second

// patient tries again for a while: a node that is loading data, or waits for its lease, refuses.
func patient(try func() error) error {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := try()
		if err == nil || time.Now().After(end) || strings.Contains(err.Error(), notFollowing) {
			return err
		}
	}
}

// notFollowing is a part of the refusal to end what was not begun.
const notFollowing = "follows no other cluster"
