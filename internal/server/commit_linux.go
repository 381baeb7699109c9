package server

import (
	"runtime"
	"time"
)

// beside is the way out of a fast disk's shadow. Under appendfsync always a turn ends with a sync, and its replies wait for it. Where the sync takes
// no longer than the loop needs for the system calls of its clients, it runs on a goroutine of its own meanwhile: the loop reads what others send, and
// when the sync is over it runs their commands, begins the next sync, and only then writes the replies that the first one has earned. So disk and processor
// both work all of the time. (On a slow disk fewer, larger syncs are better; see gatherer.)
//
// The executor stays entered from the turn's end to its sync's, so nothing changes for anybody else: who enters next finds a log that is on disk.
type beside struct {
	start   chan struct{} // one for each sync; nil before the first
	done    chan struct{}
	running bool
	first   int // the turn's writes from here on are pushes

	// late are the connections of the turn before, whose replies lie in lateOut and may be written.
	late      []*fdConn
	lateFirst int
	lateOut   []byte
}

const (
	besideClients = 8                    // that send at the same time, at least
	besideCost    = 5 * time.Microsecond // of the sync for each of them, at most
)

// besideWanted decides how the turn's sync is to run.
func (l *loop) besideWanted() bool {
	n := l.gather.expected()
	return l.gather.cost > 0 && n >= besideClients && l.gather.cost <= time.Duration(n)*besideCost && len(l.writes) > 0 &&
		!l.srv.stopping.Load() && len(l.srv.loops) < runtime.GOMAXPROCS(0)
}

// beginBeside begins the sync of the turn that ends. The executor is entered and stays so.
func (l *loop) beginBeside(first int) {
	b := &l.beside
	if b.start == nil {
		b.start, b.done = make(chan struct{}, 1), make(chan struct{}, 1)
		b.lateOut = make([]byte, len(l.out))
		go l.commits()
	}
	b.running, b.first = true, first
	b.start <- struct{}{}
}

// commits is the goroutine: it has the executor from beginBeside to its answer.
func (l *loop) commits() {
	for range l.beside.start {
		l.srv.eng.Commit()
		l.beside.done <- struct{}{}
		l.ev.Wake()
	}
}

// endBeside waits for the sync and leaves the executor. The replies are still to be written.
func (l *loop) endBeside() {
	<-l.beside.done
	l.beside.running = false
	l.gather.cost = l.srv.eng.CommitCost()
	l.closeBroken() // of writeLate
	l.srv.eng.Leave()
}

// land ends a turn whose sync runs beside the loop.
func (l *loop) land() {
	l.endBeside()
	l.writeAll(l.beside.first)
	l.dropBroken()
}

// overlap reads while the sync runs, and runs what came.
func (l *loop) overlap() error {
	b := &l.beside
	for len(b.done) == 0 {
		was := len(l.batch)
		if _, err := l.ev.Poll(-1); err != nil {
			return err
		}
		if !b.running { // the shared buffer was full, and a turn has been
			return nil
		}
		if len(l.batch) == was {
			break // woken, or told of what it cannot take yet
		}
	}
	if len(l.again) == 0 && len(l.batch) == 0 {
		l.land()
		return nil
	}
	l.endBeside()
	l.postpone()
	l.turn()
	return nil
}

// postpone puts the replies of the last turn aside.
func (l *loop) postpone() {
	b := &l.beside
	l.out, b.lateOut = b.lateOut, l.out
	l.writes, b.late = b.late[:0], l.writes
	l.outOff, b.lateFirst = 0, b.first
	for _, c := range b.late {
		c.late = true
	}
}

// writeLate writes the replies that were put aside, but for those that something had to be put behind.
func (l *loop) writeLate() {
	b := &l.beside
	for _, list := range [2][]*fdConn{b.late[b.lateFirst:], b.late[:b.lateFirst]} {
		for i, c := range list {
			list[i] = nil
			if c.late {
				l.writeOne(c)
			}
		}
	}
	b.late, b.lateFirst = b.late[:0], 0
}
