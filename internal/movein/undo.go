package movein

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// undo makes both clusters what they were before. The source takes writes again when the target has
// no slots any more. It goes on after errors, and returns them.
func (m *mover) undo() error {
	m.say("undoing: the target becomes empty again")
	var errs []error
	for _, p := range m.pairs {
		if p.taken {
			args := append([]any{"CLUSTER", "DELSLOTSRANGE"}, ends(&p.slots)...)
			if err := patient(func() error { return freed(p.to.do(args...)) }); err != nil {
				errs = append(errs, fmt.Errorf("the target may have slots, so the source goes on "+
					"refusing writes (min-replicas-to-write): %w", err))
			}
		}
	}
	if len(errs) == 0 {
		for _, f := range m.fences {
			errs = append(errs, f.lower())
		}
		if m.holds {
			m.letGo()
		}
	}
	for _, p := range m.pairs {
		if p.follows {
			errs = append(errs, p.clear())
		}
	}
	for _, s := range m.spares {
		args := append([]any{"CLUSTER", "ADDSLOTSRANGE"}, ends(&s.had)...)
		errs = append(errs, patient(func() error {
			_, err := s.node.do(args...)
			return busy(err)
		}))
	}
	err := errors.Join(errs...)
	if err == nil {
		m.say("undone: the source is as it was, the target is empty")
	}
	return err
}

// clear ends the following, and empties the node.
func (p *pair) clear() error {
	return patient(func() error {
		_, err := p.to.do("CLUSTER", "FOLLOW", "NO", "ONE")
		if err != nil && !strings.Contains(err.Error(), "follows no other") {
			return err
		}
		if _, err = p.to.do("FLUSHALL"); err == nil {
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

// patient tries again for a while: a node that is loading data, or waits for its lease, refuses.
func patient(try func() error) error {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		err := try()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
