package engine

import "slices"

// maxScriptReply is how large a reply may be that a script gets. What it takes as values is not
// less, and a script may not hold as much.
const maxScriptReply = 640 << 20

// scriptReply collects a large reply to a command of a script. It implements resp.Stage.
type scriptReply struct {
	b       []byte
	dropped bool // it has become too large
}

// Next implements resp.Stage.
func (r *scriptReply) Next(n, more int) []byte {
	at := len(r.b)
	if r.dropped || at+n+more > maxScriptReply {
		r.b, r.dropped = nil, true
		return nil
	}
	r.b = slices.Grow(r.b, n+more)[:at+n]
	return r.b[at:]
}

// Insert implements resp.Stage.
func (r *scriptReply) Insert(n int, b []byte) {
	if !r.dropped {
		r.b = slices.Insert(r.b, len(r.b)-n, b...)
	}
}

// whole returns the reply, which ends with rest, and forgets it. It is empty if it is too large.
func (r *scriptReply) whole(rest []byte) []byte {
	b, dropped := append(r.b, rest...), r.dropped
	*r = scriptReply{}
	if dropped {
		return nil
	}
	return b
}
