package server

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/tidwall/redcon"

	"godwit/internal/backlog"
	"godwit/internal/engine"
	"godwit/internal/logging"
)

// What a refused connection is told before it is closed, in Redis's words.
const (
	refusedMaxClients = "-ERR max number of clients reached\r\n"
	refusedProtected  = "-DENIED Redis is running in protected mode because protected mode is " +
		"enabled and no password is set for the default user. In this mode connections are only " +
		"accepted from the loopback interface. If you want to connect from external computers to " +
		"Redis you may adopt one of the following solutions: 1) Just disable protected mode " +
		"sending the command 'CONFIG SET protected-mode no' from the loopback interface by " +
		"connecting to Redis from the same host the server is running, however MAKE SURE Redis " +
		"is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this " +
		"change permanent. 2) Alternatively you can just disable the protected mode by editing " +
		"the Redis configuration file, and setting the protected mode option to 'no', and then " +
		"restarting the server. 3) If you started the server manually just for testing, restart " +
		"it with the '--protected-mode no' option. 4) Setup a an authentication password for the " +
		"default user. NOTE: You only need to do one of the above things in order for the server " +
		"to start accepting connections from the outside.\r\n"
)

// peer is what is known of a connection before it has a client.
type peer struct {
	addr, laddr      string
	fd               int
	unix, local, tls bool

	link attempt         // the connection leads to another server; nil for a client
	rest []byte          // what has been read of the master's stream
	kept *backlog.Reader // the same, behind rest; nil if that is nothing
}

// attempt is what a connection to another server was made for.
type attempt interface {
	// Attach makes the client of the connection, nil if nobody wants it any more. The executor must
	// be held.
	Attach(conn engine.Conn) *engine.Client
}

// dropKept frees what was kept for a connection that is refused.
func (p *peer) dropKept() {
	if p.kept != nil {
		p.kept.Close()
	}
}

// handoff is an accepted connection on its way through redcon. redcon closes every connection that
// its accept callback refuses. Ours refuses all of them, after taking those that it keeps.
type handoff struct {
	net.Conn
	taken bool
}

// Close implements net.Conn.
func (h *handoff) Close() error {
	if h.taken {
		return nil
	}
	return h.Conn.Close()
}

// handoffListener wraps the connections it accepts in handoffs.
type handoffListener struct{ net.Listener }

// Accept implements net.Listener.
func (l handoffListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &handoff{Conn: nc}, nil
}

// accepted is redcon's accept callback. It gives the connection to a loop or to goroutines of its
// own.
func (s *Server) accepted(l *listener, rc redcon.Conn) {
	h, ok := rc.NetConn().(*handoff)
	if !ok || s.stopping.Load() {
		return
	}
	nc := h.Conn
	p := l.peer(nc)
	s.tune(nc)
	if s.log.Enabled(logging.Verbose) {
		if p.unix {
			s.log.Verbose("Accepted connection to %s", l.addr)
		} else {
			s.log.Verbose("Accepted %s", p.addr)
		}
	}
	if len(s.loops) == 0 || p.tls {
		h.taken = true
		s.startGo(nc, p)
		return
	}
	n := s.nextLoop.Add(1)
	if err := s.loops[int(n)%len(s.loops)].adopt(nc, p); err != nil {
		s.log.Warning("Accepting client connection: %s", logging.OSError(err))
	}
}

// peer describes a connection that the listener has accepted.
func (l *listener) peer(nc net.Conn) peer {
	if l.kind == kindUnix {
		return peer{addr: l.addr + ":0", laddr: l.addr + ":0", unix: true, local: true}
	}
	p := peer{addr: nc.RemoteAddr().String(), laddr: nc.LocalAddr().String(),
		tls: l.kind == kindTLS}
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		p.local = a.IP.IsLoopback()
	}
	return p
}

// tune sets the options of an accepted socket. net has already turned Nagle's algorithm off. A
// socket that refuses the options works without them.
func (s *Server) tune(nc net.Conn) {
	tc, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	if sec := int(s.keepalive.Load()); sec > 0 {
		_ = tc.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable: true, Idle: time.Duration(sec) * time.Second,
			Interval: time.Duration(max(sec/3, 1)) * time.Second, Count: 3,
		})
	}
}

// admit makes the client of a new connection, or returns what to send before closing it, if
// anything. The executor must be held.
func (s *Server) admit(conn engine.Conn, p peer) (cl *engine.Client, refusal string) {
	e := s.eng
	if p.link != nil {
		return admitLink(conn, p), ""
	}
	if e.ClientCount() >= e.Cfg.MaxClients {
		e.Stats.RejectedConnections++
		return nil, refusedMaxClients
	}
	if e.Cfg.ProtectedMode && e.DefaultUser().NoPass() && !p.local {
		e.Stats.RejectedConnections++
		return nil, refusedProtected
	}
	cl = e.NewClient(conn)
	cl.Addr, cl.LAddr, cl.FD = p.addr, p.laddr, p.fd
	cl.Unix, cl.Local, cl.TLS = p.unix, p.local, p.tls
	return cl, ""
}

// admitLink makes the client of a connection to another server. It returns nil if the engine does
// not want it any more. The executor must be held.
func admitLink(conn engine.Conn, p peer) *engine.Client {
	cl := p.link.Attach(conn)
	if cl != nil {
		cl.Addr, cl.LAddr, cl.FD, cl.TLS = p.addr, p.laddr, p.fd, p.tls
	}
	return cl
}

// acceptFailed handles errors of accept. redcon retries at once, which is a busy loop while
// descriptors are short, so it waits a little.
func (s *Server) acceptFailed(err error) {
	if s.stopping.Load() {
		return
	}
	s.log.Warning("Accepting client connection: %s", acceptError(err))
	select {
	case <-s.stopped:
	case <-time.After(50 * time.Millisecond):
	}
}

func acceptError(err error) string {
	var sys *os.SyscallError
	if ok := asSyscall(err, &sys); ok {
		return fmt.Sprintf("%s: %s", sys.Syscall, logging.OSError(err))
	}
	return logging.OSError(err)
}
