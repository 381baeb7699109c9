// Package server is the outside of the server. It listens, carries bytes between sockets and the
// engine, and starts and ends the service of the process.
//
// # Connections
//
// redcon binds nothing here but owns every accept. Each listening socket is served by a
// redcon.Server whose accept callback takes the connection away, so no goroutine stays behind it.
// On Linux the descriptor of a plain connection goes to one of io-threads epoll loops (loop,
// fdConn). TLS connections, and all connections on other systems, get a reading and a writing
// goroutine (goConn). Both feed the same session: resumable parser, limits, turns.
//
//	listener → redcon accept → admit ─┬─ fdConn ─┐
//	                                  └─ goConn ─┴─ session → engine.Exec
//
// # Who may touch what
//
// A connection's socket and pending output belong to its loop or goroutines. Its client belongs to
// the executor (see package engine). The engine reaches connections through engine.Conn, whose
// methods only leave a note for the owner.
package server

import (
	"crypto/tls"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/resp"
	"godwit/internal/rounds"
)

// Options change how a Server works.
type Options struct {
	// ForceGoroutines serves plain connections with goroutines too, as on systems without epoll.
	// It is for tests.
	ForceGoroutines bool
	// OwnProcessors says that each loop has a processor of the Go scheduler for itself.
	OwnProcessors bool
}

// Server serves one engine.
type Server struct {
	eng  *engine.Engine
	log  *logging.Logger
	opts Options

	tls       atomic.Pointer[tls.Config]
	loops     []*loop
	keepalive atomic.Int64 // tcp-keepalive, for the accepting goroutines
	nextLoop  atomic.Uint32
	debugging sessions
	stopping  atomic.Bool
	failure   atomic.Pointer[error]
	stopped   chan struct{} // closed when stopping is set
	alarmed   chan struct{} // one slot: there is an earlier deadline
	serving   sync.WaitGroup
	goConns   sync.WaitGroup
	transfers sync.WaitGroup // of snapshots to replicas

	// The following belong to the executor.
	limits    resp.Limits
	ahead     ahead // commands read ahead
	holder    *loop // the loop that holds the executor
	gos       map[*goConn]struct{}
	stirred   rounds.Set[*goConn] // those of gos that are not at rest
	listeners []*listener
	pidFile   string
	reload    tlsReload
	cluster   clustered
	again     *time.Duration // DEBUG RESTART: start again, so long after the end
}

// New returns a server for the engine, and sets what the engine wants of it: Shutdown, Dialer and
// so on. It does not listen yet.
func New(e *engine.Engine, o Options) (*Server, error) {
	s := &Server{eng: e, log: e.Log, opts: o, stopped: make(chan struct{}),
		alarmed: make(chan struct{}, 1), gos: make(map[*goConn]struct{})}
	s.limits.MaxBulk = e.Cfg.ProtoMaxBulkLen
	if !o.ForceGoroutines {
		for i := range max(e.Cfg.IOThreads, 1) {
			l, err := newLoop(s, i)
			if errors.Is(err, errors.ErrUnsupported) {
				break
			}
			if err != nil {
				return nil, err
			}
			s.loops = append(s.loops, l)
		}
	}
	e.Threads = make([]engine.ThreadStats, len(s.loops))
	e.Shutdown = s.shutdown
	e.Restart = s.restart
	e.DebugApart = s.debugApart
	e.Alarm = s.alarm
	e.Wake = s.wake
	e.ServeOthers = s.serveOthers
	e.Reconfigure = s.reconfigure
	e.Dialer = dialer{s}
	e.LinkMaster = s.linkMaster
	e.LinkImport = s.linkImport
	return s, nil
}

// Run serves until the server is shut down. The first loop runs on the caller's goroutine.
func (s *Server) Run() error {
	errs := make([]error, len(s.loops))
	var wg sync.WaitGroup
	for i, l := range s.loops[min(1, len(s.loops)):] {
		wg.Go(func() {
			errs[i+1] = s.turns(l)
		})
	}
	if len(s.loops) > 0 {
		errs[0] = s.turns(s.loops[0])
	} else {
		s.tick()
	}
	wg.Wait()
	s.closeAll()
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return errors.Join(errs...)
}

// turns runs the loop until the server stops. If a loop fails, the server ends in order: what
// clients were told is saved.
func (s *Server) turns(l *loop) error {
	defer crash.Guard("event loop")()
	err := l.run()
	if err != nil && !s.stopping.Load() {
		_ = s.Shutdown(engine.ShutdownOptions{Force: true, Now: true}) // it logs its errors
	}
	s.stop()
	return err
}

// Fail ends the service because of an error outside of it. Run returns that error. Any goroutine
// may call it.
func (s *Server) Fail(err error) {
	s.failure.Store(&err)
	s.stop()
}

// tick runs the cron where no loop does.
func (s *Server) tick() {
	defer crash.Guard("cron")()
	next := int64(0) // steady ms
	for {
		s.eng.Enter()
		now := s.eng.Steady()
		if now >= next {
			next = now + 1000/int64(s.eng.CronHz())
			s.cron()
		}
		s.eng.EndWaits()
		more := s.eng.Slice()
		wait := min(next-now, s.eng.UntilTimeout(), s.eng.NextWake().Milliseconds())
		s.eng.Leave()
		if more {
			runtime.Gosched()
			continue
		}
		select {
		case <-s.stopped:
			return
		case <-s.alarmed:
		case <-time.After(time.Duration(wait) * time.Millisecond):
		}
	}
}

// alarm wakes the goroutine that watches the deadlines of blocked clients. A loop that holds the
// executor looks at them at the end of its turn, so this serves the clients of goroutines. The
// executor must be held.
func (s *Server) alarm() {
	switch {
	case s.holder != nil:
	case len(s.loops) > 0:
		s.loops[0].ev.Wake()
	default:
		select {
		case s.alarmed <- struct{}{}:
		default:
		}
	}
}

// wake wakes whoever does the background work. Any goroutine may call it.
func (s *Server) wake() {
	if len(s.loops) > 0 {
		s.loops[0].ev.Wake()
		return
	}
	select {
	case s.alarmed <- struct{}{}:
	default:
	}
}

// cron does the periodic work, CronHz times a second with the executor held.
func (s *Server) cron() {
	s.eng.Cron()
	s.reloadTLS()
	if s.eng.Cfg.Timeout == 0 {
		s.stirred.Visit(s.stirred.Len(), (*goConn).care)
		return
	}
	for c := range s.gos {
		c.care()
	}
}

// stop makes everything that runs return.
func (s *Server) stop() {
	if s.stopping.Swap(true) {
		return
	}
	close(s.stopped)
	for _, l := range s.loops {
		l.ev.Wake()
	}
}

// closeAll closes what Run has left: listeners, connections, loops.
func (s *Server) closeAll() {
	s.eng.Enter()
	s.closeListeners(s.listeners)
	s.listeners = nil
	s.eng.Leave()
	s.leaveCluster()
	s.serving.Wait()
	s.dismiss()
	for _, l := range s.loops {
		l.close()
	}
	s.transfers.Wait()
}
