package server

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/crash"
	"godwit/internal/evloop"
	"godwit/internal/rounds"
)

const (
	// sharedBuffer is the size of a loop's input buffer. The input of one turn lies side by side in
	// it, so a turn over many clients with small requests stays within a few cache lines, and idle
	// clients need no buffers.
	sharedBuffer = 512 << 10
	// outputBuffer is the size of the loop's buffer for replies. Only as much of it is touched as
	// the replies of one turn take.
	outputBuffer = 1 << 20
	// smallTail is the longest incomplete command that is moved into the shared buffer to be
	// continued there. A longer one stays where it is, and the next read is appended to it.
	smallTail = 4 << 10
	// windowOutput is the least room of the shared buffer that a client gets for its replies. What
	// does not fit moves to memory of its own.
	windowOutput = turnOutput
)

// sliceRest is how long a loop with silent clients rests between two slices of background work.
// Without a rest the kernel and Go's scheduler take the loop for a hog: they let it wait for whole
// ticks of 4 ms when others want its core.
const sliceRest = 50 * time.Microsecond

// loop is one epoll loop with its connections. A turn waits, reads what is ready, takes the
// executor, runs everything, releases it and writes the replies. Fields belong to the loop's
// goroutine unless noted.
type loop struct {
	srv *Server
	id  int
	ev  *evloop.Loop

	in, out       []byte
	inOff, outOff int

	batch   []*fdConn // connections with input, or an end, to be handled under the executor
	done    int       // how many of batch are handled or being handled
	writes  []*fdConn // connections with replies to be written after the batch
	streams int       // connections of replicas that follow the stream
	broken  []*fdConn // connections whose socket failed while writing
	spent   [][]byte  // buffers of replies that have been written
	again   []*fdConn // connections whose turn ended before their input did
	vec     [maxVec][]byte
	leases  leases

	conns    []*fdConn // in no order; fdConn.index is the position
	sweep    int       // the next of conns to look after, while timeout is set
	stirred  rounds.Set[*fdConn]
	nextTick int64 // steady ms
	slicing  bool  // background work waits
	within   bool  // a busy script's turn serves others
	gather   gatherer
	busyIn   []byte // input while a script is busy
	timeout  int    // of the next Poll, ms
	written  int64  // bytes and writes since the last turn, for the statistics
	nwrites  int64
	nreads   int64
	cycle    cycle

	posted []*fdConn // connections that others want something of; belongs to the executor

	mu       sync.Mutex // guards arrivals
	arrivals []arrival
}

// arrival is a new connection's descriptor on its way to the loop.
type arrival struct {
	fd   int
	peer peer
}

func newLoop(s *Server, id int) (*loop, error) {
	ev, err := evloop.New()
	if err != nil {
		return nil, err
	}
	if s.opts.OwnProcessors {
		ev.KeepProcessor(func() { go pass() })
	}
	return &loop{srv: s, id: id, ev: ev, in: make([]byte, sharedBuffer),
		out: make([]byte, outputBuffer)}, nil
}

// pass is what a loop makes another thread run: see evloop.
func pass() { defer crash.Guard("passing the poller on")() }

// adopt gives the connection's descriptor to a loop. It is a duplicate, because the net package
// cannot let go of its own; the caller closes nc. Any goroutine may call it.
func (l *loop) adopt(nc net.Conn, p peer) error {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return os.ErrInvalid
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(old uintptr) {
		fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return err
	}
	if dupErr != nil {
		return os.NewSyscallError("fcntl", dupErr)
	}
	l.mu.Lock()
	l.arrivals = append(l.arrivals, arrival{fd, p})
	l.mu.Unlock()
	l.ev.Wake()
	return nil
}

// run runs turns until the server stops.
func (l *loop) run() error {
	for !l.srv.stopping.Load() {
		timeout := time.Duration(l.timeout) * time.Millisecond
		switch {
		case len(l.again) > 0:
			timeout = 0
		case l.slicing && timeout > 0:
			timeout = sliceRest
		}
		if _, err := l.ev.Poll(timeout); err != nil {
			return err
		}
		if err := l.gather.run(l); err != nil {
			return err
		}
		l.turn()
	}
	return nil
}

// turn runs what Poll has collected. It is also called in the middle of a Poll when the shared
// buffer is full.
func (l *loop) turn() {
	s, e := l.srv, l.srv.eng
	e.Enter()
	s.holder = l
	l.beginCycle()
	e.TakeBack(l.spent)
	l.spent = l.spent[:0]
	l.welcome()
	l.takePosted()
	if e.Steady() >= l.nextTick {
		l.tick()
	}
	l.requeue()
	l.gather.begin()
	for l.done = 0; l.done < len(l.batch); {
		c := l.batch[l.done]
		l.done++
		l.gather.count(c)
		c.queued = false
		c.handle()
		if len(l.out)-l.outOff < windowOutput {
			l.spill()
		}
	}
	e.EndWaits()
	busy := len(l.batch) > 0
	l.batch = l.batch[:0]
	l.inOff = 0
	l.timeout = int(min(l.nextTick-e.Steady(), e.UntilTimeout()))
	if l.id == 0 {
		l.slicing = e.Slice()
		if !l.slicing && (!busy || e.Defragging() > 0) {
			l.timeout = min(l.timeout, int(e.NextWake().Milliseconds()))
		}
	}
	l.timeout = max(l.timeout, 0)
	var o order
	o.served = len(l.writes)
	l.takePosted() // clients that waited for what this turn brought
	o.pushed = len(l.writes)
	e.Deliver()
	l.takePosted() // clients that were sent messages
	s.holder = nil
	e.Commit()
	l.checkLease()
	l.gather.cost = e.CommitCost()
	l.endCycle()
	e.Leave()
	l.writeAll(o)
	if len(l.broken) > 0 {
		e.Enter()
		for _, c := range l.broken {
			c.close()
		}
		e.Leave()
		clear(l.broken)
		l.broken = l.broken[:0]
	}
}

// spill ends the batch so far, writes its replies and begins another batch, because the buffer for
// replies is full.
func (l *loop) spill() {
	l.srv.holder = nil
	l.srv.eng.Commit()
	l.checkLease()
	l.srv.eng.Leave()
	l.writeAll(order{})
	l.srv.eng.Enter()
	l.srv.holder = l
}

// lent reports whether b is the part of the buffer for replies that was lent to the client being
// handled.
func (l *loop) lent(b []byte) bool {
	return cap(b) > 0 && l.outOff < len(l.out) && &b[:1][0] == &l.out[l.outOff]
}

// order says where a turn's list of writes begins to hold clients that were served after waiting,
// and clients that were pushed something.
type order struct{ served, pushed int }

// writeAll writes the replies of the batch. The executor is free meanwhile. Replicas come first:
// what a client has an answer to is then on its way to them, even if the process is killed.
// Clients that had waited come next, because they have waited longest. Clients that are pushed
// messages come last: writing to them may take a system call for each of many, and meanwhile the
// clients that have their replies send more, so that the next turn is larger.
func (l *loop) writeAll(o order) {
	if l.streams > 0 {
		l.writeStreams()
	}
	l.writeSome(l.writes[o.served:o.pushed])
	l.writeSome(l.writes[:o.served])
	l.writeSome(l.writes[o.pushed:])
	l.writes = l.writes[:0]
	l.outOff = 0
}

func (l *loop) writeSome(list []*fdConn) {
	for i, c := range list {
		if c == nil {
			continue // a replica, see writeStreams
		}
		c.dirty = false
		list[i] = nil
		if !c.closed && !c.write() {
			l.broken = append(l.broken, c)
		}
	}
}

// writeStreams writes to the replicas.
func (l *loop) writeStreams() {
	for i, c := range l.writes {
		if c.feed.stream != nil {
			l.writeSome(l.writes[i : i+1])
		}
	}
}

// requeue adds the connections whose turn ended early to the batch, after those with fresh input.
func (l *loop) requeue() {
	for i, c := range l.again {
		l.again[i] = nil
		c.waiting = false
		c.enqueue()
	}
	l.again = l.again[:0]
}

// takePosted does what the engine asked of connections: flush replies, resume input, or end.
func (l *loop) takePosted() {
	for i := 0; i < len(l.posted); i++ {
		c := l.posted[i]
		c.posted = false
		switch {
		case c.closed:
		case c.running: // its busy script's turn takes care of it
		case c.cl.CloseASAP:
			c.close()
		default:
			c.collect(false)
			if (len(c.in) > 0 || c.kept != nil) && !c.held() && !c.ending {
				c.again()
			}
		}
	}
	clear(l.posted)
	l.posted = l.posted[:0]
}

// welcome makes clients of the connections that have arrived.
func (l *loop) welcome() {
	l.mu.Lock()
	list := l.arrivals
	l.arrivals = nil
	l.mu.Unlock()
	for _, a := range list {
		c := &fdConn{loop: l, fd: a.fd, index: len(l.conns)}
		c.srv = l.srv
		c.q.pool = l.srv.eng.Buffers
		a.peer.fd = a.fd
		cl, refusal := l.srv.admit(c, a.peer)
		if cl == nil {
			evloop.Write(a.fd, []byte(refusal))
			unix.Close(a.fd)
			a.peer.dropKept()
			continue
		}
		c.cl, cl.Loop = cl, l.id
		l.conns = append(l.conns, c)
		l.stirred.Stir(c)
		if a.peer.link != nil {
			c.keep(a.peer.rest, 0, 0)
			c.kept = a.peer.kept
			c.again()
			l.srv.eng.AckMaster()
		}
		if err := l.ev.Add(a.fd, c, c.events()); err != nil {
			l.srv.log.Warning("Error registering fd event for the new client: %s (fd=%d)", err,
				a.fd)
			c.close()
		}
	}
}

// tick does the periodic work: on the first loop the engine's, and on each loop the care for a
// share of its connections, so that each has its turn every second. Connections at rest are left
// alone unless timeout may close them.
func (l *loop) tick() {
	s := l.srv
	hz := int64(s.eng.CronHz())
	l.nextTick = s.eng.Steady() + 1000/hz
	if l.id == 0 {
		s.cron()
	}
	if s.eng.Cfg.Timeout == 0 {
		l.stirred.Visit(l.stirred.Share(int(hz)), (*fdConn).care)
		return
	}
	for n := len(l.conns)/int(hz) + 1; n > 0 && len(l.conns) > 0; n-- {
		if l.sweep >= len(l.conns) {
			l.sweep = 0
		}
		c := l.conns[l.sweep]
		l.sweep++
		c.care()
	}
}

// close closes the loop's connections and descriptors. All loops must have stopped, and the
// executor must not be held.
func (l *loop) close() {
	l.srv.eng.Enter()
	l.welcome()
	for len(l.conns) > 0 {
		l.conns[len(l.conns)-1].close()
	}
	l.srv.eng.Leave()
	_ = l.ev.Close() // nothing is left that an error could concern
}
