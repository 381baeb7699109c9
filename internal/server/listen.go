package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/tidwall/redcon"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/logging"
)

type listenerKind uint8

const (
	kindTCP listenerKind = iota
	kindTLS
	kindUnix
	kindBus // for other nodes of the cluster
)

func (k listenerKind) String() string { return [...]string{"tcp", "tls", "unix", "bus"}[k] }

// socket describes a socket that the configuration asks for.
type socket struct {
	kind     listenerKind
	addr     string // host, or path of a unix socket
	port     int
	optional bool // "-" before the address: this machine need not have it
}

// listener is a listening socket, served by redcon.
type listener struct {
	socket
	ln    net.Listener
	given bool // added by Add, not by the configuration
}

// sockets returns the sockets that the configuration asks for.
func sockets(c *config.Config) []socket {
	var list []socket
	ports := map[listenerKind]int{kindTCP: c.Port, kindTLS: c.TLSPort}
	if c.Cluster.Enabled {
		ports[kindBus] = busPort(c)
	}
	for _, kind := range []listenerKind{kindTCP, kindTLS, kindBus} {
		port := ports[kind]
		if port == 0 {
			continue
		}
		for _, b := range c.Bind {
			addr, optional := strings.CutPrefix(b, "-")
			list = append(list, socket{kind, addr, port, optional})
		}
	}
	if c.UnixSocket != "" {
		list = append(list, socket{kind: kindUnix, addr: c.UnixSocket})
	}
	return list
}

// Listen opens the sockets that the configuration asks for and starts to accept. It has logged the
// error that it returns; then no socket stays open.
func (s *Server) Listen() error {
	s.eng.Enter()
	defer s.eng.Release()
	s.keepalive.Store(int64(s.eng.Cfg.TCPKeepalive))
	if usesTLS(s.eng.Cfg) {
		if _, err := s.loadTLS(); err != nil {
			s.log.Warning("Failed to configure TLS: %s", err)
			return err
		}
	}
	s.checkBacklog()
	err := s.relisten()
	if err == nil && len(s.listeners) == 0 {
		err = errors.New("configured to not listen anywhere, exiting")
		s.log.Warning("Configured to not listen anywhere, exiting.")
	}
	return err
}

// relisten opens and closes listeners to match the configuration. If one cannot be opened, nothing
// changes.
func (s *Server) relisten() error {
	missing, closed := s.closeUnwanted()
	added, err := s.openAll(missing)
	if err != nil {
		s.closeListeners(added)
		added = s.reopen(closed)
	}
	s.serveAll(added)
	return err
}

// listenAgain undoes what relisten did, once the old configuration is in place again.
func (s *Server) listenAgain() {
	missing, _ := s.closeUnwanted()
	s.serveAll(s.reopen(missing))
}

// closeUnwanted closes the listeners that the configuration does not ask for. It returns the
// sockets that are still missing, and those that it closed. It has to come before others are
// opened: a wildcard address cannot be bound beside one of its own addresses.
func (s *Server) closeUnwanted() (missing, closed []socket) {
	missing = sockets(s.eng.Cfg)
	var keep, drop []*listener
	for _, l := range s.listeners {
		if l.given || slices.Contains(missing, l.socket) {
			keep = append(keep, l)
		} else {
			drop = append(drop, l)
			closed = append(closed, l.socket)
		}
	}
	s.closeListeners(drop)
	s.listeners = keep
	return slices.DeleteFunc(missing, func(m socket) bool {
		return slices.ContainsFunc(keep, func(l *listener) bool { return l.socket == m })
	}), closed
}

// reopen opens sockets that were open a moment ago. What cannot be opened again is logged, and
// gone.
func (s *Server) reopen(old []socket) (open []*listener) {
	for i := range old {
		again, _ := s.openAll(old[i : i+1])
		open = append(open, again...)
	}
	return open
}

func (s *Server) serveAll(added []*listener) {
	s.listeners = append(s.listeners, added...)
	for _, l := range added {
		s.serve(l)
	}
}

// openAll opens sockets. An address that cannot be bound is an error, unless it is optional and
// this machine does not have it.
func (s *Server) openAll(list []socket) (open []*listener, err error) {
	for _, sp := range list {
		ln, err := s.open(sp)
		switch {
		case err == nil:
			open = append(open, &listener{socket: sp, ln: ln})
		case sp.kind == kindUnix:
			s.log.Warning("Failed opening Unix socket: %s", bindError(err))
			return open, err
		default:
			s.log.Warning("Warning: Could not create server TCP listening socket %s:%d: %s",
				sp.addr, sp.port, bindError(err))
			if sp.optional && unavailable(err) {
				continue
			}
			s.log.Warning("Failed listening on port %d (%s), aborting.", sp.port,
				strings.ToUpper(sp.kind.String()))
			return open, err
		}
	}
	return open, nil
}

// unavailable reports whether the error means that the machine lacks the address or its family.
func unavailable(err error) bool {
	for _, e := range []error{
		syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT, syscall.ENOPROTOOPT, syscall.EPROTONOSUPPORT,
		syscall.ESOCKTNOSUPPORT, syscall.EPFNOSUPPORT,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var dns *net.DNSError
	return errors.As(err, &dns)
}

// bindError returns the system call that failed and its error.
func bindError(err error) string {
	var sys *os.SyscallError
	if asSyscall(err, &sys) {
		return sys.Syscall + ": " + logging.OSError(sys.Err)
	}
	return logging.OSError(err)
}

func asSyscall(err error, sys **os.SyscallError) bool { return errors.As(err, sys) }

// protect sets the group and the permissions of a unix socket.
func (s *Server) protect(path string) error {
	if name := s.eng.Cfg.UnixSocketGroup; name != "" {
		group, err := user.LookupGroup(name)
		if err != nil {
			return fmt.Errorf("getgrnam error for group '%s': %w", name, err)
		}
		gid, err := strconv.Atoi(group.Gid)
		if err == nil {
			err = os.Chown(path, -1, gid)
		}
		if err != nil {
			return fmt.Errorf("chown: %w", err)
		}
	}
	if perm := s.eng.Cfg.UnixSocketPerm; perm != 0 {
		if err := os.Chmod(path, os.FileMode(perm)); err != nil {
			return fmt.Errorf("chmod: %w", err)
		}
	}
	return nil
}

func (s *Server) open(sp socket) (net.Listener, error) {
	lc := net.ListenConfig{KeepAlive: -1} // tune sets it to the configured time
	if sp.kind == kindUnix {
		_ = os.Remove(sp.addr) // left by a crashed server; if this fails, binding reports it
		ln, err := lc.Listen(context.Background(), "unix", sp.addr)
		if err != nil {
			return nil, err
		}
		if u, ok := ln.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false) // it is removed at the end, with a line in the log
		}
		if err := s.protect(sp.addr); err != nil {
			ln.Close()
			return nil, err
		}
		setBacklog(ln, s.eng.Cfg.TCPBacklog)
		return ln, nil
	}
	network, host := "tcp4", sp.addr
	switch {
	case host == "*":
		host = "0.0.0.0"
	case host == "::*":
		network, host = "tcp6", "::"
	case strings.Contains(host, ":"):
		network = "tcp6"
	}
	ln, err := lc.Listen(context.Background(), network,
		net.JoinHostPort(host, strconv.Itoa(sp.port)))
	if err != nil {
		return nil, err
	}
	setBacklog(ln, s.eng.Cfg.TCPBacklog)
	return ln, nil
}

// Add serves one more listening socket, besides those of the configuration.
func (s *Server) Add(ln net.Listener) {
	s.eng.Enter()
	defer s.eng.Release()
	l := &listener{socket: socket{addr: ln.Addr().String()}, ln: ln, given: true}
	if ln.Addr().Network() == "unix" {
		l.kind = kindUnix
	}
	s.listeners = append(s.listeners, l)
	s.serve(l)
}

// AddTLS does what Add does, for TLS connections. They get the configured certificate.
func (s *Server) AddTLS(ln net.Listener) error {
	s.eng.Enter()
	defer s.eng.Release()
	if _, err := s.loadTLS(); err != nil {
		return err
	}
	l := &listener{socket: socket{kind: kindTLS, addr: ln.Addr().String()}, ln: ln, given: true}
	s.listeners = append(s.listeners, l)
	s.serve(l)
	return nil
}

// serve starts to accept. redcon's own handler never runs: the accept callback takes every
// connection away.
func (s *Server) serve(l *listener) {
	if l.kind == kindBus {
		s.serveBus(l)
		return
	}
	rs := redcon.NewServerNetwork(l.ln.Addr().Network(), l.ln.Addr().String(),
		func(redcon.Conn, redcon.Command) {},
		func(rc redcon.Conn) bool {
			s.accepted(l, rc)
			return false
		}, nil)
	rs.AcceptError = s.acceptFailed
	s.serving.Go(func() {
		defer crash.Guard("accepting connections")()
		if err := rs.Serve(handoffListener{l.ln}); err != nil {
			s.log.Warning("Serving %s: %s", l.addr, err)
		}
	})
}

// closeListeners stops accepting. Connections stay open.
func (s *Server) closeListeners(list []*listener) {
	for _, l := range list {
		_ = l.ln.Close() // nothing can be done about an error
	}
}

// checkBacklog warns if the kernel caps tcp-backlog.
func (s *Server) checkBacklog() {
	text, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		return
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if backlog := s.eng.Cfg.TCPBacklog; err == nil && limit > 0 && limit < backlog {
		s.log.Warning(
			"WARNING: The TCP backlog setting of %d cannot be enforced because "+
				"/proc/sys/net/core/somaxconn "+
				"is set to the lower value of %d.", backlog, limit)
	}
}
