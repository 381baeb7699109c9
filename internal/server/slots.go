package server

import (
	"errors"
	"net"
	"time"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/upstream"
)

// linkImport connects to the source of a migration, beside the executor. It implements
// engine.Engine.LinkImport. The executor is held.
func (s *Server) linkImport(a *engine.ImportAttempt) {
	l := &importLink{s: s, a: a, cfg: *s.eng.Cfg}
	go func() {
		defer crash.Guard("connecting to the source of a migration")()
		l.run()
	}()
}

// importLink is an attempt under way. It belongs to its goroutine.
type importLink struct {
	s   *Server
	a   *engine.ImportAttempt
	cfg config.Config // as it was at the beginning
}

// step runs fn with the executor, unless the attempt is not wanted any more. It reports whether it
// has.
func (l *importLink) step(fn func()) bool { return l.s.attempt(l.a.Wanted, fn) }

// run makes the attempt, and hands the connection to a loop in the end.
func (l *importLink) run() {
	nc, err := connect(l.a.Dial, l.cfg)
	if err != nil {
		l.step(func() { l.a.Failed(errors.New(connectError(err)), false) })
		return
	}
	if !l.step(func() { l.a.Close = func() { _ = nc.Close() } }) {
		_ = nc.Close() // nobody wants it
		return
	}
	conn := upstream.New(nc, l.a.Dial.Timeout)
	err = conn.SyncSlots(l.a.User, l.a.Password, l.a.Begin)
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	if err == nil {
		err = l.s.handOver(nc, peer{link: l.a, rest: conn.Rest()})
	}
	if err != nil {
		_ = nc.Close() // it is of no use any more
		l.step(func() { l.a.Failed(err, errors.Is(err, upstream.ErrNotYet)) })
	}
}

// handOver gives the connection to another server to a loop or to goroutines of its own, which go
// on with its stream.
func (s *Server) handOver(nc net.Conn, p peer) error {
	_, tcp := nc.(*net.TCPConn)
	p.addr, p.laddr, p.tls = nc.RemoteAddr().String(), nc.LocalAddr().String(), !tcp
	if tcp {
		s.tune(nc)
	}
	if len(s.loops) > 0 && tcp {
		err := s.loops[0].adopt(nc, p)
		_ = nc.Close() // the loop has a duplicate
		return err
	}
	s.startGo(nc, p)
	return nil
}
