package server

import (
	"godwit/internal/arena"
	"godwit/internal/backlog"
	"godwit/internal/engine"
	"godwit/internal/invariant"
	"godwit/internal/resp"
)

const (
	// turnOutput ends a client's turn once that many bytes of replies wait. They are written before
	// it goes on, so a pipeline of large replies needs the memory of one piece of it. More than a
	// loop's windowOutput would not fit in the shared buffer, and memory of its own costs far more
	// than another turn.
	turnOutput = 256 << 10
	// turnMs ends a client's turn once its commands have run that long, so a pipeline of slow
	// commands does not lock others out.
	turnMs = 2
	// stepInput is how far the buffer for a large argument grows on a client's word alone.
	stepInput = 1 << 20
	// windowInput is how much one read takes from a socket.
	windowInput = 64 << 10
)

// session is the part of a connection that does not depend on what carries its bytes: the client,
// the parser, and the input that no command has consumed yet. It belongs to the executor. An epoll
// loop also reads into in without the executor, since only that loop touches its connections'
// input.
//
// Go's collector does not see who uses the input, so there is one rule: while run is under way, the
// input is run's. Arguments are slices of it, those of the running command and those of the
// commands read ahead. A busy script gives the executor to others in the middle of run. Until run
// has returned, nobody reads into the connection's input, moves it or frees it, and nobody closes
// the connection. What the client sends meanwhile stays in the socket. Loops and goroutines check
// running for that, and so do reserve, drop and letGo.
type session struct {
	srv    *Server
	cl     *engine.Client
	parser resp.Parser
	in     []byte
	inBuf  arena.Buffer // memory of in, once it is larger than engine.SmallInput
	peak   int          // longest in since the last sweep
	more   bool

	running bool // run is under way

	staged outQueue // see Stage

	kept *backlog.Reader // input before that of the socket, see kept.go; nil if there is none
}

// run executes the commands at the start of buf until none is complete or the client's turn is
// over. It returns how many bytes it consumed. It sets more if the rest may hold a complete
// command. The executor must be held.
func (s *session) run(buf []byte) (n int) {
	s.more, s.running = false, true
	s.cl.LastUsed = s.srv.eng.Steady()
	s.srv.eng.ExpectInput(len(buf))
	for n < len(buf) {
		done, ok := s.runSome(buf[n:])
		n += done
		if !ok {
			break
		}
	}
	if s.cl.Origin == engine.OriginMaster {
		s.srv.eng.SettleApplied()
	}
	s.srv.eng.EndPrefetch()
	s.running = false
	return n
}

// runSome executes the first commands of buf: one, or as many of a pipeline as are read ahead
// together. It returns how many bytes it consumed and whether the client may go on.
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
		if cl.Origin == engine.OriginMaster {
			s.srv.eng.Applied(cl, buf[n:n+used])
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
		if s.staged.size+len(cl.W.Buf) >= turnOutput || s.srv.eng.Steady() >= cl.LastUsed+turnMs {
			s.more = n < len(buf)
			s.reread(a, i+1)
			return n, false
		}
	}
	if err != nil {
		s.srv.eng.ProtocolError(cl, protocolError(err), buf[n:])
		return len(buf), false
	}
	return n, a.n > 0
}

// Stage implements engine.Conn.
func (s *session) Stage(n, more int) []byte {
	s.staged.pool = s.srv.eng.Buffers
	return s.staged.next(n, more)
}

// StageInsert implements engine.Conn.
func (s *session) StageInsert(n int, b []byte) { s.staged.insert(n, b) }

// reread makes the parser forget what it read after command i. That input will be offered again.
func (s *session) reread(a *ahead, i int) {
	if i < a.n || a.partial {
		s.parser.Reset()
	}
}

// spoil overwrites the arguments of a finished command, so that code which kept one instead of
// copying it is found out.
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

// held reports whether input must be kept and not run.
func (s *session) held() bool {
	return s.cl.Postponed() || s.cl.Waits() ||
		s.cl.Origin.Feeds() && s.srv.eng.InScript()
}

// free panics in a checked build if the input must not be changed now.
func (s *session) free() {
	invariant.Check(!s.running, "the input of a running command is taken from it")
}

// received accounts for n bytes that came with one read. They are a sign of life even if no command
// may run now.
func (s *session) received(n int) {
	s.cl.LastUsed = s.srv.eng.Steady()
	if s.cl.Origin == engine.OriginMaster {
		s.srv.eng.Stats.ReplIn += int64(n)
	}
	s.cl.NetIn += int64(n)
	s.srv.eng.Stats.NetIn += int64(n)
	s.srv.eng.Stats.Reads++
}

// room makes room in the session's own buffer for the next read. If the parser knows how much an
// argument needs, the buffer grows to that in steps of at most four times what has arrived. So a
// client that only announces a large argument gets little for it, and of one that sends it at most
// a third is copied. It reports false if the connection must end.
func (s *session) room() bool {
	have := len(s.in)
	want := have + min(max(have, 4<<10), windowInput)
	if need := s.parser.Need(); need > have {
		want = min(need, max(4*have, stepInput))
	}
	if cap(s.in) >= want {
		return true
	}
	// Growing by a share of the content keeps the copying linear, however many arguments a
	// command has.
	return s.reserve(max(want, have+have/4))
}

// reserve makes room in in for n bytes. It reports false if the connection must end.
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
		s.in = append(make([]byte, 0, n), s.in...) // not larger: see engine.SmallInput
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

// noMemory logs that the system refuses memory for the connection, which must end. It returns
// false.
func (s *session) noMemory() bool {
	s.srv.log.Warning("Closing client: the system has no memory left for its buffers (addr=%s)",
		s.cl.Addr)
	return false
}

// letGo frees the memory of in. No argument may alias it any more.
func (s *session) letGo() {
	s.free()
	s.in = nil
	s.srv.eng.Buffers.Put(&s.inBuf)
}

// keep stores what run left of buf, which is not s.in. Its first old bytes are a copy of s.in.
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

// shrink frees memory that the session has not used since the last call.
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

// checkInput closes a client whose unprocessed input exceeds client-query-buffer-limit. Commands
// that wait for EXEC count as such input. The master has a limit of its own.
func (s *session) checkInput() {
	if s.cl.Origin == engine.OriginMaster {
		s.srv.eng.CheckMasterInput(s.cl, int64(len(s.in)+s.parser.Memory()), s.held())
		return
	}
	limit := s.srv.eng.Cfg.QueryBufLimit
	if s.cl.Origin == engine.OriginImport {
		limit = s.srv.eng.MasterInputLimit()
	}
	if int64(len(s.in))+s.cl.QueuedBytes() <= limit {
		return
	}
	head := resp.AppendQuoted(nil, s.in[:min(len(s.in), 64)])
	s.srv.log.Warning(
		"Closing client that reached max query buffer length: %s (qbuf initial bytes: %s)",
		s.srv.eng.Describe(s.cl, 0), head)
	s.srv.eng.Stats.ClientQueryBufLimit++
	s.cl.CloseASAP = true
}

// checkOutput closes a client whose n bytes of replies exceed the limit of its class. The executor
// must be held.
func (s *session) checkOutput(n int) { s.srv.eng.CheckOutput(s.cl, n) }

// idle reports whether the client has been silent for longer than timeout allows.
func (s *session) idle() bool {
	cl, e := s.cl, s.srv.eng
	limit := int64(e.Cfg.Timeout) * 1000
	return limit > 0 && e.Steady()-cl.LastUsed > limit && cl.Class == engine.ClassNormal &&
		cl.Origin == engine.OriginConnection && !cl.Monitor && !s.held() &&
		!s.running
}
