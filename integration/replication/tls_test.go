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

// selfSigned writes a certificate that is its own authority, and returns the directives for it.
func selfSigned(t *testing.T) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	crt := file("crt", "CERTIFICATE", cert)
	return []string{"--tls-cert-file", crt, "--tls-ca-cert-file", crt,
		"--tls-key-file", file("key", "PRIVATE KEY", secret)}
}

// TestTLS has replicas come over TLS, whose links are cut while much is written.
func TestTLS(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, redis7}, {godwit, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		certs := selfSigned(t)
		port, err := testserver.Port()
		require.NoError(t, err)
		args := append(append(certs, bigBacklog...), "--tls-port", strconv.Itoa(port))
		master := p.run(t, p.master, args...)
		replica := p.run(t, p.replica, append(certs, "--tls-replication", "yes")...)
		fill(t, master, seed, 2000, p.master, p.replica)
		link(t, replica, "127.0.0.1:"+strconv.Itoa(port))
		writers := startLoad(t, master, seed+1, 2, p.master, p.replica)
		for _, resumed := range []string{"1", "2"} {
			require.Equal(t, "1", do(t, master, "CLIENT", "KILL", "TYPE", "replica"))
			require.NoError(t, master.WaitInfo("stats", "resumed",
				func(i map[string]string) bool { return i["sync_partial_ok"] == resumed }))
			require.NoError(t, replica.WaitLink())
		}
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
		require.EqualValues(t, 2, stat(t, master, "sync_partial_ok"))
	})
}
