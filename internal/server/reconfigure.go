package server

import (
	"fmt"
	"os"
	"strings"
)

// reason says why CONFIG SET fails, in Redis's words. Clients see it unchanged.
type reason string

func (r reason) Error() string { return string(r) }

const (
	errListen reason = "Unable to listen on this port. Check server logs."
	errBind   reason = "Failed to bind to specified addresses."
	errTLS    reason = "Unable to update TLS configuration. Check server logs."
)

// reconfigure applies directives that CONFIG SET has changed. An error undoes the change. The
// executor must be held.
func (s *Server) reconfigure(names []string) error {
	var sockets, certificates, bind, title bool
	c := s.eng.Cfg
	for _, name := range names {
		switch {
		case name == "port" || name == "tls-port":
			sockets = true
		case name == "bind":
			sockets, bind = true, true
		case strings.HasPrefix(name, "tls-"):
			certificates = true
		case name == "proc-title-template":
			title = true
		case name == "maxclients":
			if err := s.fitClients(); err != nil {
				return err
			}
		}
	}
	if (certificates || sockets) && c.TLSPort != 0 {
		if err := s.loadTLS(); err != nil {
			s.log.Warning("Failed to configure TLS: %s", err)
			return errTLS
		}
	}
	if sockets {
		if err := s.relisten(); err != nil {
			if bind {
				return errBind
			}
			return errListen
		}
	}
	if sockets || title {
		SetTitle(c, os.Args[0])
	}
	s.keepalive.Store(int64(c.TCPKeepalive))
	s.limits.MaxBulk = c.ProtoMaxBulkLen
	return nil
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
