package engine

import (
	"strconv"

	"godwit/internal/invariant"
	"godwit/internal/resp"
)

// Applied counts the bytes of the master's command that has just run, and passes them on to the
// replicas of this server, see applied. Those of a transaction count when its EXEC has run: a link
// that is cut in the middle goes on before the MULTI.
func (e *Engine) Applied(c *Client, text []byte) {
	m := e.repl.master
	if m == nil || m.client != c {
		return // the command has made the server a master
	}
	if e.failedFollowed() {
		return
	}
	if c.multi != nil {
		e.SettleApplied()
		m.pending = append(m.pending, text...)
		return
	}
	if len(m.pending) > 0 {
		e.relay(m.pending)
		if m.pending = m.pending[:0]; cap(m.pending) > keepPending {
			m.pending = nil
		}
	}
	a := &e.applied
	switch n := len(a.text); {
	case n == 0:
		a.text = text
	case n < cap(a.text) && &a.text[:n+1][n] == &text[0]: // it lies behind what came before it
		a.text = a.text[:n+len(text)]
	default:
		e.relay(a.text)
		a.text = text
	}
	if invariant.Enabled || e.confirm.on {
		e.SettleApplied() // the text is about to be overwritten; replies are held by the offset
	}
}

// keepPending bounds the memory that one transaction leaves to the next.
const keepPending = 64 << 10

// AckMaster tells the master how far this server is, and how much of that is on disk.
func (e *Engine) AckMaster() {
	m := e.repl.master
	if m == nil || m.client == nil || m.old {
		return
	}
	offset := e.Feed.Offset()
	var num, fnum [20]byte
	argv := [][]byte{ackWords[0], ackWords[1], strconv.AppendInt(num[:0], offset, 10)}
	if e.LogOn() {
		argv = append(argv, ackWords[2], strconv.AppendInt(fnum[:0], m.fack.at(e), 10))
	}
	c := m.client
	c.W.Buf = resp.AppendCommand(c.W.Buf, argv...)
	c.Conn.Flush()
	m.ackedAt = e.Steady()
}

var ackWords = [][]byte{[]byte("REPLCONF"), []byte("ACK"), []byte("FACK")}

// ackSynced tells the master at once that what it has asked for is on disk now.
func (e *Engine) ackSynced() {
	if m := e.repl.master; m.client != nil && m.fack.reached(e) {
		e.AckMaster()
	}
}

// reached reports whether more is on disk than the master knows.
func (f *fackState) reached(e *Engine) bool {
	return f.marked && e.LogOn() && f.log <= e.persist.aof.Synced()
}

// at returns the replication offset up to which the log is on disk, as far as is known.
func (f *fackState) at(e *Engine) int64 {
	log := e.persist.aof
	synced := log.Synced()
	if f.marked && f.log <= synced {
		f.synced, f.marked = f.mark, false
	}
	if now := log.Offset(); now <= synced {
		f.synced, f.marked = e.Feed.Offset(), false
	} else if !f.marked {
		f.mark, f.log, f.marked = e.Feed.Offset(), now, true
	}
	return f.synced
}
