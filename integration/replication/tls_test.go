package replication

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// certificate writes a certificate that is its own authority, and returns the directives for it.
func certificate(t *testing.T) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true,
		Subject: pkix.Name{CommonName: "replication"}, BasicConstraintsValid: true,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := testserver.Dir(t)
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	certFile := write("cert", "CERTIFICATE", cert)
	return []string{"--tls-cert-file", certFile, "--tls-ca-cert-file", certFile,
		"--tls-key-file", write("key", "PRIVATE KEY", secret), "--tls-replication", "yes"}
}

// TestTLS links servers by TLS, and cuts the link.
func TestTLS(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{redis7, godwit}, {godwit, godwit}, {godwit, redis7}, {godwit, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		port, err := testserver.Port()
		require.NoError(t, err)
		tls := append(certificate(t), bigBacklog...)
		master := p.run(t, p.master, append(tls, "--tls-port", strconv.Itoa(port))...)
		replica := p.run(t, p.replica, tls...)
		fill(t, master, seed, 300, p.master, p.replica)
		proxy, err := testserver.StartProxy("127.0.0.1:"+strconv.Itoa(port), seed)
		require.NoError(t, err)
		t.Cleanup(proxy.Close)
		link(t, replica, proxy.Addr)
		writers := startLoad(t, master, seed+1, 2, p.master, p.replica)
		for range 3 {
			before := syncs(t, master)
			proxy.CutWithin(20_000)
			require.Eventually(t, func() bool { return syncs(t, master) > before },
				testserver.Patience, time.Millisecond)
		}
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
		if p.replica != redis8 { // see TestCuts
			require.EqualValues(t, 1, stat(t, master, "sync_full"))
		}
	})
}
