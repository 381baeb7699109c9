package engine

import (
	"time"

	"godwit/internal/acl"
	"godwit/internal/crash"
	"godwit/internal/resp"
	"godwit/internal/script"
	"godwit/internal/spec"
)

// Scripts run on the executor, as one atomic unit: whatever their commands propagate leaves together when they end. Commands that a script calls run
// for a client of its own, internal, not listed, whose replies the script converts.
//
// # Busy scripts
//
// About every millisecond a running script calls Interrupt. Once it has run for busy-reply-threshold it is busy: from then on Interrupt hands the
// executor to the server for a moment (ServeOthers), which reads what clients have sent and runs it; the gates answer BUSY to all but
// the few commands that are allowed then (SCRIPT KILL, SHUTDOWN NOSAVE …). Nothing else happens in between: no cron, no slices of
// background work, no blocked client is served, the clock of deadlines stands still, and the script's own client is held.
//
// A script ends at its next instruction when SCRIPT KILL has asked for it, which is refused once it has written. When the server shuts down its
// writes so far are dropped: they never reach the log.

// Error texts of scripts.
const (
	errBusyScript    = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	errBusyFunction  = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
	errNotBusy       = "NOTBUSY No scripts in execution right now."
	errUnkillable    = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
	errScriptUnknown = "ERR Unknown Redis command called from script"
	errScriptArity   = "ERR Wrong number of args calling Redis command from script"
	errScriptDenied  = "ERR This Redis command is not allowed from script"
	errScriptWrite   = "ERR Write commands are not allowed from read-only scripts."
	errScriptROWrite = "ERR Can not execute a script with write flag using *_ro command."
	errScriptNone    = "ERR redis.call/pcall can only be called inside a script invocation"
	errScriptOOM     = "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"
)

// endError ends a script; its text is the error reply.
type endError string

func (e endError) Error() string { return string(e) }

const (
	errKilled = endError("ERR Script killed by user with SCRIPT KILL...") // functions too
	errEnding = endError("ERR Script killed: the server shuts down.")
)

// ScriptRun is how a script or function is to be run.
type ScriptRun struct {
	Name     string       // for messages and the log: the script's digest or the function's name
	Flags    script.Flags // what it declares
	Declared bool         // it declares flags; without, its commands decide what it may do
	ReadOnly bool         // called by EVAL_RO, EVALSHA_RO or FCALL_RO
	Function bool
	Keys     [][]byte
}

// runningScript is the script that runs.
type runningScript struct {
	ScriptRun
	caller   *Client
	args     [][]byte // of the caller's command
	started  time.Time
	noWrites bool
	oom      bool // memory was over the limit when it began, and it has not declared that this is fine
	wrote    bool
	busy     bool
	kill     bool
	repl     int
}

// scripting is the engine's part of scripts.
type scripting struct {
	host *script.Host
	// functions are made when they are first needed.
	functions *script.Functions
	client    *Client
	ctx       Ctx // of the commands that scripts call
	run       *runningScript
	slot      runningScript // what run points to
	trimAt    int64         // steady ms: when stacks are looked at again
}

// scriptCaller is the engine as scripts see it.
type scriptCaller struct{ e *Engine }

// Scripts is the cache of scripts with their environment, made when it is first needed.
func (e *Engine) Scripts() *script.Host {
	if e.script.host == nil {
		e.script.host = script.NewHost(e.ScriptCaller(), e.ScriptOptions(), e.ScriptLibraries...)
	}
	return e.script.host
}

// ScriptCaller is the engine as an environment of scripts or functions calls it.
func (e *Engine) ScriptCaller() script.Caller { return scriptCaller{e} }

// ScriptOptions are how the server presents itself to scripts.
func (e *Engine) ScriptOptions() script.Options {
	return script.Options{Version: RedisVersion, VersionNum: RedisVersionNum}
}

// HasScripts reports whether any script was cached or run.
func (e *Engine) HasScripts() bool { return e.script.host != nil }

// ScriptName is the name of what runs now: "" for nothing. function tells a function from a script; since is its age.
func (e *Engine) RunningScript() (name string, function bool, since time.Duration) {
	r := e.script.run
	if r == nil {
		return "", false, 0
	}
	return r.Name, r.Function, time.Since(r.started)
}

// InScript reports whether a script runs.
func (e *Engine) InScript() bool { return e.script.run != nil }

// RunScript runs a script or function for the command of c: the gates of scripts, then run, which writes the reply, in one atomic unit.
func (e *Engine) RunScript(c *Ctx, o ScriptRun, run func(w *resp.Writer) script.Result) {
	r := &e.script.slot
	*r = runningScript{ScriptRun: o, caller: c.Client, args: c.Args, repl: script.ReplAll}
	if msg := e.scriptGates(r); msg != passed {
		c.Err(string(msg))
		return
	}
	e.script.run = r
	cl := e.scriptClient(c)
	e.Feed.Begin()
	res := run(c.Writer)
	e.script.run = nil
	if r.busy {
		e.between.Broadcast()
	}
	e.EndUnit()
	*r, e.script.ctx = runningScript{}, Ctx{} // what they refer to may be large
	if cl.NoTouch {
		cl.NoTouch = false
	}
	if res.Error != "" {
		c.failed = true
		if !res.Counted {
			e.countError(res.Error)
		}
	}
}

// scriptClient is the client of the script's commands, set up as the caller's.
func (e *Engine) scriptClient(c *Ctx) *Client {
	cl := e.script.client
	if cl == nil {
		cl = &Client{Origin: OriginScript, FD: -1, Authenticated: true, W: resp.Writer{Proto: 2}}
		e.script.client = cl
	}
	from := c.Client
	cl.db, cl.User, cl.Addr, cl.NoTouch = c.DB, from.User, "?:0", from.NoTouch // the slow log shows no address, as Redis's
	return cl
}

// Call implements script.Caller.
func (s scriptCaller) Call(argv [][]byte, proto int) (reply []byte, refused string) {
	e := s.e
	cmd := e.table.Find(argv)
	if msg := e.scriptRefuses(cmd, argv); msg != passed {
		if cmd != nil {
			e.cmds[cmd.ID()].Rejected++
		}
		e.countError(string(msg))
		return nil, string(msg)
	}
	cl := e.script.client
	if cl.W.Proto = proto; cap(cl.W.Buf) > 1<<20 {
		cl.W.Buf = nil
	}
	cl.W.Buf = cl.W.Buf[:0]
	cl.LastCmd = cmd
	c := &e.script.ctx
	*c = Ctx{Writer: &cl.W, E: e, Client: cl, Cmd: cmd, DB: cl.db, Args: argv, Now: e.now}
	if cmd.Is(spec.Write) {
		e.script.run.wrote = true
	}
	e.call(c)
	return cl.W.Buf, ""
}

// Allowed implements script.Caller.
func (s scriptCaller) Allowed(argv [][]byte) (ok, known bool) {
	cmd := s.e.table.Find(argv)
	if cmd == nil {
		return false, false
	}
	cl := s.e.script.client
	if s.e.script.run == nil || cl.User == nil {
		return true, true
	}
	reason, _ := s.e.DryRun(cl.User, cmd, argv)
	return reason == acl.Allowed, true
}

// SetRepl implements script.Caller.
func (s scriptCaller) SetRepl(flags int) {
	if r := s.e.script.run; r != nil {
		r.repl = flags
	}
}

// Log implements script.Caller.
func (s scriptCaller) Log(level int, msg string) {
	switch level {
	case script.LogDebug:
		s.e.Log.Debug("%s", msg)
	case script.LogVerbose:
		s.e.Log.Verbose("%s", msg)
	case script.LogNotice:
		s.e.Log.Notice("%s", msg)
	default:
		s.e.Log.Warning("%s", msg)
	}
}

// ReportPanic implements script.Reporter.
func (s scriptCaller) ReportPanic(p *script.Panic) { crash.Contained(p.During, p.Value, p.Stack) }

// Interrupt implements script.Caller.
func (s scriptCaller) Interrupt() error {
	e, r := s.e, s.e.script.run
	if r == nil {
		return nil
	}
	if r.started.IsZero() {
		r.started = time.Now().Add(-time.Millisecond)
	}
	limit := e.Cfg.BusyReplyThreshold
	if limit <= 0 || e.loading.on {
		return nil
	}
	if !r.busy {
		if ms := time.Since(r.started).Milliseconds(); ms < limit {
			return nil
		} else {
			e.Log.Warning("Slow script detected: still in execution after %d milliseconds. You can try killing the script using the %s KILL command. Script name is: %s.", ms, r.kind(), r.Name)
		}
		r.busy = true
	}
	return e.handOver(r)
}

func (r *runningScript) kind() string {
	if r.Function {
		return "FUNCTION"
	}
	return "SCRIPT"
}

// handOver serves others for a moment while a script is busy.
func (e *Engine) handOver(r *runningScript) error {
	if e.ServeOthers == nil {
		return nil
	}
	ctx, current := e.ctx, e.current
	ending := e.ServeOthers(r.caller)
	e.ctx, e.current = ctx, current
	switch {
	case ending:
		e.Feed.Drop()
		r.caller.CloseASAP = true // a transaction around it must not acknowledge what was dropped
		return errEnding
	case r.kill:
		e.Log.Notice("Lua script killed by user with SCRIPT KILL.")
		return errKilled
	}
	return nil
}

// Yield gives the executor to whoever waits for it, and takes it back.
func (e *Engine) Yield() {
	e.Commit()
	e.mu.Unlock()
	for i := 0; e.waiters.Load() > 0 && i < 20; i++ {
		time.Sleep(50 * time.Microsecond)
	}
	e.mu.Lock()
}

// Busy reports whether a script has run over its time limit: nothing but a few commands is served.
func (e *Engine) Busy() bool { return e.script.run != nil && e.script.run.busy }

// BusyText is the refusal while a script or function is busy.
func (e *Engine) BusyText() string {
	if e.script.run.Function {
		return errBusyFunction
	}
	return errBusyScript
}

// KillScript ends the running script or function (SCRIPT KILL, FUNCTION KILL). It returns the error for the client.
func (e *Engine) KillScript(function bool) string {
	r := e.script.run
	switch {
	case r == nil:
		return errNotBusy
	case r.wrote:
		return errUnkillable
	case r.Function != function:
		return e.BusyText()
	}
	r.kill = true
	return ""
}

// FeedMonitors shows a command to the monitors before it runs: EVAL's stands before those that it calls.
func (c *Ctx) FeedMonitors() {
	if len(c.E.monitors) > 0 {
		c.E.feedMonitors(c)
	}
}
