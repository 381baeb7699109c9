package lua

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"godwit/internal/crash"
)

const (
	// lookEvery is how many steps are run between two looks. That is some 10 µs of simple
	// instructions.
	lookEvery = 1000
	// bytesPerStep is how much memory a step can fill. It is charged as time.
	bytesPerStep = 1024
	// keysPerStep is how many keys of a table can be moved in the time of a step.
	keysPerStep = 8
	// leastRoom is how many bytes a run may allocate even if earlier runs have left no room.
	leastRoom = 64 << 10
	// defaultBound is how much memory the values of a State may take.
	defaultBound = 512 << 20
)

// ErrMemory ends a run that holds more than its bound.
var ErrMemory = errors.New("not enough memory")

// Budget bounds what code takes: time, by asking the host every so many steps whether to go on, and
// memory, by counting what is about to be allocated.
//
// Memory that was allocated may have become garbage since. So when the allocations since the last
// measure could have filled the bound, the exact size of what the State can reach is measured (see
// State.Live), and the run ends only if that is too much. A measure costs time in proportion to
// what is reachable, at most the bound, and the next one comes after the rest of the bound or an
// eighth of it: the cost per allocated byte is constant. It follows that what is reachable exceeds
// the bound by at most an eighth.
//
// What runs leave behind may fill the bound. The next ones are then lent a little, so that one of
// them can free it. All that was lent and not freed is at most a quarter of the bound.
//
// Garbage is left to Go's collector. Collect is called when the process might otherwise hold more
// than five quarters of the bound for the State, and Sweep after a run that has allocated much. Its
// garbage would stay, if it was in use at the last collection, beside what the next runs allocate.
//
// Once a run has ended, Look and Grow fail at once, so that no protected call can go on.
type Budget struct {
	// Left is how many steps may be run until Look must be called. The machine subtracts what it
	// runs, and calls Look when Left is no longer positive.
	Left int
	// Bound is how many bytes may be in use. Begin takes notice of a change.
	Bound int
	// Interrupt is asked by Look whether to go on. Its error ends the run. It may be nil.
	Interrupt func() error
	// Collect makes Go's collector run if the process may hold garbage of more than most bytes. It
	// may call Breathe. It may be nil.
	Collect func(most int)
	// Sweep makes Go's collector run and does not wait for it. It may be nil.
	Sweep func()
	// Roots calls visit for the values that the host holds besides those of the State, so that they
	// are measured. It may be nil.
	Roots func(visit func(Value))
	// Held is how many bytes functions of Go hold in buffers while they call back: these are
	// accounted for, but cannot be measured. They add before the call and subtract after it.
	Held int

	parts recycler
	room  int // bytes that may be allocated until the next measure
	start int // room when taken was last added to
	taken int // bytes that the run has allocated until then
	bound int // when room was set
	over  int // how far the next run's leastRoom exceeds the bound, or 0
	ended error
	live  func() int // measures
}

func (b *Budget) init(live func() int) {
	b.live = live
	b.Bound, b.bound, b.room = defaultBound, defaultBound, defaultBound
	b.Begin()
}

// Begin prepares for a new run. What earlier runs left behind counts on.
func (b *Budget) Begin() {
	b.Left, b.Held, b.ended = lookEvery, 0, nil
	if b.room = max(b.room, 0); b.bound != b.Bound {
		b.bound, b.room, b.over = b.Bound, 0, 0 // measured when something grows
	}
	if b.over > 0 && b.over <= b.bound/4 && b.room < leastRoom {
		b.over += leastRoom - b.room
		b.room = leastRoom
	}
	b.start, b.taken = b.room, 0
}

// finish ends a run, whose values are garbage now unless the host holds them.
func (b *Budget) finish() {
	b.settle()
	if b.taken > b.bound/4 && b.Sweep != nil {
		b.Sweep()
	}
	b.taken = 0
}

// settle adds to what the run has allocated.
func (b *Budget) settle() {
	b.taken += b.start - b.room
	b.start = b.room
}

// Ended returns why the run has ended, or nil.
func (b *Budget) Ended() error { return b.ended }

// End ends the run and returns the reason: the first that was given.
func (b *Budget) End(err error) error {
	if b.ended == nil {
		b.ended = err
	}
	b.settle()
	b.Left, b.room, b.start = 0, -1, -1
	return b.ended
}

// Look asks the host whether to go on. It must be called when Left is no longer positive.
func (b *Budget) Look() error {
	if b.ended != nil {
		return b.End(nil)
	}
	b.Left = lookEvery
	if b.Interrupt != nil {
		if err := b.Interrupt(); err != nil {
			return b.End(err)
		}
	}
	return nil
}

// Spend accounts for work of a function of Go that is worth some steps.
func (b *Budget) Spend(steps int) error {
	if b.Left -= steps; b.Left > 0 {
		return nil
	}
	return b.Look()
}

// Grow accounts for bytes that are about to be allocated. If it fails, the run has ended and
// nothing may be allocated. The time that filling the memory takes is charged to Left, but the host
// is not asked.
func (b *Budget) Grow(bytes int) error {
	b.Left -= bytes / bytesPerStep
	if b.room -= bytes; b.room >= 0 {
		return nil
	}
	return b.measure(bytes)
}

// rehash accounts for a table of so many keys that is about to be laid out anew.
func (b *Budget) rehash(bytes, keys int) error {
	if b == nil {
		return nil
	}
	b.Left -= keys / keysPerStep
	return b.Grow(bytes)
}

// measure decides whether bytes may be allocated.
func (b *Budget) measure(bytes int) error {
	if b.ended != nil {
		return b.End(nil)
	}
	if bytes > b.bound {
		return b.End(ErrMemory)
	}
	live := b.live()
	b.over = max(0, live+leastRoom-b.bound)
	used := live + bytes
	if used > b.bound {
		return b.End(ErrMemory)
	}
	b.settle()
	b.room = max(b.bound-used, b.bound/8)
	b.start = b.room
	if b.Collect != nil {
		b.Collect(b.bound + b.bound/4 - used - b.room)
	}
	if b.ended != nil { // the host was asked meanwhile
		return b.End(nil)
	}
	return nil
}

// Breathe asks the host whether to go on in the middle of work that must be completed. If not, the
// run ends after it.
func (b *Budget) Breathe() {
	if b == nil || b.ended != nil || b.Interrupt == nil {
		return
	}
	if err := b.Interrupt(); err != nil {
		_ = b.End(err) // the next check returns it
	}
}

// aside does work that takes long and touches nothing of the State. Another goroutine does it, so
// that the host can be asked meanwhile whether to go on. If not, the run ends after the work. If
// the work panics, aside does.
func (b *Budget) aside(work func()) {
	done := make(chan struct{})
	var fault any
	go func() {
		defer crash.Guard("work for a script")()
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				fault = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		work()
	}()
	if b.Wait(done); fault != nil {
		panic(fault)
	}
}

// Wait waits for something that goes on beside the run, and asks the host meanwhile.
func (b *Budget) Wait(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
			b.Breathe()
		}
	}
}
