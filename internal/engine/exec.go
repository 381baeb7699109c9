package engine

import (
	"strings"

	"godwit/internal/resp"
	"godwit/internal/spec"
)

// Exec runs one command of the client with the executor held: argv is what the parser gave,
// borrowed. It reports false when the command was postponed (CLIENT PAUSE): the connection keeps
// the bytes and offers the same command again after Resume. So it is once the engine has ended, for
// good.
func (e *Engine) Exec(c *Client, argv [][]byte) (done bool) {
	if len(argv) == 0 {
		return true
	}
	if e.ended {
		return false
	}
	if c.Reply == ReplySkipNext {
		c.Reply = ReplySkip
	}
	ctx := &e.ctx
	w := e.writerOf(c)
	*ctx = Ctx{Writer: w, E: e, Client: c, DB: c.db, Args: argv, Now: e.now}
	e.current = c
	if c.Origin == OriginMaster {
		done = e.dispatchTimeless(ctx)
	} else {
		done = e.dispatch(ctx)
	}
	e.endReply(c)
	e.current = nil
	if done && c.wait == nil {
		e.commandDone(c)
	}
	if w == &e.discard {
		e.discard.Buf = e.discard.Buf[:0]
	}
	if len(e.blocking.ready) > 0 && e.script.run == nil {
		e.serve()
	}
	return done
}

// writerOf is where replies to the client go under its reply mode.
func (e *Engine) writerOf(c *Client) *resp.Writer {
	if c.Reply == ReplyOn || c.Reply == ReplySkipNext { // that is set within a transaction, whose other replies it leaves alone
		return &c.W
	}
	e.discard.Proto = c.W.Proto
	return &e.discard
}

// commandDone follows each command of the client that has been replied to.
func (e *Engine) commandDone(c *Client) {
	c.Commands++
	if c.track != nil {
		e.endCaching(c)
	}
	if c.Reply == ReplySkip {
		c.Reply = ReplyOn
	}
}

// dispatch finds the command, passes it through the gates and calls it.
func (e *Engine) dispatch(c *Ctx) bool {
	cmd := e.table.Find(c.Args)
	if cmd == nil {
		c.Client.LastCmd = nil
		if e.isHTTP(c) {
			return true
		}
		e.reject(c, nil, refusal(e.unknown(c.Args)))
		return true
	}
	c.Cmd = cmd
	c.Client.LastCmd = cmd
	if msg := e.gates(c); msg != passed {
		e.reject(c, cmd, msg)
		return msg != held
	}
	if c.Client.multi != nil && cmd.Flags&(spec.InMulti|spec.LeavesMulti) == 0 {
		e.queue(c)
	} else {
		e.call(c)
	}
	if e.Cfg.MaxmemoryClients != 0 {
		e.countClient(c.Client)
	}
	return true
}

// isHTTP ends the connection of a client that talks HTTP and reports it. A web page can make a browser send requests here; the lines of such
// a request would run as commands one by one.
func (e *Engine) isHTTP(c *Ctx) bool {
	switch upper(head(c.Args[0], 5)) {
	case "POST", "HOST:":
		e.Log.Warning("Possible SECURITY ATTACK detected: client %s sent an HTTP request. Connection aborted.", c.Client.Addr)
		c.Client.CloseASAP = true
		return true
	}
	return false
}

// call runs the handler and accounts for it. A command that blocks is accounted for when its wait ends.
func (e *Engine) call(c *Ctx) {
	cmd, cl := c.Cmd, c.Client
	start := e.lastNs
	e.KS.NoTouch = e.current.NoTouch // of who called, where a script runs the command
	if cmd.Flags&spec.DenyOOM != 0 && e.outOfMemory(c) {
		c.Err(ErrNoMemory)
	} else {
		e.table.run[cmd.ID()](c)
	}
	if c.dirty > 0 {
		e.afterWrite(c)
	}
	if e.tracking.clients > 0 && cmd.Flags&(spec.ReadOnly|spec.NoMandatoryKeys) == spec.ReadOnly { // of a script, what it calls counts
		e.remember(c)
	}
	e.tick()
	ns := e.lastNs - start
	if !c.rerun && len(e.monitors) > 0 && cmd.Flags&(spec.SkipMonitor|spec.Admin) == 0 {
		e.feedMonitors(c) // after the run, because only the handler knows what must not be shown
	}
	if w := cl.wait; w != nil {
		ns += w.nanos
		if w.nanos = ns; c.blocked {
			return
		}
	}
	e.account(c, ns)
}

// account counts a command that has taken ns nanoseconds.
func (e *Engine) account(c *Ctx, ns int64) {
	cmd, cl := c.Cmd, c.Client
	st := &e.cmds[cmd.ID()]
	st.Calls++
	st.Nanos += ns
	if c.failed {
		st.Failed++
	}
	if e.Cfg.LatencyTracking {
		st.Hist.Record(ns)
	}
	e.Stats.Commands++
	us := ns / 1000
	if t := e.Cfg.SlowlogLogSlowerThan; t >= 0 && us >= t && !cmd.Is(spec.SkipSlowlog) {
		e.Slowlog.Add(e.now/1000, us, c.shown(), cl.Addr, cl.Name)
	}
	if t := e.Cfg.LatencyMonitorThreshold; t > 0 && us >= t*1000 {
		event := "command"
		if cmd.Is(spec.Fast) {
			event = "fast-command"
		}
		e.Latency.Add(event, e.now/1000, us/1000)
	}
}

// afterWrite counts the changes of a command and propagates it.
func (e *Engine) afterWrite(c *Ctx) {
	if !c.saved {
		e.Stats.Dirty += c.dirty
	}
	switch c.prop {
	case propAuto:
		e.propagate(c.DB.ID(), c.Args)
	case propAs:
		e.propagateAll(c.DB.ID(), c.propCmds)
	}
	if e.Feed.Attached() != 0 && !e.Feed.InUnit() {
		e.noteLogged(c.Client)
	}
}

// reject answers a command that does not run. A transaction that it was to be a part of will not run
// either.
func (e *Engine) reject(c *Ctx, cmd *spec.Command, why refusal) {
	if why == closed || why == held {
		return
	}
	msg := string(why)
	c.Client.abortMulti()
	if cmd != nil {
		e.cmds[cmd.ID()].Rejected++
		if cmd.Is(spec.RunsQueue) {
			e.Discard(c.Client)
			msg = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(msg, "ERR ")
			if len(e.monitors) > 0 {
				e.feedMonitors(c) // they have seen its MULTI
			}
		}
	}
	e.countError(msg)
	c.Error(msg)
}

// ProtocolError answers a client that broke the protocol; the connection is closed behind it.
func (e *Engine) ProtocolError(c *Client, err *resp.ProtocolError) {
	msg := "ERR " + err.Error()
	e.countError(msg)
	e.Log.Verbose("Protocol error (%s) from client: id=%d addr=%s laddr=%s", err.Error(), c.ID, c.Addr, c.LAddr)
	if c.Reply == ReplyOn {
		c.W.Error(msg)
	}
	c.CloseAfterReply = true
}

// countError counts an error reply by its code: the first word, or ERR when there is none.
func (e *Engine) countError(msg string) {
	e.Stats.ErrorReplies++
	code, _, _ := strings.Cut(msg, " ")
	if _, ok := e.errs[code]; !ok && len(e.errs) >= maxErrorCodes {
		return
	}
	e.errs[code]++
}

// maxErrorCodes bounds INFO errorstats: codes may come from scripts.
const maxErrorCodes = 128
