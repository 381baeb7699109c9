package crash

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// doors are the ways into a server besides its TCP port. Each dial takes the next one.
type doors struct {
	args  []string
	dials []func() (*client.Client, error)
}

// openDoors chooses a unix socket and a TLS port in dir.
func openDoors(dir string) (*doors, error) {
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := selfSigned(cert, key); err != nil {
		return nil, err
	}
	port, err := testserver.Port()
	if err != nil {
		return nil, err
	}
	addr, path := net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), filepath.Join(dir, "s")
	d := &doors{args: []string{"--unixsocket", path, "--tls-port", strconv.Itoa(port),
		"--tls-cert-file", cert,
		"--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no"}}
	d.dials = append(d.dials, func() (*client.Client, error) { return client.Dial("unix", path) })
	d.dials = append(d.dials, func() (*client.Client, error) {
		// The server is the test's own.
		conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return nil, err
		}
		return client.New(conn), nil
	})
	return d, nil
}

// selfSigned writes a self-signed certificate and its key.
func selfSigned(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	if err := os.WriteFile(certFile, cert, 0o600); err != nil {
		return err
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	return os.WriteFile(keyFile, private, 0o600)
}
