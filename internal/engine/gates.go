package engine

import (
	"godwit/internal/acl"
	"godwit/internal/script"
)

// The gates
//
// A command passes one of the lists below before it runs, from top to bottom. The first entry that
// holds decides; the order is Redis's, for clients see it.
//
//	gates          commands of clients, when they come, when MULTI queues them, and when they have
//	               waited and run again
//	gatesAtExec    commands that EXEC runs: all else was held against them when they were queued
//	scriptGates    a script or function as a whole, whose EVAL or FCALL has passed gates
//	scriptRefuses  commands that a script calls
//
// The commands of a log pass none of them, see LoadTarget.Exec.

// refusal is what a list of gates says: an error text, or one of the constants below.
type refusal string

const (
	passed refusal = ""         // the command may run
	closed refusal = "(closed)" // its client is being closed, and is told nothing
	held   refusal = "(held)"   // it comes again when CLIENT PAUSE ends
)

// gates holds a client's command against whatever may refuse it.
func (e *Engine) gates(c *Ctx) refusal {
	cmd, cl := c.Cmd, c.Client
	flags := effectiveFlags(cmd, cl)
	switch {
	case !cmd.runnable(c.Args): // the handler, and most of what follows, relies on the arguments
		return refusal(wrongArity(cmd))
	case cl.Origin != OriginConnection: // it is obeyed, but a pause is for the master too
		if e.pause.active && e.postpone(c, flags) {
			return held
		}
		return passed
	case cmd.guard() != Open && !e.opened(cmd, cl): // nobody opens DEBUG to himself, whatever his rights
		return guardText(cmd)
	case !cl.Authenticated && e.isStranger(cmd): // whoever has not said who he is learns nothing else
		return ErrNoAuth
	case cl.multi != nil && flags&NoMulti != 0: // the whole transaction would be refused at EXEC
		return ErrNotInMulti
	case !e.mayAll(cl): // access control comes before anything that tells of the server's state
		if reason := e.permit(c); reason != acl.Allowed {
			return refusal(deniedText(reason, cmd))
		}
	}
	switch {
	case e.Cfg.MaxmemoryClients != 0 && e.tooLarge(cl): // before keys are evicted for what clients take
		return closed
	case e.KS.P.MaxMemory > 0 && e.lacksMemory(c, flags): // eviction comes before the rest: it makes room for all
		return ErrOOM
	case flags&(Write|TellsDiskErrors) != 0 && e.diskError() != "": // nothing that may be lost is promised
		return refusal(e.diskError())
	case flags&Write != 0 && e.lacksReplicas(): // likewise
		return ErrNoReplicas
	case cl.Class == ClassPubSub && cl.restricted() && !cmd.Is(WhileSubscribed): // its replies pass for messages
		return refusal("ERR Can't execute '" + cmd.fullName + ErrSubscribed)
	case e.loading.on && flags&Loading == 0: // half a data set is not served
		return ErrLoading
	case e.script.run != nil && !cmd.Is(AllowBusy): // a busy script is in the middle of its unit
		return refusal(e.BusyText())
	case cl.Monitor && flags&(Write|ReadOnly|MayReplicate) != 0: // as for Redis, where monitors count as replicas
		return ErrMonitorKeys
	case e.pause.active && !c.rerun && e.postpone(c, flags): // only what would run is held back
		return held
	}
	return passed
}

// gatesAtExec holds a queued command against what may have changed since it was queued: rights.
func (e *Engine) gatesAtExec(c *Ctx) refusal {
	if reason := e.permit(c); reason != acl.Allowed {
		return refusal(deniedAtExec(reason))
	}
	return passed
}

// scriptGates holds a script against what it declares. One that declares nothing passes: its
// commands decide.
func (e *Engine) scriptGates(r *runningScript) refusal {
	obeyed := e.obeys(r.caller)
	over := e.mem.refused && e.KS.P.MaxMemory > 0 && !obeyed
	r.noWrites = r.ReadOnly || r.Declared && r.Flags&script.NoWrites != 0
	r.oom = over && !(r.Declared && r.Flags&script.AllowOOM != 0)
	writes := r.Flags&script.NoWrites == 0
	switch {
	case !r.Declared:
		return passed
	case writes && r.ReadOnly: // EVAL_RO and its kin promise to their users that nothing is written
		return errScriptROWrite
	case writes && !obeyed && e.diskError() != "": // a script must not fail in its middle
		return refusal(e.diskError())
	case writes && !obeyed && e.lacksReplicas(): // likewise
		return ErrNoReplicas
	case writes && r.oom: // likewise
		return errScriptOOM
	}
	return passed
}

// scriptRefuses holds a command that the running script calls against whatever may refuse it. cmd
// is nil for an unknown command.
func (e *Engine) scriptRefuses(cmd *Command, argv [][]byte) refusal {
	r := e.script.run
	switch {
	case cmd == nil:
		return errScriptUnknown
	case !cmd.runnable(argv): // as in gates
		return errScriptArity
	case cmd.Is(NoScript): // it would act on the client, or wait
		return errScriptDenied
	case r == nil: // a library that is being loaded
		return errScriptNone
	}
	e.script.ctx = Ctx{E: e, Client: e.script.client, Cmd: cmd, Args: argv}
	if reason := e.permit(&e.script.ctx); reason != acl.Allowed { // the script has its caller's rights
		return refusal(deniedScript(reason))
	}
	obeyed := e.obeys(r.caller)
	switch {
	case r.noWrites && cmd.Flags&(Write|MayReplicate) != 0: // as Redis, which counts PUBLISH as a write here
		return errScriptWrite
	case cmd.Is(Write) && !obeyed && e.diskError() != "":
		return refusal(e.diskError())
	case cmd.Is(Write) && !obeyed && e.lacksReplicas():
		return ErrNoReplicas
	case r.oom && !r.wrote && cmd.Is(DenyOOM): // one that has written may finish what it began
		return ErrOOM
	}
	return passed
}

// runnable reports whether the command can run with these arguments. A container by itself cannot.
func (c *Command) runnable(argv [][]byte) bool { return c.Run != nil && c.AcceptsArgs(len(argv)) }

// guard is the directive that must open the command, or its container.
func (c *Command) guard() Protection {
	if c.Protected == Open && c.parent != nil {
		return c.parent.Protected
	}
	return c.Protected
}

// opened reports whether the configuration opens a guarded command to the client.
func (e *Engine) opened(cmd *Command, cl *Client) bool {
	if cmd.guard() == ByDebugCommand {
		return e.Cfg.EnableDebugCommand.Allows(cl.Local)
	}
	return e.Cfg.EnableModuleCommand.Allows(cl.Local)
}

// guardText is the error for a guarded command that is not open.
func guardText(cmd *Command) refusal {
	if cmd.guard() == ByDebugCommand {
		return ErrDebugNotAllowed
	}
	return ErrModuleNotAllowed
}

// isStranger reports whether the command is refused to clients that have not authenticated.
func (e *Engine) isStranger(cmd *Command) bool { return !cmd.Is(NoAuth) && !e.openToAll() }

// mayAll reports whether the client's user may do everything.
func (e *Engine) mayAll(cl *Client) bool { return cl.User == nil || cl.User.Unrestricted() }

// tooLarge closes clients until all are within maxmemory-clients, and reports whether this one is
// among them.
func (e *Engine) tooLarge(cl *Client) bool {
	e.countClient(cl)
	return e.limitClients()
}

// lacksMemory evicts keys to make room for the command, and reports whether it is refused because
// there is none. Scripts that the command runs are refused for the same reason (scriptGates). What
// eviction tells the client comes before the reply.
func (e *Engine) lacksMemory(c *Ctx, flags Flag) bool {
	if e.loading.on || e.script.run != nil { // a busy script: keys must not go in the middle of its unit
		return false
	}
	e.pushing.early = true
	e.mem.refused = !e.makeRoom(c)
	e.pushing.early = false
	// A queue may take any amount of memory too.
	return e.mem.refused && (flags&DenyOOM != 0 || c.Client.multi != nil && flags&LeavesMulti == 0)
}

// lacksReplicas reports whether too few replicas are there for writes. There are none.
func (e *Engine) lacksReplicas() bool {
	return e.Cfg.MinReplicasToWrite > 0 && e.Cfg.MinReplicasMaxLag > 0
}
