package backlog

import (
	"errors"

	"godwit/internal/arena"
)

var (
	// ErrClosed is the error of a reader that was closed.
	ErrClosed = errors.New("reader closed")
	// ErrNoReaders tells the writer of a Pipe that nobody reads any more.
	ErrNoReaders = errors.New("no readers left")
	errMemory    = errors.New("the system has no memory left")
)

// pipeBlock is the size of a Pipe's blocks.
const pipeBlock = 64 << 10

// Pipe is a stream without history, from one writer to the readers that are there when it begins.
// The writer waits while the slowest of them is too far behind.
type Pipe struct {
	stream
	limit int64 // bytes that the slowest reader may be behind
	all   []*Reader
}

// NewPipe returns a Pipe with n readers, nil if the system refuses memory.
func NewPipe(pool *arena.Pool, limit int64, n int) *Pipe {
	p := &Pipe{limit: limit}
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
	for len(p.readers) > 0 && p.end-p.slowest() > p.limit && p.err == nil {
		p.cond.Wait()
	}
	err := p.err
	if len(p.readers) == 0 && err == nil {
		err = ErrNoReaders
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if !p.put(b) {
		return errMemory
	}
	p.mu.Lock()
	p.publish()
	p.mu.Unlock()
	p.cond.Broadcast()
	return nil
}

// slowest returns the offset of the reader that is behind all others.
func (p *Pipe) slowest() int64 {
	at := p.end
	for _, r := range p.readers {
		at = min(at, r.at)
	}
	return at
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
