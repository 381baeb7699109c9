package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/config"
)

var tlsVersions = []struct {
	name    string
	version uint16
}{
	{"tlsv1", tls.VersionTLS10},
	{"tlsv1.1", tls.VersionTLS11},
	{"tlsv1.2", tls.VersionTLS12},
	{"tlsv1.3", tls.VersionTLS13},
}

// loadTLS reads the configured certificates, and returns how to go back to those that were in use.
// Open connections keep theirs. An error changes nothing.
func (s *Server) loadTLS() (undo func(), err error) {
	files := tlsFiles(s.eng.Cfg) // first: what changes while it is read is found by the next look
	cfg, err := tlsConfig(s.eng.Cfg)
	if err != nil {
		return nil, err
	}
	old, oldFiles, facts := s.tls.Load(), s.reload.files, s.eng.TLS
	s.useTLS(cfg, files)
	return func() {
		s.tls.Store(old)
		s.cluster.outgoing.Store(nil)
		s.reload.serial++
		s.reload.files, s.eng.TLS = oldFiles, facts
	}, nil
}

// usesTLS reports whether the server needs its certificate to accept connections.
func usesTLS(c *config.Config) bool {
	return c.TLSPort != 0 || c.Cluster.Enabled && c.Cluster.TLS
}

// tlsConfig returns the configuration of the server's side.
func tlsConfig(c *config.Config) (*tls.Config, error) {
	t, err := tlsIdentity(c)
	if err != nil || c.TLSAuthClients == config.TLSAuthNo {
		return t, err
	}
	if t.ClientCAs, err = tlsRoots(c); err != nil {
		return nil, err
	}
	t.ClientAuth = tls.RequireAndVerifyClientCert
	if c.TLSAuthClients == config.TLSAuthOptional {
		t.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return t, nil
}

// tlsIdentity returns what both sides have in common: the certificate and the versions.
func tlsIdentity(c *config.Config) (*tls.Config, error) {
	if c.TLSCertFile == "" {
		return nil, errors.New("no tls-cert-file configured")
	}
	if c.TLSKeyFile == "" {
		return nil, errors.New("no tls-key-file configured")
	}
	cert, err := tls.LoadX509KeyPair(c.TLSCertFile, c.TLSKeyFile)
	if err != nil {
		return nil, fmt.Errorf("failed to load certificate: %s: %w", c.TLSCertFile, err)
	}
	t := &tls.Config{Certificates: []tls.Certificate{cert},
		SessionTicketsDisabled: !c.TLSSessionCaching}
	if t.MinVersion, t.MaxVersion, err = tlsVersionRange(c.TLSProtocols); err != nil {
		return nil, err
	}
	return t, nil
}

// tlsRoots reads the authorities that must have signed the other side's certificate.
func tlsRoots(c *config.Config) (*x509.CertPool, error) {
	if c.TLSCACertFile == "" && c.TLSCACertDir == "" {
		return nil, errors.New(
			"either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-auth-clients " +
				"is enabled")
	}
	pool := x509.NewCertPool()
	if c.TLSCACertFile != "" {
		pem, err := os.ReadFile(c.TLSCACertFile)
		if err != nil {
			return nil, fmt.Errorf("failed to load CA certificate: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("failed to load CA certificate: %s: no certificate in it",
				c.TLSCACertFile)
		}
	}
	if c.TLSCACertDir == "" {
		return pool, nil
	}
	paths, err := authorityFiles(c.TLSCACertDir)
	if err != nil {
		return nil, fmt.Errorf("failed to load CA certificates: %w", err)
	}
	for _, path := range paths {
		if pem, err := os.ReadFile(path); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
	return pool, nil
}

// authorityFiles returns the paths of what is in the folder of authorities.
func authorityFiles(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, f := range entries {
		paths = append(paths, filepath.Join(dir, f.Name()))
	}
	return paths, err
}

// tlsVersionRange turns the words of tls-protocols into a lowest and a highest version. Without
// words these are TLS 1.2 and the newest.
func tlsVersionRange(words string) (low, high uint16, err error) {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return tls.VersionTLS12, 0, nil
	}
next:
	for _, w := range fields {
		for _, v := range tlsVersions {
			if strings.EqualFold(w, v.name) {
				if low == 0 || v.version < low {
					low = v.version
				}
				high = max(high, v.version)
				continue next
			}
		}
		return 0, 0, fmt.Errorf("invalid tls-protocols specified: %s", w)
	}
	return low, high, nil
}
