package engine

import (
	"strings"

	"godwit/internal/resp"
	"godwit/internal/spec"
)

// writerOf returns the writer for replies to the client under its reply mode.
func (e *Engine) writerOf(c *Client) *resp.Writer {
	// ReplySkipNext was set within a transaction. Its other replies are sent.
	if c.Reply == ReplyOn || c.Reply == ReplySkipNext {
		return &c.W
	}
	e.discard.Proto = c.W.Proto
	return &e.discard
}

// commandDone is called after each command of the client that has been replied to.
func (e *Engine) commandDone(c *Client) {
	c.Commands++
	if c.track != nil {
		e.endCaching(c)
	}
	if c.asking != notAsking {
		c.endAsking()
	}
	if c.Reply == ReplySkip {
		c.Reply = ReplyOn
	}
}

// call runs the handler and accounts for the command. If the command blocks, it is accounted for
// when its wait ends.
func (e *Engine) call(c *Ctx) {
	cmd, cl := c.Cmd, c.Client
	shares := cl.Origin == OriginMaster && e.sharesClock(c)
	start := e.lastNs
	replied := c.Size()
	e.KS.NoTouch = e.current.NoTouch // of who called, where a script runs the command
	if cmd.Flags&spec.DenyOOM != 0 && e.outOfMemory(c) {
		c.Err(ErrNoMemory)
	} else {
		e.table.run[cmd.ID()](c)
	}
	if c.dirty > 0 {
		e.afterWrite(c)
	}
	// Of a script, only the commands that it calls have read anything.
	if e.tracking.clients > 0 && cmd.Flags&(spec.ReadOnly|spec.NoMandatoryKeys) == spec.ReadOnly {
		e.remember(c)
	}
	if c.failed && e.masterErrors.database {
		e.lacksDatabase(c)
	}
	if shares {
		e.noteApplied(c)
		return
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
	reply := int64(c.Size() - replied)
	if l := &e.large; l.input >= l.request || reply >= l.reply {
		e.noteLarge(c, reply)
	}
	if e.hot.on {
		e.noteHot(c, ns, reply)
	}
	if e.slotStats != nil && c.slot != 0 {
		e.noteSlot(c, ns, reply)
	}
	e.account(c, ns)
}

// account adds a command that took ns nanoseconds to the counters, the slow log and the latency
// events.
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

// afterWrite adds the changes of a command to the count of changes and propagates the command.
func (e *Engine) afterWrite(c *Ctx) {
	if !c.saved {
		e.Stats.Dirty += c.dirty
	}
	switch c.prop {
	case propAuto:
		e.propagate(c.DB.ID(), c.Args)
	case propAs:
		e.propagateAll(c.DB.ID(), c.propCmds)
	case propSent:
		e.EndUnit()
	}
	if e.Feed.Attached() != 0 && !e.Feed.InUnit() {
		e.noteLogged(c.Client)
	}
}

// reject answers a command that does not run. The transaction that would have run it is aborted. A
// client that is being closed, or whose command comes again, is told nothing.
func (e *Engine) reject(c *Ctx, cmd *spec.Command, why refusal) {
	if why == closed || why == held {
		return
	}
	msg := string(why)
	c.Client.abortMulti()
	if cmd != nil {
		e.cmds[cmd.ID()].Rejected++
		if cmd.Is(spec.RunsQueue) && c.moved {
			e.Discard(c.Client)
		} else if cmd.Is(spec.RunsQueue) {
			e.Discard(c.Client)
			msg = errExecRefused + strings.TrimPrefix(msg, "ERR ")
			if len(e.monitors) > 0 {
				e.feedMonitors(c) // they have seen its MULTI
			}
		}
	}
	e.countError(msg)
	if c.Client.Origin == OriginMaster {
		e.noteMasterError(cmd, msg)
	}
	if c.Client.Origin == OriginImport {
		e.importError = msg
	}
	c.Error(msg)
}
