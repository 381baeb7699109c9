package engine

import (
	"fmt"
	"hash/maphash"
	"slices"

	"godwit/internal/spec"
)

// errUnconfirmed begins the error that a client gets in place of a reply.
const errUnconfirmed = "UNCONFIRMED "

// configureConfirm applies the directives min-replicas-to-ack and min-replicas-ack-*.
func (e *Engine) configureConfirm() {
	f := &e.confirm
	was := f.on
	f.on = e.Cfg.MinReplicasToAck > 0
	if f.on && e.repl.master == nil && !e.loading.on {
		e.ensureBacklog() // offsets count only then
	}
	if n, fsync := e.Cfg.MinReplicasToAck, e.Cfg.MinReplicasAckFsync; n != f.need ||
		fsync != f.fsync {
		f.need, f.fsync, f.upto = n, fsync, 0
	}
	e.noteConfirmed()
	latest := e.Steady() + e.Cfg.MinReplicasAckTimeout
	for i := range f.queue[f.head:] {
		h := &f.queue[f.head+i]
		h.until = min(h.until, latest)
	}
	switch reads := f.on && e.Cfg.MinReplicasAckReads; {
	case reads && f.written == nil:
		f.seed, f.written = maphash.MakeSeed(), make([]int64, ackTable)
		f.floor = e.Feed.Offset()
	case !reads:
		f.written, f.fresh, f.refs = nil, nil, nil
	}
	if f.on != was {
		e.Clients(func(c *Client) bool {
			e.stageReplies(c)
			return true
		})
	}
	e.releaseConfirmed()
}

// stageReplies chooses how large replies go to the client's connection. Those that may be held stay
// whole.
func (e *Engine) stageReplies(c *Client) {
	c.W.Stage = nil
	if c.Conn != nil && !e.confirm.on {
		c.W.Stage = &clientStage{e, c}
	}
}

// writing are the flags of commands whose replies wait. Others may have changed the stream too, by
// what has expired or was evicted before they ran.
const writing = spec.Write | spec.MayReplicate | spec.RunsQueue

// hold takes what the command of c has replied, from W.Buf[at:], if it has to wait. The stream was
// at the offset from when the command began.
func (e *Engine) hold(c *Ctx, at int, from int64) {
	f, cl := &e.confirm, c.Client
	offset := e.Feed.Offset()
	f.noteWritten(offset)
	if c.Writer != &cl.W || len(cl.W.Buf) == at || cl.Conn == nil || cl.Class == ClassReplica {
		return
	}
	on := f.on && e.repl.master == nil && !e.cluster.idle()
	writes := offset > from && c.Cmd != nil && c.Cmd.Flags&writing != 0 && !c.Cmd.Is(spec.PubSub)
	part := heldReply{n: len(cl.W.Buf) - at}
	switch {
	case !on:
	case writes:
		part.offset = offset
	case f.written != nil && !c.failed:
		part.offset = e.unconfirmedRead(c)
	}
	if part.own = part.offset > f.upto; !part.own {
		part.offset = 0
	}
	if cl.held == nil && !part.own {
		return
	}
	// A write that is confirmed is kept, whoever is the master then. What was read must have been
	// read while this node was.
	part.leased = cl.leasing && !(part.own && writes) && !e.LeaseHeld()
	if cl.held == nil {
		cl.held = &unconfirmed{}
	}
	first := cl.held.add(part, cl.W.Buf[at:])
	cl.W.Buf = cl.W.Buf[:at]
	if first {
		e.repl.replicas.ask = true
		f.push(heldBy{cl, part.offset, e.Steady() + e.Cfg.MinReplicasAckTimeout})
		if f.head == len(f.queue)-1 && e.Alarm != nil {
			e.Alarm()
		}
	}
	e.CheckOutput(cl, len(cl.held.buf))
}

// unconfirmedRead returns the offset of what a command has read: that of the last write of one of
// its keys, or of everything if it names no keys, or may read others (SORT … BY).
func (e *Engine) unconfirmedRead(c *Ctx) int64 {
	f, cmd := &e.confirm, c.Cmd
	if cmd == nil {
		return 0
	}
	refs, err := cmd.KeyRefs(f.refs[:0], c.Args)
	f.refs = refs[:0]
	whole := spec.RunsQueue | spec.NoMandatoryKeys
	switch {
	case cmd.Flags&(spec.ReadOnly|spec.Write|whole) == 0:
		return 0
	case err != nil || len(refs) == 0 || cmd.Flags&whole != 0 ||
		slices.ContainsFunc(cmd.Keys, func(k spec.KeySpec) bool { return k.Unknown() }):
		return e.Feed.Offset()
	}
	offset := f.floor
	for _, r := range refs {
		h := maphash.Bytes(f.seed, c.Args[r.Pos])
		offset = max(offset, f.written[h%ackTable])
	}
	return offset
}

// releaseConfirmed lets replies go whose writes enough replicas have. It is called when a replica
// has acknowledged, and when the directives change.
func (e *Engine) releaseConfirmed() {
	f := &e.confirm
	for f.waiting() && (f.queue[f.head].offset <= f.upto || !f.on) {
		e.releaseNext("")
	}
}

// expireUnconfirmed ends the waits whose time is up.
func (e *Engine) expireUnconfirmed() {
	f := &e.confirm
	for f.waiting() && f.queue[f.head].until <= e.Steady() {
		e.releaseNext(fmt.Sprintf("%sApplied here, not confirmed by %d "+
			"replicas within %d ms", errUnconfirmed, e.Cfg.MinReplicasToAck,
			e.Cfg.MinReplicasAckTimeout))
	}
}

// failUnconfirmed answers all who wait with an error: the server is no master any more.
func (e *Engine) failUnconfirmed() {
	f := &e.confirm
	for f.waiting() {
		e.releaseNext(errUnconfirmed + "Applied here, not confirmed by a " +
			"replica before this server stopped being a master")
	}
}

// releaseNext lets the replies go that wait for the first offset of the queue, or for one before
// it. Those that are not confirmed become the error, if there is one.
func (e *Engine) releaseNext(failure string) {
	f := &e.confirm
	h := f.queue[f.head]
	f.queue[f.head] = heldBy{}
	if f.head++; f.head == len(f.queue) {
		f.queue, f.head = f.queue[:0], 0
	}
	u := h.c.held
	if u == nil || !h.c.linked {
		return
	}
	w := &h.c.W
	if w.Buf == nil {
		w.Buf = e.LendBuffer()
	}
	for u.gone < len(u.parts) && u.parts[u.gone].offset <= h.offset {
		p := &u.parts[u.gone]
		unsure := p.own && p.offset > f.upto
		h.c.Leased = h.c.Leased || p.leased || unsure && failure == "" && e.cluster.on
		if unsure && failure != "" {
			e.countError(failure)
			f.timeouts++
			w.Error(failure)
		} else {
			w.Buf = append(w.Buf, u.buf[u.off:u.off+p.n]...)
		}
		u.off += p.n
		u.gone++
	}
	if u.gone == len(u.parts) {
		h.c.held = nil
	} else if u.gone > 64 && u.off > len(u.buf)/2 {
		u.parts = slices.Delete(u.parts, 0, u.gone)
		u.buf = u.buf[:copy(u.buf, u.buf[u.off:])]
		u.gone, u.off = 0, 0
	}
	e.pushed(h.c)
}

// ConfirmInfo is what INFO says of replies that wait for replicas.
type ConfirmInfo struct {
	On       bool
	Offset   int64 // that enough replicas have
	Waiting  int   // replies
	Timeouts int64 // replies that became errors
}

// ConfirmInfo returns how far replicas have confirmed writes.
func (e *Engine) ConfirmInfo() ConfirmInfo {
	f := &e.confirm
	return ConfirmInfo{f.on && e.repl.master == nil, f.upto, len(f.queue) - f.head, f.timeouts}
}
