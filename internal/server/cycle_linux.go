package server

// cycle measures the turns of a loop. It needs no reading of the clock of its own: a turn is
// counted when the next one has taken the executor, which reads the clock.
type cycle struct {
	began    int64 // monotonic ns; 0: no turn yet
	waited   int64 // ns that the loop had slept by then
	before   int64 // commands that had run by then; a busy script has turns within a turn
	commands int64 // of the last turn
}

// beginCycle counts the turn before this one, and what has been read and written since. The
// executor must be held.
func (l *loop) beginCycle() {
	e, c := l.srv.eng, &l.cycle
	now, waited := e.MonotonicNanos(), int64(l.ev.Waited())
	if c.began != 0 {
		e.CycleDone(now-c.began-(waited-c.waited), c.commands)
	}
	c.began, c.waited, c.before = now, waited, e.Stats.Commands
	e.Stats.NetOut += l.written
	e.Stats.Writes += l.nwrites
	t := &e.Threads[l.id]
	t.Writes += l.nwrites
	t.Reads += l.nreads
	l.written, l.nwrites, l.nreads = 0, 0, 0
}

// endCycle notes what the turn has done. The executor must be held.
func (l *loop) endCycle() {
	e, c := l.srv.eng, &l.cycle
	c.commands = e.Stats.Commands - c.before
	e.Threads[l.id].Clients = len(l.conns)
}
