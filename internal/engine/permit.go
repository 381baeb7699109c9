package engine

import (
	"godwit/internal/acl"
	"godwit/internal/keyspace"
	"godwit/internal/spec"
)

// Error texts of access control.
const (
	errDeniedAtExec = "NOPERM ACLs rules changed between the moment the transaction was " +
		"accumulated and the EXEC call. This command is no longer allowed for the following " +
		"reason: "
	errDeniedScript = "ERR ACL failure in script: "
)

// Login authenticates the client of the command. It reports false if the password is wrong, and
// logs that.
func (e *Engine) Login(c *Ctx, name, password []byte) bool {
	u := e.access.users.Authenticate(string(name), password)
	if u == nil {
		e.logDenied(c, acl.DeniedAuth, string(c.Args[0]), string(name))
		return false
	}
	c.Client.User, c.Client.Authenticated = u, true
	return true
}

// permit returns whether the client's user may run the command with these arguments. It logs a
// refusal.
func (e *Engine) permit(c *Ctx) acl.Reason {
	u := c.Client.User
	if u == nil || u.Unrestricted() {
		return acl.Allowed
	}
	reason, pos := u.Check(e.aclCall(u, c.Client.db, c.Cmd, c.Args))
	if reason != acl.Allowed {
		object := c.Cmd.FullName()
		if pos != 0 {
			object = string(c.Args[pos])
		}
		e.logDenied(c, reason, object, u.Name)
	}
	return reason
}

// aclCall collects what the user's rights depend on. The result is valid until the next call.
func (e *Engine) aclCall(
	u *acl.User, db *keyspace.DB, cmd *spec.Command, argv [][]byte,
) *acl.Call {
	a := &e.access
	call := &a.call
	call.Cmd, call.Argv = cmd, argv
	call.Keys, call.Channels, call.Databases = call.Keys[:0], call.Channels[:0], call.Databases[:0]
	if u.ChecksDatabases() {
		call.Databases = cmd.DBRefs(call.Databases, argv, db.ID(), e.KS.Databases())
	}
	if len(cmd.Keys) > 0 && u.ChecksKeys() {
		// If the arguments do not say where the keys are, the handler's syntax check refuses them.
		a.refs, _ = cmd.KeyRefs(a.refs[:0], argv)
		for _, r := range a.refs {
			if r.Access&spec.NotKey == 0 {
				call.Keys = append(call.Keys, acl.KeyUse{Pos: r.Pos, Mode: acl.ModeOf(r.Access)})
			}
		}
	}
	if cmd.Channels != spec.NoChannels && u.ChecksChannels() {
		last := len(argv) - 1
		if cmd.Channels == spec.OneChannel {
			last = min(last, 1)
		}
		for i := 1; i <= last; i++ {
			call.Channels = append(call.Channels,
				acl.ChannelUse{Pos: i, Pattern: cmd.Channels == spec.ChannelPatterns})
		}
	}
	return call
}

// ReadsAll reports whether the user may run the command and read every key. SORT reads keys that
// its arguments do not name.
func (c *Ctx) ReadsAll() bool { return c.allKeys(acl.Read) }

// allKeys reports whether the user may run the command, and use every key in a mode.
func (c *Ctx) allKeys(mode acl.Mode) bool {
	u := c.Client.User
	return u == nil || u.Unrestricted() ||
		u.MayWithAllKeys(c.E.aclCall(u, c.Client.db, c.Cmd, c.Args), mode)
}

// MayCopy reports whether the user may use every key in every database in a mode. If not, it
// replies with an error. It is for commands with which nodes copy keys: they name none.
func (c *Ctx) MayCopy(mode acl.Mode) bool {
	u := c.Client.User
	if c.allKeys(mode) && (u == nil || u.Unrestricted() || !u.ChecksDatabases()) {
		return true
	}
	c.E.logDenied(c, acl.DeniedKey, c.Cmd.FullName(), u.Name)
	c.Err("NOPERM User " + u.Name + " has no permissions to copy all keys, as '" +
		c.Cmd.FullName() + "' does")
	return false
}

// DryRun returns why access control refuses a call of the command by the user, naming the key,
// channel or database. It returns "" for a call that is allowed. The selected database is that of
// the client.
func (e *Engine) DryRun(u *acl.User, cl *Client, cmd *spec.Command, argv [][]byte) string {
	reason, pos := u.Check(e.aclCall(u, cl.db, cmd, argv))
	begin, object := "User "+u.Name+" has no permissions to access ", string(argv[pos])
	switch reason {
	case acl.Allowed:
		return ""
	case acl.DeniedKey:
		return begin + "the '" + object + "' key"
	case acl.DeniedChannel:
		return begin + "the '" + object + "' channel"
	case acl.DeniedDatabase:
		return begin + "database " + object
	}
	return deniedText(u, reason, cmd)
}

// logDenied adds a refusal to the ACL log and counts it.
func (e *Engine) logDenied(c *Ctx, reason acl.Reason, object, user string) {
	e.Stats.Denied[reason]++
	where := acl.TopLevel
	real := c.Client
	switch {
	case c.Client.Origin == OriginScript:
		where = acl.InScript
		real = e.current
	case c.Client.multi != nil:
		where = acl.InMulti
	}
	var client string
	if real != nil {
		line := real.AppendInfo(nil, e, 0)
		client = string(line[:len(line)-1])
	}
	e.access.log.Add(
		acl.Entry{Reason: reason, Context: where, Object: object, User: user, Client: client,
			Created: e.now, At: e.Steady()}, int(e.Cfg.ACLLogMaxLen))
}

// deniedText returns why a command is refused, without the code of the error.
func deniedText(u *acl.User, reason acl.Reason, cmd *spec.Command) string {
	switch reason {
	case acl.DeniedKey:
		return "No permissions to access a key"
	case acl.DeniedChannel:
		return "No permissions to access a channel"
	case acl.DeniedDatabase:
		return "No permissions to access database"
	}
	return "User " + u.Name + " has no permissions to run the '" + cmd.FullName() + "' command"
}

// deniedAtExec returns the error of a queued command whose user has lost the right to it.
func deniedAtExec(reason acl.Reason) string {
	switch reason {
	case acl.DeniedKey:
		return errDeniedAtExec + "no permission to touch the specified keys"
	case acl.DeniedChannel:
		return errDeniedAtExec + "no permission to access one of the channels used as arguments"
	case acl.DeniedDatabase:
		return errDeniedAtExec + "no permission"
	}
	return errDeniedAtExec + "no permission to execute the command or subcommand"
}
