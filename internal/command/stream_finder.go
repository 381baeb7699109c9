package command

import "godwit/internal/stream"

// entryFinder finds entries of a stream. It is quick if they are asked for by ascending ID and lie
// near each other, as those do that a group has pending: it then walks from one to the next.
type entryFinder struct {
	s    *stream.Stream
	it   stream.Iter
	here bool // it is at an entry
}

// findSteps is how many entries are passed before it is quicker to search.
const findSteps = 8

// find reports whether there is an entry with that ID. Then it is at the entry.
func (f *entryFinder) find(id stream.ID) bool {
	for range findSteps {
		if !f.here || !f.it.ID.Less(id) {
			break
		}
		f.here = f.it.Next()
	}
	if !f.here || f.it.ID != id {
		f.it = f.s.Range(id, stream.MaxID, false)
		f.here = f.it.Next()
	}
	return f.here && f.it.ID == id
}
