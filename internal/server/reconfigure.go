package server

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"godwit/internal/config"
)

// reason says why CONFIG SET fails, in Redis's words. Clients see it unchanged.
type reason string

func (r reason) Error() string { return string(r) }

const (
	errListen reason = "Unable to listen on this port. Check server logs."
	errBind   reason = "Failed to bind to specified addresses."
	errTLS    reason = "Unable to update TLS configuration. Check server logs."
)

// reconfigure applies directives that CONFIG SET has changed. If it fails, all is as it was, but
// that the limit of descriptors may be higher. Otherwise undo takes its effects back, once the old
// values are in place again. The executor must be held.
func (s *Server) reconfigure(names []string) (undo func(), err error) {
	if err := s.recheckCluster(names); err != nil {
		return nil, err
	}
	var sockets, certificates string // the first directive that asks for them
	c := s.eng.Cfg
	for _, name := range names {
		switch {
		case name == "port" || name == "tls-port" || name == "bind":
			sockets = cmp.Or(sockets, name)
		case name == "tls-auth-clients-user" || name == "tls-auto-reload-interval":
			// They are looked up when they are needed.
		case strings.HasPrefix(name, "tls-"):
			certificates = cmp.Or(certificates, name)
		case name == "maxclients":
			if err := s.fitClients(); err != nil {
				return nil, &config.ApplyError{Name: name, Reason: err.Error()}
			}
		}
	}
	restoreTLS := func() {}
	if (certificates != "" || sockets != "") && usesTLS(c) {
		if restoreTLS, err = s.loadTLS(); err != nil {
			s.log.Warning("Failed to configure TLS: %s", err)
			return nil, &config.ApplyError{Name: cmp.Or(certificates, sockets),
				Reason: string(errTLS)}
		}
	}
	if sockets != "" {
		if err := s.relisten(); err != nil {
			restoreTLS()
			why := errListen
			if slices.Contains(names, "bind") {
				sockets, why = "bind", errBind
			}
			return nil, &config.ApplyError{Name: sockets, Reason: string(why)}
		}
	}
	s.settle()
	return func() {
		restoreTLS()
		if sockets != "" {
			s.listenAgain()
		}
		s.settle()
	}, nil
}

// settle takes over directives where that cannot fail.
func (s *Server) settle() {
	c := s.eng.Cfg
	SetTitle(c, os.Args[0])
	s.keepalive.Store(int64(c.TCPKeepalive))
	s.limits.MaxBulk = c.ProtoMaxBulkLen
	s.settleCluster()
}

// fitClients raises the limit of descriptors for a larger maxclients.
func (s *Server) fitClients() error {
	reserved := s.reserved()
	want := uint64(s.eng.Cfg.MaxClients + reserved)
	got, err := raiseDescriptors(want)
	if err == nil || got >= want {
		return nil
	}
	return reason(fmt.Sprintf(
		"The operating system is not able to handle the specified number of clients, try with %d",
		int64(got)-int64(reserved)))
}
