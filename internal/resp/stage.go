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
//
// Many replies begin with what is known at their end only, such as the number of elements. Mark
// remembers the place, and Insert puts it there, into Buf or into what is staged.

// Stage is where a Writer's large replies go. What it takes comes before what Buf holds from then
// on.
type Stage interface {
	// Next returns the next at most n bytes, at least one, which must all be filled before anything
	// else happens. It is known that at least more bytes follow. Next returns nil if the connection
	// is going to end: then the reply is dropped.
	Next(n, more int) []byte
	// Insert puts a copy of b, which is short, before the last n bytes that Next has returned.
	Insert(n int, b []byte)
}

const (
	// stageFrom is the size in bytes of the smallest Buf that is staged when it is full.
	stageFrom = 64 << 10
	// stageBody is the size in bytes from which a bulk string goes to the Stage by itself.
	stageBody = 16 << 10
	// frame is what the type, the length and the line ends of a bulk string take at most.
	frame = 32
)

// Size returns the number of bytes in Buf and before it.
func (w *Writer) Size() int { return w.Staged + len(w.Buf) }

// Reset drops all replies.
func (w *Writer) Reset() { w.Buf, w.Staged = w.Buf[:0], 0 }

// Spill stages a large Buf, all but its last byte.
func (w *Writer) Spill() {
	last := len(w.Buf) - 1
	if last < stageFrom || w.Stage == nil {
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

// Mark returns where the replies end now, for Insert.
func (w *Writer) Mark() (at int) { return w.Size() }

// Insert puts b, which is short, at a position that Mark has returned, before everything written
// since. It must come before the end of the command. Positions before that one stay right.
func (w *Writer) Insert(at int, b []byte) {
	// Neither an interface nor slices.Insert gets b, because that would make it escape.
	n := len(w.Buf)
	w.Buf = append(w.Buf, b...)
	if at < w.Staged {
		w.Stage.Insert(w.Staged-at, w.Buf[n:])
		w.Staged += len(b)
		w.Buf = w.Buf[:n]
		return
	}
	at -= w.Staged
	copy(w.Buf[at+len(b):], w.Buf[at:n])
	copy(w.Buf[at:], b)
}

// bulkOver appends a bulk string that Buf has no room for. b must not escape: callers have it on
// their stacks.
func bulkOver[T string | []byte](w *Writer, b T) {
	if len(b) < stageBody {
		w.Spill()
		w.Buf = appendBulk(w.Buf, b)
		return
	}
	w.Buf = appendHeader(w.Buf, '$', len(b))
	take(w, w.Buf, len(b)+2)
	take(w, b, 2)
	w.Buf = append(w.Buf[:0], '\r', '\n')
}

func appendBulk[T string | []byte](dst []byte, b T) []byte {
	dst = append(appendHeader(dst, '$', len(b)), b...)
	return append(dst, '\r', '\n')
}
