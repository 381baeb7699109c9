package server

import (
	"bytes"

	"godwit/internal/engine"
)

// serveBusy runs a turn within the turn that runs a busy script. It first completes the outer
// turn's batch, whose input is in the shared buffer. The running script's arguments are there too,
// so new input is read into a buffer of its own. Replies go through the shared buffer; the first
// time, the replies of the script's client are taken out of it.
func (l *loop) serveBusy(busy *engine.Client) {
	if l.within {
		return
	}
	l.within = true
	if l.lent(busy.W.Buf) {
		busy.W.Buf = bytes.Clone(busy.W.Buf)
	}
	l.runBatch()
	in, off := l.in, l.inOff
	if l.busyIn == nil {
		l.busyIn = make([]byte, 2*(windowInput+smallTail))
	}
	l.in, l.inOff = l.busyIn, 0
	_, _ = l.ev.Poll(0) // the loop's own Poll will see an error again
	l.welcome()         // after the Poll, which has taken note of their Wake
	l.runBatch()
	l.in, l.inOff = in, off
	l.within = false
}

// runBatch runs what waits in the batch and writes the replies.
func (l *loop) runBatch() {
	l.takePosted()
	l.requeue()
	for l.done < len(l.batch) {
		c := l.batch[l.done]
		l.done++
		c.queued = false
		if c.running { // its socket has failed; its own turn closes it
			c.cl.CloseASAP = true
			continue
		}
		c.handle()
		if len(l.out)-l.outOff < windowOutput {
			l.srv.eng.Commit()
			l.checkLease()
			l.writeAll(order{})
		}
	}
	l.srv.eng.Commit()
	l.checkLease()
	l.writeAll(order{})
	for i, c := range l.broken {
		if c.running {
			c.cl.CloseASAP = true
		} else {
			c.close()
		}
		l.broken[i] = nil
	}
	l.broken = l.broken[:0]
}
