package backlog

import (
	"errors"
	"slices"
	"time"

	"godwit/internal/arena"
	"godwit/internal/crash"
)

var (
	// ErrClosed is the error of a reader that was closed.
	ErrClosed = errors.New("reader closed")
	// ErrNoReaders tells the writer of a Pipe that nobody reads any more.
	ErrNoReaders = errors.New("no readers left")
	// ErrStalled is the error of a reader that took nothing while others waited for more.
	ErrStalled = errors.New("it takes nothing of the snapshot, and other replicas wait")
	errMemory  = errors.New("the system has no memory left")
)

// pipeBlock is the size of a Pipe's blocks.
const pipeBlock = 64 << 10

// Pipe is a stream without history, from one writer to the readers that are there when it begins.
// The writer waits while the slowest of them is too far behind. A reader that does not move at all
// for a while, and others have read everything, is closed.
type Pipe struct {
	stream
	limit int64         // bytes that the slowest reader may be behind
	stall time.Duration // for which it may stand still when others wait
	all   []*Reader
}

// NewPipe returns a Pipe with n readers, nil if the system refuses memory.
func NewPipe(pool *arena.Pool, limit int64, stall time.Duration, n int) *Pipe {
	p := &Pipe{limit: limit, stall: stall}
	if !p.init(pool, 0, pipeBlock) {
		return nil
	}
	for range n {
		p.all = append(p.all, p.open(0))
	}
	return p
}

// Reader returns reader i, counted from 0.
func (p *Pipe) Reader(i int) *Reader { return p.all[i] }

// Write appends a copy of b. It waits until the readers have room for more, and fails when there
// are none left.
func (p *Pipe) Write(b []byte) error {
	p.mu.Lock()
	for p.full() {
		t := time.AfterFunc(p.stall, p.cutStalled(p.end-p.limit))
		p.cond.Wait() // until a reader moves or goes
		t.Stop()
	}
	err := p.writable()
	p.busy = err == nil
	p.mu.Unlock()
	if err != nil {
		return err
	}
	ok := p.put(b)
	p.mu.Lock()
	p.busy = false
	switch err = p.writable(); {
	case p.over:
		p.sweep()
	case !ok:
		err = errMemory
	default:
		p.publish()
	}
	p.mu.Unlock()
	p.cond.Broadcast()
	return err
}

// writable returns why nothing can be written any more, nil if it can. The lock must be held.
func (p *Pipe) writable() error {
	switch {
	case p.err != nil:
		return p.err
	case p.over || len(p.readers) == 0:
		return ErrNoReaders
	}
	return nil
}

// full reports whether the writer must wait. The lock must be held.
func (p *Pipe) full() bool {
	if p.err != nil {
		return false
	}
	for _, r := range p.readers {
		if p.end-r.at > p.limit {
			return true
		}
	}
	return false
}

// cutStalled returns what closes the readers that stand where they stand now, as far as they are
// behind the offset, if others have read everything by then. The lock must be held.
func (p *Pipe) cutStalled(behind int64) func() {
	places := map[*Reader]int64{}
	for _, r := range p.readers {
		if r.at < behind {
			places[r] = r.at
		}
	}
	return func() {
		defer crash.Guard("looking at stalled replicas")()
		p.mu.Lock()
		defer p.mu.Unlock()
		hungry := slices.ContainsFunc(p.readers, func(r *Reader) bool { return r.at == p.end })
		for r, at := range places {
			if hungry && r.at == at && !r.gone {
				r.close(ErrStalled)
			}
		}
	}
}

// End says that nothing follows. Readers read what there is, and then err, or io.EOF if it is nil.
// With an error they do not read what there is. Any goroutine may call End, several times; the
// first call counts.
func (p *Pipe) End(err error) {
	p.mu.Lock()
	if !p.over {
		p.over, p.err = true, err
	}
	p.sweep()
	p.mu.Unlock()
	p.cond.Broadcast()
}
