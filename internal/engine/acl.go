package engine

import (
	"godwit/internal/acl"
	"godwit/internal/spec"
)

// access is who may do what.
//
// Every client has a user, and all clients of a user share it, so that a change of rules counts from the next command on, also for those
// that wait in a transaction or block. Internal clients have none: what a log replays was allowed when it was written.
type access struct {
	users *acl.Users
	def   *acl.User // the default one, which never goes
	log   acl.Log
	call  acl.Call // of the command that is checked
	refs  []spec.KeyRef
}

// initAccess makes the default user, with requirepass as its password.
func (e *Engine) initAccess() {
	e.access.users = acl.NewUsers(e.table.Table)
	e.access.def = e.access.users.Get(acl.Default)
	if e.Cfg.RequirePass != "" {
		e.ApplyRequirePass()
	}
}

// ApplyRequirePass gives the default user the password of requirepass, or none. It follows each change of the directive.
func (e *Engine) ApplyRequirePass() {
	rules := []string{"nopass"}
	if p := e.Cfg.RequirePass; p != "" {
		rules = []string{"resetpass", ">" + p}
	}
	if _, err := e.access.users.Set(acl.Default, rules, false); err != nil {
		panic(err) // any password will do
	}
}

// Users are all users. They are changed through the engine.
func (e *Engine) Users() *acl.Users { return e.access.users }

// DefaultUser is the user of clients that have not said who they are.
func (e *Engine) DefaultUser() *acl.User { return e.access.def }

// ACLLog is what ACL LOG shows.
func (e *Engine) ACLLog() *acl.Log { return &e.access.log }

// openToAll reports whether clients need not authenticate.
func (e *Engine) openToAll() bool { return e.access.def.NoPass() && e.access.def.Enabled() }

// Stranger reports whether the client must authenticate before anything else.
func (e *Engine) Stranger(c *Client) bool { return !c.Authenticated && !e.openToAll() }

// setDefaultUser makes the client the default user's, as each is at first.
func (e *Engine) setDefaultUser(c *Client) {
	c.User = e.access.def
	c.Authenticated = e.openToAll()
}
