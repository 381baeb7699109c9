package server

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
)

// tlsReload is the state of tls-auto-reload-interval. It belongs to the executor.
type tlsReload struct {
	looked  int64  // steady ms, when the files were last looked at
	running bool   // a goroutine reads the files
	serial  uint64 // counts the configurations in use
	files   digest // of what the one in use was read from
}

type digest [sha256.Size]byte

// useTLS serves new connections with the configuration, which was read from files with the digest.
// The executor must be held, or the server not running yet.
func (s *Server) useTLS(cfg *tls.Config, files digest) {
	s.tls.Store(cfg)
	s.cluster.outgoing.Store(nil)
	s.reload.serial++
	s.reload.files, s.reload.looked = files, s.eng.Steady()
	s.eng.TLS = engine.TLSFacts{CA: authority(s.eng.Cfg.TLSCACertFile)}
	if leaf := cfg.Certificates[0].Leaf; leaf != nil {
		s.eng.TLS.Server = certificate(leaf)
	}
}

func certificate(c *x509.Certificate) engine.Certificate {
	return engine.Certificate{Serial: fmt.Sprintf("%X", c.SerialNumber.Bytes()),
		Expires: c.NotAfter.Unix()}
}

// authority returns the first certificate of a PEM file.
func authority(path string) engine.Certificate {
	text, err := os.ReadFile(path)
	if err != nil {
		return engine.Certificate{}
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return certificate(c)
		}
	}
	return engine.Certificate{}
}

// tlsFiles returns a digest of all files that certificates are read from. A file that cannot be
// read counts as an empty one.
func tlsFiles(c *config.Config) (sum digest) {
	h := sha256.New()
	paths := []string{c.TLSCertFile, c.TLSKeyFile, c.TLSCACertFile}
	if c.TLSCACertDir != "" {
		more, _ := authorityFiles(c.TLSCACertDir)
		paths = append(paths, more...)
	}
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d ", path, len(text))
		h.Write(text)
	}
	h.Sum(sum[:0])
	return sum
}

// reloadTLS reads changed certificates when it is time to look. Reading happens beside the
// executor, which must be held.
func (s *Server) reloadTLS() {
	r, e := &s.reload, s.eng
	seconds := int64(e.Cfg.TLSAutoReload)
	if seconds == 0 || !usesTLS(e.Cfg) || r.running || e.Steady()-r.looked < 1000*seconds {
		return
	}
	r.running, r.looked = true, e.Steady()
	cfg, serial, files := *e.Cfg, r.serial, r.files
	go func() {
		defer crash.Guard("reading certificates")()
		s.readTLS(&cfg, serial, files)
	}()
}

// readTLS reads the certificates if the files have changed. It gives way to a CONFIG SET that has
// read them meanwhile.
func (s *Server) readTLS(cfg *config.Config, serial uint64, files digest) {
	var fresh *tls.Config
	now := tlsFiles(cfg)
	if now != files {
		var err error
		s.log.Notice("TLS materials changed, reloading in background")
		if fresh, err = tlsConfig(cfg); err != nil {
			s.log.Warning("Background TLS reload failed, the old certificates stay: %s", err)
		}
	} else {
		s.log.Debug("TLS reload skipped: materials unchanged")
	}
	s.eng.Enter()
	defer s.eng.Release()
	s.reload.running = false
	if fresh != nil && s.reload.serial == serial {
		s.useTLS(fresh, now)
		s.log.Notice("TLS materials reloaded successfully")
	}
}

// certified logs the client in as the user that its certificate names, if tls-auth-clients-user
// says so. The executor must not be held.
func (c *goConn) certified(state tls.ConnectionState) {
	if len(state.PeerCertificates) == 0 {
		return
	}
	e := c.srv.eng
	e.Enter()
	defer e.Release()
	var names []string
	switch cert := state.PeerCertificates[0]; e.Cfg.TLSAuthClientsUser {
	case "CN":
		names = []string{cert.Subject.CommonName}
	case "URI":
		for _, u := range cert.URIs {
			names = append(names, u.String())
		}
	default:
		return
	}
	e.LoginByCertificate(c.cl, names)
}
