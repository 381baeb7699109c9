package engine

import (
	"strings"
	"time"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/resp"
	"godwit/internal/script"
	"godwit/internal/spec"
)

// maxReplyKept is how large a buffer for replies to scripts' commands is used again.
const maxReplyKept = 1 << 20

// scriptCaller implements script.Caller: what scripts need of the engine.
type scriptCaller struct{ e *Engine }

// Scripts returns the cache of scripts with their environment, which the first call makes.
func (e *Engine) Scripts() *script.Host {
	if e.script.host == nil {
		e.script.host = script.NewHost(e.ScriptCaller(), e.ScriptOptions(), e.ScriptLibraries...)
	}
	return e.script.host
}

// ScriptCaller returns the engine as an environment of scripts or functions calls it.
func (e *Engine) ScriptCaller() script.Caller { return scriptCaller{e} }

// ScriptOptions returns how the server presents itself to scripts.
func (e *Engine) ScriptOptions() script.Options {
	num, _ := config.VersionNum(e.Cfg.CompatVersion)
	return script.Options{Version: e.Cfg.CompatVersion, VersionNum: num}
}

// RunScript runs a script or function for the command of c, as one atomic unit. It checks the gates
// of scripts and calls run, which writes the reply.
func (e *Engine) RunScript(c *Ctx, o ScriptRun, run func(w *resp.Writer)) {
	r := &e.script.slot
	*r = runningScript{ScriptRun: o, caller: c.Client, args: c.Args, repl: script.ReplAll,
		slot: c.slot, cmd: c.Cmd, busy: o.Debug}
	if msg := e.scriptGates(r); msg != passed {
		c.Err(string(msg))
		return
	}
	e.script.run = r
	cl := e.scriptClient(c)
	e.Feed.Begin()
	run(c.Writer)
	e.script.run = nil
	if r.busy {
		e.between.Broadcast()
		e.resumeMaster()
		e.resumeImports()
	}
	e.EndUnit()
	c.failed = c.failed || r.failed
	*r, e.scriptCtx = runningScript{}, Ctx{} // what they refer to may be large
	cl.NoTouch = false
	if cap(cl.W.Buf) > maxReplyKept {
		cl.W.Buf = nil
	}
}

// Failed implements script.Caller. The script's command has failed once, and again for each error
// that its commands have counted.
func (s scriptCaller) Failed(msg string, counted bool) {
	r := s.e.script.run
	if counted {
		s.e.cmds[r.cmd.ID()].Failed++
		return
	}
	r.failed = true
	s.e.countError(strings.Clone(msg[:min(len(msg), maxErrorCode+1)]))
}

// scriptClient returns the client for the script's commands, set up like the caller.
func (e *Engine) scriptClient(c *Ctx) *Client {
	cl := e.script.client
	if cl == nil {
		cl = &Client{Origin: OriginScript, FD: -1, Authenticated: true, W: resp.Writer{Proto: 2,
			Stage: &e.script.large}}
		e.script.client = cl
	}
	from := c.Client
	// The slow log shows no address, as Redis's.
	cl.db, cl.User, cl.Addr, cl.NoTouch = c.DB, from.User, "?:0", from.NoTouch
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
	if cl.W.Proto = proto; cap(cl.W.Buf) > maxReplyKept {
		cl.W.Buf = nil
	}
	cl.W.Reset()
	cl.LastCmd = cmd
	c := &e.scriptCtx
	*c = Ctx{Writer: &cl.W, E: e, Client: cl, Cmd: cmd, DB: cl.db, Args: argv, Now: e.now}
	if cmd.Is(spec.Write) {
		e.script.run.wrote = true
	}
	e.call(c)
	if cl.W.Staged > 0 {
		return e.script.large.whole(cl.W.Buf), ""
	}
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
	return s.e.DryRun(cl.User, cl, cmd, argv) == "", true
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
			e.Log.Warning(
				"Slow script detected: still in execution after %d milliseconds. You can try "+
					"killing the script using the %s KILL command. Script name is: %s.", ms,
				r.kind(), r.Name)
		}
		r.busy = true
	}
	return e.handOver(r)
}

// handOver lets the server serve others for a moment while a script is busy.
func (e *Engine) handOver(r *runningScript) error {
	if e.ServeOthers == nil {
		return nil
	}
	ctx, current := e.ctx, e.current
	e.tick() // what others do begins now
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

// FeedMonitors shows a command to the monitors before it runs, so that EVAL comes before the
// commands that it calls.
func (c *Ctx) FeedMonitors() {
	if len(c.E.monitors) > 0 {
		c.E.feedMonitors(c)
	}
}
