package engine

import (
	"godwit/internal/acl"
	"godwit/internal/script"
	"godwit/internal/spec"
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

// gates returns why a client's command is refused, or passed.
func (e *Engine) gates(c *Ctx) refusal {
	cmd, cl, flags := c.Cmd, c.Client, effectiveFlags(c.Cmd, c.Client)
	// The handler, and most of what follows, relies on the arguments.
	if !cmd.AcceptsArgs(len(c.Args)) {
		return refusal(wrongArity(cmd))
	}
	if e.table.declared[cmd.ID()] != nil {
		flags = e.scriptFlags(c, flags)
	}
	switch {
	// So is the source of a migration, as far as it goes.
	case cl.Origin == OriginImport:
		return e.importGates(c, flags)
	// The master is obeyed.
	case cl.Origin != OriginConnection:
		return e.masterGates(c, flags)
	// Only the configuration opens DEBUG and MODULE, whatever rights a user has.
	case cmd.Protected != spec.Open && !e.opened(cmd, cl):
		return guardText(cmd)
	// A client that has not authenticated learns nothing else.
	case !cl.Authenticated && !cmd.Is(spec.NoAuth) && !e.openToAll():
		return ErrNoAuth
	// The whole transaction would be refused at EXEC.
	case cl.multi != nil && flags&spec.NoMulti != 0:
		return ErrNotInMulti
	// Access control comes before anything that tells of the server's state.
	case !e.mayAll(cl):
		if reason := e.permit(c); reason != acl.Allowed {
			return refusal("NOPERM " + deniedText(cl.User, reason, cmd))
		}
	}
	if e.cluster.on {
		if msg := e.clusterGate(c); msg != passed {
			return msg
		}
	}
	return e.stateGates(c, flags)
}

// importGates returns why a command of the source of a migration does not run, or passed. What it
// must not send, and what cannot be kept, ends the migration.
func (e *Engine) importGates(c *Ctx, flags spec.Flag) refusal {
	m := e.migrations.importOf(c.Client)
	switch {
	case m == nil:
		c.Client.CloseASAP = true
		return closed
	// As for all who write.
	case e.pause.active && e.postpone(c):
		return held
	}
	why := e.importRefuses(m, c, flags)
	if why == "" && e.KS.P.MaxMemory > 0 && e.lacksMemory(c, flags) {
		why = ErrOOM
	}
	if why == "" {
		return passed
	}
	e.failImport(m, why)
	return closed
}

// masterGates returns held for a command of the master that does not run now, or passed.
func (e *Engine) masterGates(c *Ctx, flags spec.Flag) refusal {
	switch {
	// The master's commands wait for the end of a pause like all others.
	case e.pause.active && e.postpone(c):
		return held
	// Another cluster's shard has keys of its own slots, and nothing else.
	case e.cluster.on && e.endsFollowed(c):
		return held
	// What cannot be kept on disk is not acknowledged to the master, unless it has to be.
	case flags&spec.Write != 0 && e.diskError() != "" && !e.goesOnWithoutDisk(c.Client):
		return held
	}
	return passed
}

// stateGates returns why the state of the server refuses a command of a client, or passed.
func (e *Engine) stateGates(c *Ctx, flags spec.Flag) refusal {
	cmd, cl := c.Cmd, c.Client
	switch {
	// Clients that take too much are closed before keys are evicted for what they take.
	case e.Cfg.MaxmemoryClients != 0 && e.tooLarge(cl):
		return closed
	// Eviction comes before what follows: a command that is refused there has made room too.
	case e.KS.P.MaxMemory > 0 && e.lacksMemory(c, flags):
		return ErrOOM
	// A write is not acknowledged if it cannot be kept on disk.
	case flags&(spec.Write|spec.TellsDiskErrors) != 0 && e.diskError() != "":
		return refusal(e.diskError())
	// Nor if it would reach fewer replicas than min-replicas-to-write.
	case flags&spec.Write != 0 && e.lacksReplicas():
		return ErrNoReplicas
	// A replica changes what its master changes, and nothing else.
	case flags&spec.Write != 0 && e.readOnly():
		return ErrReadOnly
	// In RESP2 a subscriber could not tell a reply from a message.
	case cl.Class == ClassPubSub && cl.restricted() && !cmd.Is(spec.WhileSubscribed):
		return refusal("ERR Can't execute '" + cmd.FullName() + ErrSubscribed)
	// Nor is one that may be old, if the configuration says so.
	case flags&spec.Stale == 0 && e.servesNothing():
		return ErrMasterDown
	// Half a data set is not served.
	case e.loading.refuses(flags):
		return ErrLoading
	// Only a master with a lease knows that nobody else takes writes.
	case e.cluster.on && e.leaseRefuses(cl, flags):
		return ErrClusterDown
	// A busy script is in the middle of its unit.
	case e.script.run != nil && !cmd.Is(spec.AllowBusy):
		return refusal(e.BusyText())
	// A monitor counts as a replica, as in Redis: it watches, and touches no key.
	case (cl.Monitor || cl.follows()) && flags&(spec.Write|spec.ReadOnly|spec.MayReplicate) != 0:
		return ErrMonitorKeys
	// The pause is last: only what would run is held back.
	case e.pause.active && !c.rerun && e.postpone(c):
		return held
	}
	return passed
}

// scriptFlags returns the flags that the gates go by for a call that runs a script. It looks for
// the script only if one of them may refuse what it declares.
func (e *Engine) scriptFlags(c *Ctx, flags spec.Flag) spec.Flag {
	if e.KS.P.MaxMemory > 0 || c.Client.Monitor || e.repl.master != nil || e.lacksReplicas() ||
		e.diskError() != "" {
		return e.table.callFlags(c)
	}
	return flags
}

// gatesAtExec returns why a queued command is refused. Rights may have changed since it was queued.
func (e *Engine) gatesAtExec(c *Ctx) refusal {
	if reason := e.permit(c); reason != acl.Allowed {
		return refusal(deniedAtExec(reason))
	}
	return passed
}

// scriptGates returns why a script is refused for what it declares. One that declares nothing
// passes: its commands decide.
func (e *Engine) scriptGates(r *runningScript) refusal {
	obeyed := e.obeys(r.caller)
	over := e.mem.refused && e.KS.P.MaxMemory > 0 && !obeyed
	r.noWrites = r.ReadOnly || r.Declared && r.Flags&script.NoWrites != 0
	r.oom = over && !(r.Declared && r.Flags&script.AllowOOM != 0)
	writes := r.Flags&script.NoWrites == 0
	stale := !obeyed && e.servesNothing()
	switch {
	case e.cluster.on && r.Declared && r.Flags&script.NoCluster != 0:
		return errScriptNoCluster
	// A script that declares nothing may read anything.
	case stale && !(r.Declared && r.Flags&script.AllowStale != 0):
		return ErrMasterDown
	case !r.Declared:
		return passed
	// A script must not fail in its middle, as below.
	case writes && !obeyed && e.readOnly():
		return ErrReadOnly
	// EVAL_RO and its kin promise to their users that nothing is written.
	case writes && r.ReadOnly:
		return errScriptROWrite
	// A script must not fail in its middle.
	case writes && !obeyed && e.diskError() != "":
		return refusal(e.diskError())
	// Likewise.
	case writes && !obeyed && e.lacksReplicas():
		return ErrNoReplicas
	// Likewise.
	case writes && r.oom:
		return errScriptOOM
	}
	return passed
}

// scriptRefuses returns why a command that the running script calls is refused. cmd is nil for an
// unknown command.
func (e *Engine) scriptRefuses(cmd *spec.Command, argv [][]byte) refusal {
	r := e.script.run
	switch {
	case cmd == nil:
		return errScriptUnknown
	// As in gates.
	case !cmd.AcceptsArgs(len(argv)):
		return errScriptArity
	// It would act on the client, or wait.
	case cmd.Is(spec.NoScript) && !e.Debug.allows(cmd):
		return errScriptDenied
	// A library that is being loaded.
	case r == nil:
		return errScriptNone
	case !cmd.Is(spec.Stale) && e.servesNothing() && !e.obeys(r.caller):
		return errScriptStale
	}
	e.scriptCtx = Ctx{E: e, Client: e.script.client, Cmd: cmd, Args: argv}
	// The script has its caller's rights.
	if reason := e.permit(&e.scriptCtx); reason != acl.Allowed {
		return refusal(errDeniedScript + deniedText(e.script.client.User, reason, cmd))
	}
	obeyed := e.obeys(r.caller)
	switch {
	// As Redis, which counts PUBLISH as a write here.
	case r.noWrites && cmd.Flags&(spec.Write|spec.MayReplicate) != 0:
		return errScriptWrite
	case cmd.Is(spec.Write) && !obeyed && e.readOnly():
		return ErrReadOnly
	case cmd.Is(spec.Write) && !obeyed && e.diskError() != "":
		return refusal(e.diskError())
	case cmd.Is(spec.Write) && !obeyed && e.lacksReplicas():
		return ErrNoReplicas
	// One that has written finishes what it began. Its reply will show whether the lease lasted.
	case e.cluster.on && !obeyed && e.leaseRefuses(r.caller, cmd.Flags) && !r.wrote:
		return ErrClusterDown
	// One that has written may finish what it began.
	case r.oom && !r.wrote && cmd.Is(spec.DenyOOM):
		return ErrOOM
	case e.cluster.on && !obeyed && e.table.routes[cmd.ID()] != routeNone:
		return e.scriptSlotGate(&e.scriptCtx)
	// It would change keys that are about to move. As it may have written, it cannot wait.
	case e.cluster.on && !obeyed && e.closingHolds(&e.scriptCtx):
		return errScriptClosing
	}
	return passed
}

// opened reports whether the configuration opens a guarded command to the client.
func (e *Engine) opened(cmd *spec.Command, cl *Client) bool {
	if cmd.Protected == spec.ByDebugCommand {
		return e.Cfg.EnableDebugCommand.Allows(cl.Local)
	}
	return e.Cfg.EnableModuleCommand.Allows(cl.Local)
}

// guardText returns the error for a guarded command that is not open.
func guardText(cmd *spec.Command) refusal {
	if cmd.Protected == spec.ByDebugCommand {
		return ErrDebugNotAllowed
	}
	return ErrModuleNotAllowed
}

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
func (e *Engine) lacksMemory(c *Ctx, flags spec.Flag) bool {
	// A busy script: keys must not go in the middle of its unit.
	if e.loading.on || e.script.run != nil {
		return false
	}
	e.pushing.early = true
	e.mem.refused = !e.makeRoom(c)
	e.pushing.early = false
	return e.mem.refused && flags&spec.DenyOOM != 0
}
