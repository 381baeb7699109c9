package persist

import (
	"sync"

	"godwit/internal/crash"
	"godwit/internal/object"
)

// Dest is where the bytes of a snapshot go: a file, a socket. A Queue calls it from its own
// goroutine, one call at a time.
type Dest interface {
	// Write takes the next bytes, in order; it must not keep p.
	Write(p []byte) error
	// WriteString takes the bytes of a long string. It reads them with Read, once.
	WriteString(f *object.FrozenString) error
	// Commit is called after the last Write, if all succeeded. It makes what was written valid, and
	// a file durable.
	Commit() error
	// Abort is called instead of Commit, and also after a Commit that failed. It throws away what
	// was written.
	Abort()
}

const (
	chunkBytes = 64 << 10 // of a buffer when it is handed over
	queueBytes = 4 << 20  // above that the snapshot's walk waits
	spareMax   = queueBytes / chunkBytes / 2
)

// Queue hands bytes from the executor to a goroutine that writes them, so that no client waits for
// a disk. It takes everything that it is given. A caller that can wait asks Full first.
type Queue struct {
	mu     sync.Mutex
	cond   sync.Cond // signalled when chunks come, go or the state changes
	dest   Dest
	wake   func() // called when Full has turned false, a long string is written, or all is over
	chunks []chunk
	spare  [][]byte
	bytes  int // waiting
	copied int // the same without long strings
	wasFull,
	closed, aborted, over bool
	err error
}

// chunk is a part of the stream: some bytes, and a long string that follows them, if f is not nil.
type chunk struct {
	b []byte
	f *object.FrozenString
}

func (c chunk) len() int {
	if c.f == nil {
		return len(c.b)
	}
	return len(c.b) + c.f.Len()
}

// NewQueue starts the goroutine. The goroutine calls wake, which may be nil, whenever the executor
// has a reason to go on.
func NewQueue(dest Dest, wake func()) *Queue {
	q := &Queue{dest: dest, wake: wake}
	q.cond.L = &q.mu
	go q.run()
	return q
}

// Buffer returns an empty buffer to be filled and handed over.
func (q *Queue) Buffer() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.spare); n > 0 {
		b := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return b[:0]
	}
	return make([]byte, 0, chunkBytes+chunkBytes/8)
}

// Write hands the chunk over; it belongs to the queue then.
func (q *Queue) Write(c chunk) {
	q.mu.Lock()
	q.chunks = append(q.chunks, c)
	q.bytes += c.len()
	q.copied += len(c.b)
	q.mu.Unlock()
	q.cond.Broadcast()
}

// Full reports whether so much is waiting that the caller should wait too.
func (q *Queue) Full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wasFull = q.bytes >= queueBytes && q.err == nil
	return q.wasFull
}

// Beyond returns the bytes in Go's heap that wait beyond those for which the caller was told that
// the queue is full: what could not wait, for a destination that is slow.
func (q *Queue) Beyond() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(max(q.copied-queueBytes, 0))
}

// WaitRoom blocks while the queue is full.
func (q *Queue) WaitRoom() {
	q.mu.Lock()
	for q.bytes >= queueBytes && q.err == nil && !q.over {
		q.cond.Wait()
	}
	q.mu.Unlock()
}

// Close says that nothing follows: what waits is written, then committed.
func (q *Queue) Close() { q.end(&q.closed) }

// Abort throws away what waits and what was written. It does not wait for that; Wait does.
func (q *Queue) Abort() { q.end(&q.aborted) }

func (q *Queue) end(state *bool) {
	q.mu.Lock()
	*state = true
	q.mu.Unlock()
	q.cond.Broadcast()
}

// Err returns the first error of the destination so far.
func (q *Queue) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// Over reports whether the destination was committed or aborted, and returns the error if something
// went wrong.
func (q *Queue) Over() (over bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.over, q.err
}

// Wait blocks until all is over.
func (q *Queue) Wait() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.over {
		q.cond.Wait()
	}
	return q.err
}

// run is the body of the goroutine.
func (q *Queue) run() {
	defer crash.Guard("writing a snapshot")()
	for {
		c, ok := q.next()
		if !ok {
			break
		}
		q.done(c, q.write(c))
	}
	q.mu.Lock()
	commit, err := !q.aborted && q.err == nil, q.err
	q.mu.Unlock()
	if commit {
		err = q.dest.Commit()
	}
	if !commit || err != nil {
		q.dest.Abort()
	}
	if !commit && err == nil {
		err = ErrCancelled
	}
	q.mu.Lock()
	q.over, q.err, q.chunks, q.spare, q.bytes, q.copied = true, err, nil, nil, 0, 0
	q.mu.Unlock()
	q.cond.Broadcast()
	q.call()
}

// write hands a chunk to the destination.
func (q *Queue) write(c chunk) (err error) {
	if len(c.b) > 0 {
		err = q.dest.Write(c.b)
	}
	if c.f != nil {
		if err == nil {
			err = q.dest.WriteString(c.f)
		}
		c.f.Close()
	}
	return err
}

// next waits for a chunk; there is none when the end has come.
func (q *Queue) next() (c chunk, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.chunks) == 0 && !q.closed && !q.aborted && q.err == nil {
		q.cond.Wait()
	}
	if q.aborted || q.err != nil || len(q.chunks) == 0 {
		return c, false
	}
	return q.chunks[0], true
}

// done takes a written chunk from the queue. An error counts unless the rest has been called off:
// then it is most likely a string that has been thawed.
func (q *Queue) done(c chunk, err error) {
	q.mu.Lock()
	q.chunks[0] = chunk{}
	q.chunks = q.chunks[1:]
	q.bytes -= c.len()
	q.copied -= len(c.b)
	if cap(c.b) >= chunkBytes && cap(c.b) <= 2*chunkBytes && len(q.spare) < spareMax {
		q.spare = append(q.spare, c.b)
	}
	if err != nil && !q.aborted {
		q.err = err
	}
	call := (q.wasFull && q.bytes < queueBytes/2) || c.f != nil // which can be thawed now
	if q.bytes < queueBytes/2 {
		q.wasFull = false
	}
	q.mu.Unlock()
	q.cond.Broadcast()
	if call || err != nil {
		q.call()
	}
}

func (q *Queue) call() {
	if q.wake != nil {
		q.wake()
	}
}
