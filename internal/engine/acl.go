package engine

import (
	"godwit/internal/acl"
	"godwit/internal/spec"
)

// access holds the users and what access control remembers.
//
// Every client has a user, and all clients of a user share it. So a change of rules counts from the
// next command on, also for clients that wait in a transaction or are blocked. The client of a log
// has no user: what it replays was allowed when it was written.
type access struct {
	users *acl.Users
	def   *acl.User // the default one, which never goes
	log   acl.Log
	call  acl.Call // of the command that is checked
	refs  []spec.KeyRef
}

// initAccess makes the default user and gives it the password of requirepass.
func (e *Engine) initAccess() {
	e.access.users = acl.NewUsers(e.table.Table)
	e.access.def = e.access.users.Get(acl.Default)
	if e.Cfg.RequirePass != "" {
		e.ApplyRequirePass()
	}
}

// ApplyRequirePass gives the default user the password of requirepass, or none if it is empty. It
// must be called after each change of the directive.
func (e *Engine) ApplyRequirePass() {
	rules := []string{"nopass"}
	if p := e.Cfg.RequirePass; p != "" {
		rules = []string{"resetpass", ">" + p}
	}
	if _, err := e.access.users.Set(acl.Default, rules, false); err != nil {
		panic(err) // any password will do
	}
}

// Users returns all users. They must be changed through the engine only.
func (e *Engine) Users() *acl.Users { return e.access.users }

// DefaultUser returns the user of clients that have not authenticated.
func (e *Engine) DefaultUser() *acl.User { return e.access.def }

// ACLLog returns the entries of ACL LOG.
func (e *Engine) ACLLog() *acl.Log { return &e.access.log }

// openToAll reports whether clients need not authenticate.
func (e *Engine) openToAll() bool { return e.access.def.NoPass() && e.access.def.Enabled() }

// Stranger reports whether the client must authenticate before anything else.
func (e *Engine) Stranger(c *Client) bool { return !c.Authenticated && !e.openToAll() }

// setDefaultUser gives the client the default user, as every client has at first.
func (e *Engine) setDefaultUser(c *Client) {
	c.User = e.access.def
	c.Authenticated = e.openToAll()
}
