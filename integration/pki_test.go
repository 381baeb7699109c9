package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// pki is a certificate authority made for a test, with a server and a client that it has signed.
type pki struct {
	pool                      *x509.CertPool
	clientCert                tls.Certificate
	caFile, certFile, keyFile string
	clientFile, clientKeyFile string
	strangerCert              tls.Certificate // signed by another authority
	caKey                     *ecdsa.PrivateKey
	ca                        *x509.Certificate
	dir                       string
	serial                    int64
}

func newPKI(dir string) (*pki, error) {
	p := &pki{dir: dir, pool: x509.NewCertPool()}
	var err error
	if p.ca, p.caKey, err = p.authority("ca"); err != nil {
		return nil, err
	}
	p.pool.AddCert(p.ca)
	p.caFile = filepath.Join(dir, "ca.crt")
	if _, p.certFile, p.keyFile, err = p.issue("server", p.ca, p.caKey); err != nil {
		return nil, err
	}
	p.clientCert, p.clientFile, p.clientKeyFile, err = p.issue("client", p.ca, p.caKey)
	if err != nil {
		return nil, err
	}
	other, otherKey, err := p.authority("other-ca")
	if err != nil {
		return nil, err
	}
	p.strangerCert, _, _, err = p.issue("stranger", other, otherKey)
	return p, err
}

// args returns the arguments that make a server use the certificates.
func (p *pki) args() []string {
	return []string{"--tls-cert-file", p.certFile, "--tls-key-file", p.keyFile,
		"--tls-ca-cert-file", p.caFile}
}

// client returns the TLS configuration of a client, with or without a certificate of its own.
func (p *pki) client(certified bool) *tls.Config {
	c := &tls.Config{RootCAs: p.pool, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	if certified {
		c.Certificates = []tls.Certificate{p.clientCert}
	}
	return c
}

func (p *pki) template(name string) *x509.Certificate {
	p.serial++
	return &x509.Certificate{
		SerialNumber: big.NewInt(p.serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}
}

func (p *pki) authority(name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	t := p.template(name)
	t.IsCA, t.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	if _, err := p.write(name+".crt", "CERTIFICATE", der); err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

func (p *pki) issue(name string, ca *x509.Certificate, caKey *ecdsa.PrivateKey) (c tls.Certificate,
	certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, "", "", err
	}
	t := p.template(name)
	t.DNSNames, t.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, t, ca, &key.PublicKey, caKey)
	if err != nil {
		return c, "", "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, "", "", err
	}
	if certFile, err = p.write(name+".crt", "CERTIFICATE", der); err != nil {
		return c, "", "", err
	}
	if keyFile, err = p.write(name+".key", "PRIVATE KEY", keyDER); err != nil {
		return c, "", "", err
	}
	c, err = tls.LoadX509KeyPair(certFile, keyFile)
	return c, certFile, keyFile, err
}

func (p *pki) write(name, kind string, der []byte) (string, error) {
	path := filepath.Join(p.dir, name)
	err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	if err != nil {
		err = fmt.Errorf("certificate: %w", err)
	}
	return path, err
}

// dial connects by TLS, with a certificate, until the test ends.
func (p *pki) dial(t testing.TB, addr string) *client.Client {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, p.client(true))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return client.New(conn)
}
