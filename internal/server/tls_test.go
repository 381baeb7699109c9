package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"godwit/internal/config"
	"godwit/internal/resp/client"
)

// certificates writes an authority (ca.crt), and a certificate with its key (server.crt,
// server.key) that serves both sides. It returns the configuration of a client that trusts the
// authority and shows the certificate.
func certificates(t testing.TB, dir string) *tls.Config {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	template := func(serial int64, ca bool) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "godwit test"},
			IsCA: ca, BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour),
			NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
	}
	write := func(name, kind string, der []byte) {
		must(os.WriteFile(filepath.Join(dir, name),
			pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	ca := template(1, true)
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	der, err := x509.CreateCertificate(rand.Reader, template(2, false), ca, &key.PublicKey, caKey)
	must(err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	must(err)
	write("ca.crt", "CERTIFICATE", caDER)
	write("server.crt", "CERTIFICATE", der)
	write("server.key", "EC PRIVATE KEY", keyDER)
	pool := x509.NewCertPool()
	caCert, err := x509.ParseCertificate(caDER)
	must(err)
	pool.AddCert(caCert)
	return &tls.Config{RootCAs: pool,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ServerName:   "127.0.0.1"}
}

// TestTLSAuth checks who must show a certificate under each value of tls-auth-clients.
func TestTLSAuth(t *testing.T) {
	dir := t.TempDir()
	with := certificates(t, dir)
	without := with.Clone()
	without.Certificates = nil
	for _, c := range []struct {
		mode              string
		withOK, withoutOK bool
	}{{"no", true, true}, {"optional", true, true}, {"yes", true, false}} {
		t.Run(c.mode, func(t *testing.T) {
			e, _ := newEngine(t,
				"port 0\nbind 127.0.0.1\ntls-port "+freePort(t)+"\ntls-auth-clients "+c.mode+
					"\ntls-cert-file "+filepath.Join(dir, "server.crt")+"\ntls-key-file "+
					filepath.Join(dir, "server.key")+
					"\ntls-ca-cert-file "+filepath.Join(dir, "ca.crt")+"\n")
			r := runListening(t, e)
			for _, side := range []struct {
				cfg *tls.Config
				ok  bool
			}{{with, c.withOK}, {without, c.withoutOK}} {
				nc, err := tls.Dial("tcp", r.addr, side.cfg)
				if err == nil {
					_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
					_, err = client.New(nc).Do("ping")
					nc.Close()
				}
				if (err == nil) != side.ok {
					t.Errorf("certificate shown: %v, error: %v", len(side.cfg.Certificates) > 0,
						err)
				}
			}
			r.eventually("handshakes leave no client", func() bool { return r.clients() == 0 })
		})
	}
}

func TestTLSConfigErrors(t *testing.T) {
	dir := t.TempDir()
	certificates(t, dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	good := config.Config{TLSCertFile: file("server.crt"), TLSKeyFile: file("server.key"),
		TLSCACertFile: file("ca.crt"), TLSAuthClients: config.TLSAuthYes}
	if _, err := tlsConfig(&good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*config.Config){
		"no certificate":      func(c *config.Config) { c.TLSCertFile = "" },
		"no key":              func(c *config.Config) { c.TLSKeyFile = "" },
		"missing certificate": func(c *config.Config) { c.TLSCertFile = file("none") },
		"key as certificate":  func(c *config.Config) { c.TLSCertFile = c.TLSKeyFile },
		"no authority":        func(c *config.Config) { c.TLSCACertFile = "" },
		"missing authority":   func(c *config.Config) { c.TLSCACertFile = file("none") },
		"key as authority":    func(c *config.Config) { c.TLSCACertFile = c.TLSKeyFile },
		"unknown protocol":    func(c *config.Config) { c.TLSProtocols = "TLSv1.2 TLSv9" },
	} {
		c := good
		change(&c)
		if _, err := tlsConfig(&c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	good.TLSProtocols = "TLSv1.3"
	cfg, err := tlsConfig(&good)
	if err != nil || cfg.MinVersion != tls.VersionTLS13 || cfg.MaxVersion != tls.VersionTLS13 {
		t.Errorf("TLSv1.3 alone: %v, %x to %x", err, cfg.MinVersion, cfg.MaxVersion)
	}
}
