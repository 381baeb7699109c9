package command

import "godwit/internal/engine"

// infoTLS writes a section of Valkey, which INFO shows only under its own name here.
func infoTLS(t *infoText) {
	line := func(name string, c engine.Certificate) {
		left := int64(0)
		if c.Serial == "" {
			c.Serial = "none"
		} else {
			left = c.Expires - t.e.Now()/1000
		}
		t.str("tls_"+name+"_cert_serial", c.Serial)
		t.num("tls_"+name+"_cert_expires_in_seconds", left)
	}
	line("server", t.e.TLS.Server)
	line("client", engine.Certificate{}) // links to other servers have none
	line("ca", t.e.TLS.CA)
}
