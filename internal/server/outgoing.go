package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
)

// dialer implements engine.Dialer for a server: it opens the engine's connections to others.
type dialer struct{ *Server }

// Dial implements engine.Dialer. It connects with the executor held.
func (s dialer) Dial(o engine.DialOptions) (net.Conn, error) { return connect(o, *s.eng.Cfg) }

// Connect implements engine.Dialer. It connects on a goroutine of its own, with the configuration
// as it is now.
func (s dialer) Connect(o engine.DialOptions, done func(net.Conn, error)) {
	cfg := *s.eng.Cfg
	go func() {
		defer crash.Guard("connecting to another server")()
		nc, err := connect(o, cfg)
		s.eng.EnterBetween()
		if !s.stopping.Load() {
			done(nc, err)
		} else if nc != nil {
			_ = nc.Close() // nobody is left to use it
		}
		s.eng.Leave()
	}()
}

// Dial opens a connection for a tool that is no server. Only the tls directives of the
// configuration count.
func Dial(o engine.DialOptions, c *config.Config) (net.Conn, error) { return connect(o, *c) }

// connect opens a connection. It takes a copy of the configuration, because it may run without the
// executor.
func connect(o engine.DialOptions, c config.Config) (net.Conn, error) {
	return connectWith(context.Background(), o,
		func() (*tls.Config, error) { return outgoingTLS(&c) })
}

// connectWith opens a connection before the context ends. It asks for the configuration of TLS if
// the options want TLS.
func connectWith(ctx context.Context, o engine.DialOptions,
	outgoing func() (*tls.Config, error)) (net.Conn, error) {
	d := &net.Dialer{Timeout: o.Timeout}
	network := "tcp"
	if o.Unix {
		network = "unix"
	}
	if o.Source != "" {
		from, err := net.ResolveIPAddr("ip", o.Source)
		if err != nil {
			return nil, err
		}
		d.LocalAddr = &net.TCPAddr{IP: from.IP, Zone: from.Zone}
	}
	if !o.TLS {
		return d.DialContext(ctx, network, o.Addr)
	}
	t, err := outgoing()
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{NetDialer: d, Config: t}).DialContext(ctx, network, o.Addr)
}

// outgoingTLS returns the configuration of the client's side. The other server must have a
// certificate of the configured authorities; as with Redis, its name does not matter.
func outgoingTLS(c *config.Config) (*tls.Config, error) {
	t, err := tlsIdentity(c)
	if err != nil {
		return nil, err
	}
	if c.TLSCACertFile == "" && c.TLSCACertDir == "" {
		return nil, errors.New("no tls-ca-cert-file configured")
	}
	roots, err := tlsRoots(c)
	if err != nil {
		return nil, err
	}
	t.InsecureSkipVerify = true // or the name would have to match; VerifyConnection does the rest
	t.VerifyConnection = func(cs tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, cert := range cs.PeerCertificates[1:] {
			o.Intermediates.AddCert(cert)
		}
		_, err := cs.PeerCertificates[0].Verify(o)
		return err
	}
	return t, nil
}
