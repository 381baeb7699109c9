package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/stream"
)

// readWalk replies with entries of a stream as an array, without knowing how many they are. Few
// entries are held together until their number is known. If there are more, the others are counted.
//
//	for w.begin(c); w.more; w.next(c, r) {
//		one entry of the reply, the one that w.it is at
//	}
//	w.end(c, r)
type readWalk struct {
	s     *stream.Stream
	it    stream.Iter // at the next entry
	more  bool        // whether there is one
	limit int64       // of entries, 0 for none
	n     int64       // entries of the reply
	at    int         // where the head of the array comes, below 0 once it is there
}

// manyEntries is how many entries of a reply are held together.
const manyEntries = 128

// begin begins the array.
func (w *readWalk) begin(c *engine.Ctx) { w.at = c.Mark() }

// next moves on to the next entry, if there is one and it may be in the reply.
func (w *readWalk) next(c *engine.Ctx, r *streamRead) {
	w.n++
	w.more = w.n != w.limit && !r.full(c) && w.it.Next()
	if w.n >= manyEntries && w.at >= 0 && w.more && r.maxSize == 0 {
		left := int64(math.MaxInt)
		if w.limit > 0 {
			left = w.limit - w.n
		}
		w.head(c, r, w.n+int64(w.s.Count(w.it.ID, stream.MaxID, int(left))))
	}
}

// head puts the number of entries before them.
func (w *readWalk) head(c *engine.Ctx, r *streamRead, n int64) {
	r.insert(c, w.at, '*', int(n))
	w.at = -1
}

// end ends the array.
func (w *readWalk) end(c *engine.Ctx, r *streamRead) {
	if w.at >= 0 {
		w.head(c, r, w.n)
	}
	r.entries += w.n
}
