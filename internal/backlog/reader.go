package backlog

import "io"

// Reader is a place in a stream. Its methods may be called on any goroutine, but Next and Advance
// on one at a time.
type Reader struct {
	s    *stream
	b    *block // that its place is in; maybe at the end of it
	at   int64
	busy bool // bytes have been handed out: the pin stays until Advance
	gone bool // closed
	why  error
	stop func() // ends a write of what was handed out, nil: it ends by itself
}

// open returns a reader at an offset that the stream still has. The lock must be held.
func (s *stream) open(at int64) *Reader {
	b := s.first
	for b.next != nil && b.next.start <= at {
		b = b.next
	}
	r := &Reader{s: s, b: b, at: at}
	b.pins++
	s.readers = append(s.readers, r)
	return r
}

// Next appends the next bytes to dst, as many pieces as dst has room for, and returns it. The
// pieces are the stream's memory. They are valid until Advance, which must follow, also when
// nothing was taken. Next returns no pieces at the end, and if the reader is closed.
func (r *Reader) Next(dst [][]byte) [][]byte {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.next(dst)
}

func (r *Reader) next(dst [][]byte) [][]byte {
	s, at := r.s, r.at
	if r.gone {
		return dst
	}
	for b := r.b; b != nil && at < s.end && len(dst) < cap(dst); b = b.next {
		end := s.end
		if b.next != nil {
			end = b.next.start
		}
		if at < end {
			dst = append(dst, b.buf.B[at-b.start:end-b.start])
			at = end
		}
	}
	r.busy = at > r.at
	return dst
}

// Advance moves the reader on by n bytes of what Next has returned.
func (r *Reader) Advance(n int) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	r.busy = false
	if r.gone {
		r.unpin()
		return
	}
	r.at += int64(n)
	b := r.b
	for b.next != nil && b.next.start <= r.at {
		b = b.next
	}
	if b != r.b {
		r.b.pins--
		b.pins++
		r.b = b
		s.trim()
	}
	s.cond.Broadcast()
}

// Wait does what Next does, but waits for bytes. The error is io.EOF at the end of a Pipe, or why
// there is nothing more to read.
func (r *Reader) Wait(dst [][]byte) ([][]byte, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case r.gone:
			return nil, r.why
		case s.err != nil:
			return nil, s.err
		}
		if list := r.next(dst); len(list) > len(dst) {
			return list, nil
		}
		if s.over {
			return nil, io.EOF
		}
		s.cond.Wait()
	}
}

// Offset returns the reader's place.
func (r *Reader) Offset() int64 {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.at
}

// Lag returns the number of published bytes that the reader has not read, 0 once it is closed.
func (r *Reader) Lag() int64 {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.gone {
		return 0
	}
	return r.s.end - r.at
}

// Close ends the reader, which lets go what it has pinned. What is being written of it stays until
// Advance. Close may be called on any goroutine, and several times.
func (r *Reader) Close() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if !r.gone {
		r.close(ErrClosed)
	}
}

// Why returns why the reader is closed, nil if it is not.
func (r *Reader) Why() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.why
}

// OnClose has stop called when the reader is closed while its bytes are being written. stop must
// not wait.
func (r *Reader) OnClose(stop func()) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.stop = stop
}

// close closes the reader. The lock must be held.
func (r *Reader) close(why error) {
	s := r.s
	r.gone, r.why = true, why
	for i, x := range s.readers {
		if x == r {
			s.readers = append(s.readers[:i], s.readers[i+1:]...)
			break
		}
	}
	if !r.busy {
		r.unpin()
	} else if r.stop != nil {
		r.stop()
	}
	s.cond.Broadcast()
}

// unpin lets go what a closed reader has pinned. The lock must be held.
func (r *Reader) unpin() {
	if r.b != nil {
		r.b.pins--
		r.b = nil
		r.s.trim()
		r.s.sweep()
	}
}
