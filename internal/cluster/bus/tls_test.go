package bus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// certificate returns a certificate that signs itself, with a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true,
		Subject:               pkix.Name{CommonName: "node"},
		NotAfter:              time.Now().Add(time.Hour),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// withTLS makes a bus use TLS with that certificate.
func withTLS(own tls.Certificate, trusted *x509.CertPool) func(*Options) {
	return func(o *Options) {
		conf := &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: trusted,
			ClientAuth: tls.RequireAndVerifyClientCert, InsecureSkipVerify: true}
		conf.VerifyConnection = func(s tls.ConnectionState) error {
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: trusted,
				KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
			return err
		}
		o.Verified = true
		o.Wrap = func(c net.Conn) net.Conn { return tls.Server(c, conf) }
		o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", addr)
		}
	}
}

func TestTLS(t *testing.T) {
	cert, pool := certificate(t)
	a, b := start(t, 1, "", withTLS(cert, pool)), start(t, 2, "", withTLS(cert, pool))
	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2) // what is sent before may be dropped, if a handshake takes too long
	require.True(t, a.Send(id(2), control, []byte("sealed")))
	require.Equal(t, []string{"01 8 sealed"}, b.received(t, 1))
	require.False(t, a.alone())

	otherCert, otherPool := certificate(t)
	c := start(t, 3, "", withTLS(otherCert, otherPool))
	c.SetPeers(map[string]string{id(1): a.addr})
	c.logged(t, "x509: certificate signed by unknown authority")
	d := start(t, 4, "", withTLS(otherCert, pool))
	d.SetPeers(map[string]string{id(2): b.addr})
	b.logged(t, "refused: tls: failed to verify certificate: x509: certificate signed by unknown")

	plain := start(t, 5, "")
	plain.SetPeers(map[string]string{id(1): a.addr})
	a.logged(t, "it does not use TLS, and tls-cluster is yes here")
	a.SetPeers(map[string]string{id(5): plain.addr})
	plain.logged(t, "it speaks TLS, and tls-cluster is no here")
}

// TestRelayedTLS puts somebody between two nodes, with a certificate that both believe, who passes
// on what each says to the other one. The secret is right, and yet they must not talk.
func TestRelayedTLS(t *testing.T) {
	cert, pool := certificate(t)
	a, b := start(t, 1, "s", withTLS(cert, pool)), start(t, 2, "s", withTLS(cert, pool))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	conf := &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true}
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := tls.Dial("tcp", b.addr, conf)
			if err != nil {
				in.Close()
				continue
			}
			caller := tls.Server(in, conf)
			go func() { _, _ = io.Copy(out, caller); out.Close() }()
			go func() { _, _ = io.Copy(caller, out); caller.Close() }()
		}
	}()
	a.SetPeers(map[string]string{id(2): ln.Addr().String()})
	b.logged(t, "it does not know our cluster-secret")
	a.logged(t, "cluster-secret differs")
	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2)
}
