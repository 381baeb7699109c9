package engine

import (
	"time"

	"godwit/internal/script"
	"godwit/internal/spec"
)

// Scripts run on the executor, each as one atomic unit: what their commands propagate leaves as a
// whole when the script ends. The commands run for a client of their own, which nothing lists. The
// script converts its replies.
//
// # Busy scripts
//
// About every millisecond a running script calls Interrupt. Once it has run for
// busy-reply-threshold it is busy. From then on Interrupt hands the executor to the server for a
// moment (ServeOthers). The server reads what clients have sent and runs it. The gates answer BUSY
// to all but the few commands that may run then (SCRIPT KILL, SHUTDOWN NOSAVE …). Nothing else
// happens meanwhile: no cron, no slices of background work, no blocked client is served, the clock
// of deadlines stands still, and the script's own client is held.
//
// A script ends at its next instruction when SCRIPT KILL has asked for it. That is refused once it
// has written, unless a client steps through it: it then goes on without the client. When the
// server shuts down, what the script has written so far is dropped and never reaches the log.

// Error texts of scripts.
const (
	errBusyScript = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or " +
		"SHUTDOWN NOSAVE."
	errBusyFunction = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or " +
		"SHUTDOWN NOSAVE."
	errNotBusy    = "NOTBUSY No scripts in execution right now."
	errUnkillable = "UNKILLABLE Sorry the script already executed write commands against the " +
		"dataset. You can either wait the script termination or kill the server in a hard way " +
		"using the SHUTDOWN NOSAVE command."
	errScriptUnknown   = "ERR Unknown Redis command called from script"
	errScriptArity     = "ERR Wrong number of args calling Redis command from script"
	errScriptDenied    = "ERR This Redis command is not allowed from script"
	errScriptWrite     = "ERR Write commands are not allowed from read-only scripts."
	errScriptROWrite   = "ERR Can not execute a script with write flag using *_ro command."
	errScriptNone      = "ERR redis.call/pcall can only be called inside a script invocation"
	errScriptNoCluster = "ERR Can not run script on cluster, 'no-cluster' flag is set."
	errScriptStale     = "ERR Can not execute the command on a stale replica"
	errScriptOOM       = "OOM allow-oom flag is not set on the script, can not run it when used " +
		"memory > 'maxmemory'"
)

// endError ends a script. Its text is the error reply.
type endError string

func (e endError) Error() string { return string(e) }

const (
	errKilled = endError("ERR Script killed by user with SCRIPT KILL...") // functions too
	errEnding = endError("ERR Script killed: the server shuts down.")
)

// ScriptRun says how to run a script or function.
type ScriptRun struct {
	Name     string       // for messages and the log: the script's digest or the function's name
	Flags    script.Flags // what it declares
	Declared bool         // it declares flags; without, its commands decide what it may do
	ReadOnly bool         // called by EVAL_RO, EVALSHA_RO or FCALL_RO
	Function bool
	Debug    bool // its client steps through it: it is busy from the start
	Keys     [][]byte
}

// runningScript is the script that runs.
type runningScript struct {
	ScriptRun
	caller   *Client
	cmd      *spec.Command
	args     [][]byte // of the caller's command
	started  time.Time
	noWrites bool
	// oom: memory was over the limit when it began, and it has not declared that this is fine.
	oom   bool
	wrote bool
	slot  slotRef // of the keys that it was called with, else of the first that it has used
	busy  bool
	// failed: its reply has an error that nobody had counted.
	failed bool
	kill   bool
	alone  bool // its client, which steps through it, has been sent away
	repl   int
}

// scripting is the state of scripts.
type scripting struct {
	host *script.Host
	// functions are made when they are first needed.
	functions *script.Functions
	client    *Client
	large     scriptReply // that client's
	run       *runningScript
	slot      runningScript // what run points to
	trimAt    int64         // steady ms: when stacks are looked at again
}

// RunningScript returns the name of the running script or function, "" if none runs, and for how
// long it has been running. function tells which it is.
func (e *Engine) RunningScript() (name string, function bool, since time.Duration) {
	r := e.script.run
	if r == nil {
		return "", false, 0
	}
	return r.Name, r.Function, time.Since(r.started)
}

// InScript reports whether a script runs.
func (e *Engine) InScript() bool { return e.script.run != nil }

func (r *runningScript) kind() string {
	if r.Function {
		return "FUNCTION"
	}
	return "SCRIPT"
}

// Busy reports whether a script has run over its time limit: nothing but a few commands is served.
func (e *Engine) Busy() bool { return e.script.run != nil && e.script.run.busy }

// BusyText returns the refusal while a script or function is busy. One must be running.
func (e *Engine) BusyText() string {
	if e.script.run.Function {
		return errBusyFunction
	}
	return errBusyScript
}

// KillScript ends the running script, or the running function (SCRIPT KILL, FUNCTION KILL). It
// returns the error for the client, "" if there is none.
func (e *Engine) KillScript(function bool) string {
	r := e.script.run
	switch {
	case r == nil:
		return errNotBusy
	case r.wrote && r.Debug && !r.alone && !function:
		e.Log.Notice("SCRIPT KILL: the script that is debugged has written, and goes on without " +
			"its client")
		r.alone = true
		return ""
	case r.wrote:
		return errUnkillable
	case r.Function != function:
		return e.BusyText()
	}
	r.kill = true
	return ""
}
