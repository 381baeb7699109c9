package engine

import "godwit/internal/acl"

// TLSFacts is what INFO tls says of the certificates. A zero Certificate is none.
type TLSFacts struct{ Server, CA Certificate }

// Certificate is what INFO says of one certificate.
type Certificate struct {
	Serial  string // in hexadecimal
	Expires int64  // unix s
}

// LoginByCertificate logs the client in as the first of the names, from its certificate, that is
// an enabled user's. If none is, the client stays the default user's, and the ACL log tells. The
// executor must be held.
func (e *Engine) LoginByCertificate(cl *Client, names []string) {
	for _, name := range names {
		if u := e.access.users.Get(name); u != nil && u.Enabled() {
			cl.User, cl.Authenticated = u, true
			return
		}
	}
	first := ""
	if len(names) > 0 {
		first = names[0]
	}
	e.Log.Verbose("TLS: no enabled user has the name of the client's certificate (addr=%s)",
		cl.Addr)
	e.logDenied(&Ctx{E: e, Client: cl}, acl.DeniedCert, "", first)
}
