package resp

// Large replies
//
// A reply of hundreds of megabytes must not be built in one buffer, which would be copied each time
// it grows. So once Buf is full and large, the Writer hands its bytes to a Stage and goes on with
// an empty Buf:
//
//	Buf   [ "*3\r\n$5\r\nsmall\r\n$1048576\r\n" ]  a large bulk string comes: head and
//	      [ the string's bytes                     ]  body are staged, nothing is copied twice
//	Buf   [ "\r\n"                                 ]  the reply goes on here
//
// While bytes are staged, Buf is not empty at the end of a command, so whoever collects Buf knows
// that there is something to send. A Buf that has room is never staged: small replies cost a
// comparison.

// Stage is where a Writer's large replies go. What it takes comes before what Buf holds from then
// on.
type Stage interface {
	// Next returns the next at most n bytes, at least one, which must all be filled before anything
	// else happens. It is known that at least more bytes follow. Next returns nil if the connection
	// is going to end: then the reply is dropped.
	Next(n, more int) []byte
	// Fits reports whether there is memory for a Buf of n bytes that cannot be staged. If not, the
	// reply is dropped and the connection must end.
	Fits(n int) bool
}

const (
	// stageFrom is the size in bytes of the smallest Buf that is staged when it is full.
	stageFrom = 64 << 10
	// stageBody is the size in bytes from which a bulk string goes to the Stage by itself.
	stageBody = 16 << 10
	// largeReply is the size in bytes from which Fits is asked.
	largeReply = 1 << 20
	// frame is what the type, the length and the line ends of a bulk string take at most.
	frame = 32
)

// Size returns the number of bytes in Buf and before it.
func (w *Writer) Size() int { return w.Staged + len(w.Buf) }

// Reset drops all replies.
func (w *Writer) Reset() { w.Buf, w.Staged = w.Buf[:0], 0 }

// Spill stages a large Buf, all but its last byte. It does nothing while a Mark is set.
func (w *Writer) Spill() {
	last := len(w.Buf) - 1
	if last < stageFrom || w.Stage == nil || w.held {
		return
	}
	take(w, w.Buf[:last], 0)
	w.Buf = append(w.Buf[:0], w.Buf[last])
}

// take stages b, which at least more bytes follow.
func take[T string | []byte](w *Writer, b T, more int) {
	w.Staged += len(b)
	for len(b) > 0 {
		dst := w.Stage.Next(len(b), more)
		if dst == nil {
			return
		}
		b = b[copy(dst, b):]
	}
}

// Mark returns the end of Buf. Until Insert, nothing is staged, so the caller may go back there.
func (w *Writer) Mark() (at int) {
	w.held = true
	return len(w.Buf)
}

// Insert puts b at a position that Mark has returned, before everything written since, and ends the
// Mark.
func (w *Writer) Insert(at int, b []byte) {
	w.held = false
	n := len(w.Buf)
	at = min(at, n)
	// slices.Insert would make b escape.
	w.Buf = append(w.Buf, b...)
	copy(w.Buf[at+len(b):], w.Buf[at:n])
	copy(w.Buf[at:], b)
}

// bulkOver appends a bulk string that Buf has no room for. b must not escape: callers have it on
// their stacks.
func bulkOver[T string | []byte](w *Writer, b T) {
	switch {
	case w.held && !w.fits(len(b)):
	case w.held:
		w.Buf = appendBulk(w.Buf, b)
	case len(b) < stageBody:
		w.Spill()
		w.Buf = appendBulk(w.Buf, b)
	default:
		w.Buf = appendHeader(w.Buf, '$', len(b))
		take(w, w.Buf, len(b)+2)
		take(w, b, 2)
		w.Buf = append(w.Buf[:0], '\r', '\n')
	}
}

func appendBulk[T string | []byte](dst []byte, b T) []byte {
	dst = append(appendHeader(dst, '$', len(b)), b...)
	return append(dst, '\r', '\n')
}

// fits asks before n more bytes are appended to a Buf that gets large.
func (w *Writer) fits(n int) bool {
	if n += len(w.Buf) + frame; n <= largeReply || w.Stage.Fits(n) {
		return true
	}
	w.Buf = w.Buf[:0]
	return false
}
