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
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/acl"
	"godwit/internal/config"
	"godwit/internal/engine"
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
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "tester"},
			URIs: []*url.URL{{Scheme: "urn", Opaque: "nobody"}, {Scheme: "urn", Opaque: "tester"}},
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

// startTLS starts a server with the certificates of the folder, and with more directives.
func startTLS(t *testing.T, dir, conf string) *rig {
	e, log := newEngine(t, "port 0\nbind 127.0.0.1\ntls-port "+freePort(t)+
		"\ntls-cert-file "+filepath.Join(dir, "server.crt")+
		"\ntls-key-file "+filepath.Join(dir, "server.key")+
		"\ntls-ca-cert-file "+filepath.Join(dir, "ca.crt")+"\n"+conf)
	for _, name := range []string{"tester", "urn:tester", "urn:nobody"} {
		rules := []string{"on", "+@all"}
		if name == "urn:nobody" {
			rules[0] = "off"
		}
		if _, err := e.SetUser(name, rules); err != nil {
			t.Fatal(err)
		}
	}
	r := runListening(t, e)
	r.log = log
	return r
}

// dialTLS connects until the test ends.
func dialTLS(t *testing.T, addr string, with *tls.Config) *client.Client {
	t.Helper()
	nc, err := tls.Dial("tcp", addr, with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return client.New(nc)
}

// TestTLSUser checks whom a certificate makes a client.
func TestTLSUser(t *testing.T) {
	dir := t.TempDir()
	with := certificates(t, dir)
	for mode, want := range map[string]string{
		"off": "default", "cn": "tester", "URI": "urn:tester",
	} {
		r := startTLS(t, dir, "tls-auth-clients-user "+mode+"\n")
		r.want(dialTLS(t, r.addr, with), "PONG", "ping")
		r.locked(func() {
			r.eng.Clients(func(c *engine.Client) bool {
				if got := c.UserName(); got != want || !c.Authenticated {
					t.Errorf("%q: user %s, want %s", mode, got, want)
				}
				return true
			})
		})
	}
}

// TestTLSUserUnknown checks that a certificate of nobody leaves the default user, and is counted.
func TestTLSUserUnknown(t *testing.T) {
	dir := t.TempDir()
	with := certificates(t, dir)
	r := startTLS(t, dir, "tls-auth-clients-user CN\n")
	r.locked(func() {
		if _, err := r.eng.SetUser("tester", []string{"off"}); err != nil {
			t.Error(err)
		}
	})
	r.want(dialTLS(t, r.addr, with), "PONG", "ping")
	r.locked(func() {
		if n := r.eng.Stats.Denied[acl.DeniedCert]; n != 1 {
			t.Errorf("%d refusals", n)
		}
	})
}

// TestTLSReload exchanges the certificates below a running server. Broken ones leave the old.
func TestTLSReload(t *testing.T) {
	dir := t.TempDir()
	old := certificates(t, dir)
	r := startTLS(t, dir, "tls-auto-reload-interval 1\ntls-auth-clients no\n")
	trusts := func(cfg *tls.Config) bool {
		nc, err := tls.Dial("tcp", r.addr, cfg)
		if err == nil {
			nc.Close()
		}
		return err == nil
	}
	if !trusts(old) {
		t.Fatal("the first certificates do not work")
	}
	path := filepath.Join(dir, "server.crt")
	if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.eventually("the failure is logged", func() bool {
		return strings.Contains(r.log.String(), "Background TLS reload failed")
	})
	if !trusts(old) {
		t.Error("the old certificate is gone")
	}
	fresh := certificates(t, dir)
	r.eventually("the new certificates are in use", func() bool { return trusts(fresh) })
	if trusts(old) {
		t.Error("the old certificate is still in use")
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

// TestTLSConfigSetFails checks that a CONFIG SET that fails behind the certificates leaves those in
// use, though their files are not readable any more.
func TestTLSConfigSetFails(t *testing.T) {
	dir, more := t.TempDir(), t.TempDir()
	old := certificates(t, dir)
	fresh := certificates(t, more)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	r := startTLS(t, dir, "")
	if err := os.WriteFile(filepath.Join(dir, "server.crt"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	facts := r.eng.TLS
	pairs := []string{"tls-cert-file", filepath.Join(more, "server.crt"), "tls-key-file",
		filepath.Join(more, "server.key"), "tls-ca-cert-file", filepath.Join(more, "ca.crt"),
		"tls-auth-clients-user", "CN"}
	if err := r.set(append(pairs, "port", port)...); err == nil ||
		!strings.Contains(err.Error(), "argument 'port'") {
		t.Fatal("a port in use:", err)
	}
	dialTLS(t, r.addr, old)
	if r.eng.TLS != facts {
		t.Errorf("INFO says %v of the certificates, not %v", r.eng.TLS, facts)
	}
	if err := r.set("tls-auto-reload-interval", "5"); err != nil {
		t.Error("a directive that needs no certificate:", err)
	}
	if err := r.set("tls-protocols", "TLSv1.3"); err == nil ||
		!strings.Contains(err.Error(), "argument 'tls-protocols'") {
		t.Error("a broken certificate:", err)
	}
	dialTLS(t, r.addr, old)
	if err := r.set(pairs...); err != nil {
		t.Fatal(err)
	}
	dialTLS(t, r.addr, fresh)
}
