package engine

import (
	"godwit/internal/acl"
	"godwit/internal/spec"
)

// Error texts of access control.
const (
	errDeniedKey = "NOPERM this user has no permissions to access one of the keys used as " +
		"arguments"
	errDeniedChannel = "NOPERM this user has no permissions to access one of the channels used " +
		"as arguments"
	errDeniedAtExec = "NOPERM ACLs rules changed between the moment the transaction was " +
		"accumulated and the EXEC call. This command is no longer allowed for the following " +
		"reason: "
	errDeniedScript = "ERR The user executing the script "
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
	reason, pos := u.Check(e.aclCall(u, c.Cmd, c.Args))
	if reason != acl.Allowed {
		object := c.Cmd.FullName()
		if reason != acl.DeniedCommand {
			object = string(c.Args[pos])
		}
		e.logDenied(c, reason, object, u.Name)
	}
	return reason
}

// aclCall collects what the user's rights depend on. The result is valid until the next call.
func (e *Engine) aclCall(u *acl.User, cmd *spec.Command, argv [][]byte) *acl.Call {
	a := &e.access
	call := &a.call
	call.Cmd, call.Argv, call.Keys, call.Channels = cmd, argv, call.Keys[:0], call.Channels[:0]
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
func (c *Ctx) ReadsAll() bool {
	u := c.Client.User
	return u == nil || u.Unrestricted() || u.MayWithAllKeys(c.E.aclCall(u, c.Cmd, c.Args), acl.Read)
}

// DryRun returns what access control says to a call of the command by the user. pos is the argument
// that a refusal is about.
func (e *Engine) DryRun(
	u *acl.User, cmd *spec.Command, argv [][]byte,
) (reason acl.Reason, pos int) {
	return u.Check(e.aclCall(u, cmd, argv))
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

// deniedText returns the error of a refused command.
func deniedText(reason acl.Reason, cmd *spec.Command) string {
	switch reason {
	case acl.DeniedKey:
		return errDeniedKey
	case acl.DeniedChannel:
		return errDeniedChannel
	}
	return "NOPERM this user has no permissions to run the '" + cmd.FullName() + "' command"
}

// deniedAtExec returns the error of a queued command whose user has lost the right to it.
func deniedAtExec(reason acl.Reason) string {
	switch reason {
	case acl.DeniedKey:
		return errDeniedAtExec + "no permission to touch the specified keys"
	case acl.DeniedChannel:
		return errDeniedAtExec + "no permission to access one of the channels used as arguments"
	}
	return errDeniedAtExec + "no permission to execute the command or subcommand"
}

// deniedScript returns the error of a command that a script calls.
func deniedScript(reason acl.Reason) string {
	switch reason {
	case acl.DeniedKey:
		return errDeniedScript +
			"can't access at least one of the keys mentioned in the command arguments"
	case acl.DeniedChannel:
		return errDeniedScript + "can't publish to the channel mentioned in the command"
	}
	return errDeniedScript + "can't run this command or subcommand"
}
