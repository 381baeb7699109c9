package server

import (
	"godwit/internal/arena"
	"godwit/internal/engine"
	"godwit/internal/invariant"
	"godwit/internal/resp"
)

const (
	// turnOutput ends a client's turn once that many bytes of replies wait: they are written before
	// it goes on, so that a pipeline of large replies costs the memory of one piece of it.
	turnOutput = 1 << 20
	// turnMs ends a client's turn when its commands have run that long: a pipeline of slow commands
	// does not lock others out.
	turnMs = 2
	// stepInput is how far the buffer of a large argument grows on a client's word alone.
	stepInput = 1 << 20
	// windowInput is how much one read takes from a socket.
	windowInput = 64 << 10
)

// session is what a connection is whatever carries its bytes: the client, the parser, and the input
// that no command has consumed yet. It belongs to the executor; an epoll loop, which alone touches
// its connections' input, also reads into in without it.
//
// The input lies where Go's collector does not see who still looks at it, so there is one rule:
// while run is under way, the input is run's. Arguments are slices of it, those of the running
// command and of the ones read ahead. A busy script gives the executor to others in the middle of
// run; until run has returned nobody reads into the connection's input, moves it or gives it back,
// and nobody closes the connection. What the client sends meanwhile stays in the socket. Loops and
// goroutines look at running for that; reserve, drop and letGo check it.
type session struct {
	srv    *Server
	cl     *engine.Client
	parser resp.Parser
	in     []byte
	inBuf  arena.Buffer // what in lies in, once it is larger than engine.SmallInput
	peak   int          // longest in since the last sweep
	more   bool

	running bool // run is under way
}

// run executes the commands at the start of buf, until none is complete or the client's turn is
// over, and returns the bytes that are done with. more is set when what is left may hold a complete
// command. The executor is held.
func (s *session) run(buf []byte) (n int) {
	s.more, s.running = false, true
	s.cl.LastUsed = s.srv.eng.Steady()
	for n < len(buf) {
		done, ok := s.runSome(buf[n:])
		n += done
		if !ok {
			break
		}
	}
	s.running = false
	return n
}

// runSome executes the first commands of buf: one, or as many of a pipeline as are read ahead
// together. It returns the bytes that are done with and whether the client may go on.
func (s *session) runSome(buf []byte) (n int, ok bool) {
	cl := s.cl
	a := &s.srv.ahead
	err := a.fill(s, buf)
	for i := 0; i < a.n; i++ {
		argv, used := a.command(i)
		if !s.srv.eng.Exec(cl, argv) {
			s.reread(a, i)
			return n, false
		}
		n += used
		if invariant.Enabled {
			spoil(argv)
		}
		if cl.CloseAfterReply || cl.CloseASAP {
			return len(buf), false
		}
		if s.held() {
			s.reread(a, i+1)
			return n, false
		}
		if len(cl.W.Buf) >= turnOutput || s.srv.eng.Steady() >= cl.LastUsed+turnMs {
			s.more = n < len(buf)
			s.reread(a, i+1)
			return n, false
		}
	}
	if err != nil {
		s.srv.eng.ProtocolError(cl, protocolError(err))
		return len(buf), false
	}
	return n, a.n > 0
}

// reread makes the parser forget what it had read behind command i: that will be offered to it
// again.
func (s *session) reread(a *ahead, i int) {
	if i < a.n || a.partial {
		s.parser.Reset()
	}
}

// spoil overwrites arguments whose command is done: whoever kept one instead of copying it is found
// out.
func spoil(argv [][]byte) {
	for _, a := range argv {
		for i := range a {
			a[i] = 0xdd
		}
	}
}

func protocolError(err error) *resp.ProtocolError {
	pe, ok := err.(*resp.ProtocolError)
	invariant.Check(ok, "parser error of type %T", err)
	return pe
}

// held reports whether input is to be kept, not run.
func (s *session) held() bool { return s.cl.Postponed() || s.cl.Waits() }

// free checks that the input may be changed.
func (s *session) free() {
	invariant.Check(!s.running, "the input of a running command is taken from it")
}

// received accounts for n bytes that came with one read.
func (s *session) received(n int) {
	s.cl.NetIn += int64(n)
	s.srv.eng.Stats.NetIn += int64(n)
	s.srv.eng.Stats.Reads++
}

// room makes place in the session's own buffer for the next read. When the parser knows how much an
// argument needs, the buffer grows to that in steps of at most four times what has arrived: a
// client that only announces a large argument gets little for it, and one that sends it has at most
// a third of it copied. It reports false when the connection has to end.
func (s *session) room() bool {
	have := len(s.in)
	want := have + min(max(have, 4<<10), windowInput)
	if need := s.parser.Need(); need > have {
		want = min(need, max(4*have, stepInput))
	}
	if cap(s.in) >= want {
		return true
	}
	// Growing by a share of what is there keeps the copying linear, however many arguments a
	// command has.
	return s.reserve(max(want, have+have/4))
}

// reserve gives in room for n bytes. It reports false when the connection has to end.
func (s *session) reserve(n int) bool {
	s.free()
	switch pool := s.srv.eng.Buffers; {
	case cap(s.in) >= n:
	case s.inBuf.Held():
		s.inBuf.B = s.inBuf.B[:len(s.in)]
		if !pool.Grow(&s.inBuf, n) {
			return s.noMemory()
		}
		s.in = s.inBuf.B
	case n <= engine.SmallInput:
		s.in = append(make([]byte, 0, n), s.in...) // no larger: see engine.SmallInput
	default:
		buf := pool.Get(n)
		if !buf.Held() {
			return s.noMemory()
		}
		s.in = buf.B[:copy(buf.B, s.in)]
		s.inBuf = buf
	}
	return true
}

// noMemory reports false for a connection that has to end because the system refuses memory for it.
func (s *session) noMemory() bool {
	s.srv.log.Warning("Closing client: the system has no memory left for its buffers (addr=%s)", s.cl.Addr)
	return false
}

// letGo gives the memory of in back. No argument may alias it any more.
func (s *session) letGo() {
	s.free()
	s.in = nil
	s.srv.eng.Buffers.Put(&s.inBuf)
}

// keep stores what run left of buf, which is not s.in: its first old bytes are a copy of s.in.
func (s *session) keep(buf []byte, old, n int) {
	if n == 0 {
		buf = buf[old:]
	} else {
		s.in, buf = s.in[:0], buf[n:]
	}
	if !s.reserve(len(s.in) + len(buf)) {
		s.cl.CloseASAP = true
		return
	}
	s.in = append(s.in, buf...)
	s.peak = max(s.peak, len(s.in))
}

// drop removes the first n bytes of in.
func (s *session) drop(n int) {
	s.free()
	s.peak = max(s.peak, len(s.in))
	s.in = s.in[:copy(s.in, s.in[n:])]
}

// shrink gives memory back that the session has not used since the last call.
func (s *session) shrink() {
	if s.running {
		return
	}
	if len(s.in) == 0 && cap(s.in) > 4*s.peak {
		s.letGo()
		s.parser.Reset()
	}
	s.peak = len(s.in)
}

// checkInput closes a client whose unprocessed input is over client-query-buffer-limit. What waits
// for EXEC is such input.
func (s *session) checkInput() {
	if int64(len(s.in))+s.cl.QueuedBytes() <= s.srv.eng.Cfg.QueryBufLimit {
		return
	}
	head := engine.AppendQuoted(nil, s.in[:min(len(s.in), 64)])
	s.srv.log.Warning("Closing client that reached max query buffer length: %s (qbuf initial bytes: %s)", s.srv.eng.Describe(s.cl, 0), head)
	s.srv.eng.Stats.ClientQueryBufLimit++
	s.cl.CloseASAP = true
}

// checkOutput closes a client whose replies, n bytes, are over the limit of its class. The executor
// is held.
func (s *session) checkOutput(n int) { s.srv.eng.CheckOutput(s.cl, n) }

// idle reports whether the client has been silent for longer than timeout allows.
func (s *session) idle() bool {
	cl, e := s.cl, s.srv.eng
	limit := int64(e.Cfg.Timeout) * 1000
	return limit > 0 && e.Steady()-cl.LastUsed > limit && cl.Class == engine.ClassNormal && !cl.Monitor && !s.held() &&
		!s.running
}
