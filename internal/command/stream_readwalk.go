package command

import (
	"godwit/internal/engine"
	"godwit/internal/stream"
)

// readWalk replies with entries of a stream as an array, without knowing how many they are.
//
//	for w.begin(c); w.more; w.next(c, r) {
//		one entry of the reply, the one that w.it is at
//	}
//	w.end(c, r)
type readWalk struct {
	it    stream.Iter // at the next entry
	more  bool        // whether there is one
	limit int64       // of entries, 0 for none
	n     int64       // entries of the reply
	at    int         // where the head of the array comes
}

// begin begins the array.
func (w *readWalk) begin(c *engine.Ctx) { w.at = c.Mark() }

// next moves on to the next entry, if there is one and it may be in the reply.
func (w *readWalk) next(c *engine.Ctx, r *streamRead) {
	w.n++
	w.more = w.n != w.limit && !r.full(c) && w.it.Next()
}

// end puts the head of the array before the entries.
func (w *readWalk) end(c *engine.Ctx, r *streamRead) {
	insertHead(c, w.at, '*', int(w.n))
	r.entries += w.n
}
