package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"godwit/internal/backlog"
	"godwit/internal/persist"
)

func (e *Engine) needOf(r *Replica) syncNeed {
	return syncNeed{persist.SyncOptions{Target: r.target(e), NoCompress: r.NoCompress,
		NoChecksum: r.NoChecksum, Functions: r.FunctionsOnly},
		(e.Cfg.ReplDisklessSync || r.main != nil) && r.CapEOF}
}

func (e *Engine) replTimeout() time.Duration {
	return time.Duration(e.Cfg.ReplTimeout) * time.Second
}

// beginLoading tells a replica its place in the history, and pins the stream from there on if the
// replica will follow it. It reports false if the backlog does not have that place.
func (e *Engine) beginLoading(r *Replica, at int64) bool {
	if main := cmp.Or(r.main, r); !main.RDBOnly && !e.pin(main, at) {
		return false
	}
	if r.main != nil {
		e.beginBoth(r.main)
	}
	if !r.legacy {
		e.say(r, fmt.Sprintf("+FULLRESYNC %s %d\r\n", e.repl.id, at))
	}
	e.enterState(r, ReplicaLoads)
	return true
}

// sendFile begins to send the replica a file, in the form that it would get a snapshot in.
func (e *Engine) sendFile(r *Replica, file io.Reader, size int64, done func()) {
	mark := ""
	if e.needOf(r).diskless {
		mark = e.hexID(40)
		r.onACK = r.main == nil
	}
	e.transfer(r, fileTransfer(file, size, mark, e.replTimeout()), done)
}

// transfer sends the snapshot to a replica, and calls done, whatever has come of it.
func (e *Engine) transfer(r *Replica, write func(net.Conn, *int64) error, done func()) {
	c, sent := r.Client, int64(0)
	r.conn.Transfer(func(w net.Conn) error { return write(w, &sent) }, func(err error) {
		e.repl.replicas.netOut += sent
		e.Stats.NetOut += sent
		done()
		if c.replica == r {
			e.transferred(r, sent, err)
		} else if r.main != nil { // a replica closes its RDB channel when it has everything
			e.channelDone(r, err)
		}
	})
	e.pushed(c)
}

// transferred follows the end of a transfer to a replica that is still there.
func (e *Engine) transferred(r *Replica, sent int64, err error) {
	if err != nil {
		e.failSync(r, err)
		return
	}
	e.Log.Notice("Synchronization with replica %s succeeded: %d bytes in %d ms", r.Name(), sent,
		e.Steady()-r.since)
	if r.main != nil {
		e.channelDone(r, nil)
	}
	if r.reader == nil { // nothing but the RDB was asked for on this connection
		e.enterState(r, ReplicaLoaded)
		return
	}
	e.enterState(r, ReplicaOnline)
	if r.legacy {
		e.settle(r) // it will not acknowledge anything
	}
	if !r.onACK {
		e.stream(r)
	}
}

// failSync ends the connection of a replica whose synchronization has failed.
func (e *Engine) failSync(r *Replica, err error) {
	if r.Client.CloseASAP {
		return
	}
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() && !errors.Is(err, backlog.ErrStalled) {
		e.Log.Warning("Disconnecting timedout replica (full sync): %s has taken nothing of the "+
			"snapshot for repl-timeout (%d s)", r.Name(), e.Cfg.ReplTimeout)
		e.noteLostSync(r)
	} else {
		e.Log.Warning("Synchronization with replica %s failed: %s", r.Name(), err)
	}
	r.Client.closeSoon()
	if r.main != nil {
		e.channelDone(r, err)
	}
}
