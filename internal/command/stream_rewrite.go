package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/stream"
)

// rewriter has room for the arguments that XADD and XTRIM are propagated with. It belongs to a
// table.
type rewriter struct {
	argv      [][]byte
	id, bound [idText]byte
}

// keptArgs bounds how many arguments a rewriter keeps room for.
const keptArgs = 1024

// propagate sends the command as it is to be repeated elsewhere: with the ID o.id, if it has been
// chosen here, and with what approximate trimming has come to, because elsewhere the nodes may be
// others. What becomes of references is said by other commands. With ACKED, entries before the
// bound may have stayed, and only the length tells how many have gone; unless one was passed over
// that stays, and then they are deleted one by one.
func (o *streamOptions) propagate(c *engine.Ctx, r *rewriter, s *stream.Stream,
	effects *refEffects) {
	if !o.auto && !o.autoSeq && !o.bound.Approx && o.refsAt == 0 || !c.Propagating() {
		return // as it came
	}
	adds := o.idAt < len(c.Args)
	gaps := effects.gaps(s)
	if adds || !gaps {
		o.rewrite(c, r, s, gaps)
		c.PropagateEach(r.argv...)
		clear(r.argv)
		if cap(r.argv) > keptArgs {
			r.argv = nil
		}
	}
	effects.propagateAcks(c, s)
	if gaps {
		effects.propagateGaps(c, s)
	}
}

// rewrite puts the arguments together. plain says that there is to be no trimming.
func (o *streamOptions) rewrite(c *engine.Ctx, r *rewriter, s *stream.Stream, plain bool) {
	r.argv = append(r.argv[:0], c.Args...)
	if o.auto || o.autoSeq {
		r.argv[o.idAt] = o.id.Append(r.id[:0])
	}
	if !plain && o.trim != trimNone && (o.bound.Approx || o.refs == refsAcked) {
		o.rewriteBound(r, s)
	}
	if o.refsAt == 0 {
		return
	}
	n := 0
	for i, arg := range r.argv {
		trims := o.trim != trimNone && o.trimAt <= i && i <= o.at ||
			o.limitAt > 0 && o.limitAt <= i && i <= o.limitAt+1
		if i != o.refsAt && !(plain && trims) {
			r.argv[n] = arg
			n++
		}
	}
	clear(r.argv[n:])
	r.argv = r.argv[:n]
}

// rewriteBound puts the bound that trimming has come to among the arguments.
func (o *streamOptions) rewriteBound(r *rewriter, s *stream.Stream) {
	if o.at-1 > o.trimAt {
		r.argv[o.at-1] = wordEqual
	}
	if o.trim == trimMinID && o.refs != refsAcked {
		first := stream.MaxID
		if s.Len() > 0 {
			first = s.First()
		}
		r.argv[o.at] = first.Append(r.bound[:0])
		return
	}
	r.argv[o.trimAt] = wordMaxLen
	r.argv[o.at] = strconv.AppendInt(r.bound[:0], int64(s.Len()), 10)
}

var (
	wordEqual  = []byte("=")
	wordMaxLen = []byte("MAXLEN")
)

// refEffects collects what a policy for references has come to, in words that Redis 7.0 knows.
type refEffects struct {
	on      bool // else nothing is collected: nobody listens, or references stay
	acked   map[*stream.Group][]stream.ID
	removed []stream.ID
}

// drop notes that a group has an entry pending no more.
func (f *refEffects) drop(g *stream.Group, id stream.ID) {
	if !f.on {
		return
	}
	if f.acked == nil {
		f.acked = map[*stream.Group][]stream.ID{}
	}
	f.acked[g] = append(f.acked[g], id)
}

// remove notes that an entry was removed.
func (f *refEffects) remove(id stream.ID) {
	if f.on {
		f.removed = append(f.removed, id)
	}
}

// gaps reports whether trimming has removed an entry behind one that has stayed.
func (f *refEffects) gaps(s *stream.Stream) bool {
	n := len(f.removed)
	return n > 0 && s.Len() > 0 && s.First().Less(f.removed[n-1])
}

// propagateAcks sends what groups have pending no more.
func (f *refEffects) propagateAcks(c *engine.Ctx, s *stream.Stream) {
	if len(f.acked) == 0 {
		return
	}
	for _, g := range s.Groups() {
		if ids := f.acked[g]; len(ids) > 0 {
			sendIDs(newManyArgs(c, wordXAck, c.Args[1], []byte(g.Name)), ids)
		}
	}
}

// propagateDeletions sends the entries that were removed as deletions.
func (f *refEffects) propagateDeletions(c *engine.Ctx) {
	if len(f.removed) > 0 {
		sendIDs(newManyArgs(c, []byte("XDEL"), c.Args[1]), f.removed)
	}
}

func sendIDs(m *manyArgs, ids []stream.ID) {
	for _, id := range ids {
		m.text = id.Append(m.text)
		m.added()
	}
	m.end()
}

// propagateGaps sends what trimming has removed as deletions. Those move the largest ID that was
// deleted, as trimming does not, so it is set back. Redis cannot set it back to 0-0, but to 0-1.
func (f *refEffects) propagateGaps(c *engine.Ctx, s *stream.Stream) {
	f.propagateDeletions(c)
	if !s.MaxDeleted.Less(f.removed[len(f.removed)-1]) {
		return
	}
	back := func(deleted ...[]byte) {
		argv := [][]byte{[]byte("XSETID"), c.Args[1], s.LastID.Append(nil),
			[]byte("ENTRIESADDED"), strconv.AppendUint(nil, s.Added, 10)}
		c.PropagateEach(append(argv, deleted...)...)
	}
	word := []byte("MAXDELETEDID")
	if !s.MaxDeleted.IsZero() {
		back(word, s.MaxDeleted.Append(nil))
		return
	}
	least := stream.ID{Seq: 1}.Append(nil)
	back(word, least)
	back(word, least, word, s.MaxDeleted.Append(nil)) // means nothing to Redis
}
