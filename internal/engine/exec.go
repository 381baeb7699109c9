package engine

import (
	"godwit/internal/keyspace"
	"godwit/internal/resp"
	"godwit/internal/spec"
)

// Exec runs one command of the client with the executor held. argv is what the parser gave, and is
// borrowed. Exec reports false if the command was postponed (CLIENT PAUSE): the connection must
// keep the bytes and offer the same command again after Resume. Once the engine has ended, every
// command is postponed for good.
func (e *Engine) Exec(c *Client, argv [][]byte) (done bool) {
	if len(argv) == 0 {
		return true
	}
	if e.ended {
		return false
	}
	if c.held != nil && c.CloseAfterReply {
		return true // it ends when those replies have gone
	}
	if c.Reply == ReplySkipNext {
		c.Reply = ReplySkip
	}
	if e.pause.active && e.script.run == nil {
		e.endPause()
	}
	ctx := &e.ctx
	w := e.writerOf(c)
	// One literal would be put together elsewhere and copied, and the processor waits for what has
	// just been written in smaller pieces.
	*ctx = Ctx{}
	ctx.Writer, ctx.E, ctx.Client, ctx.DB, ctx.Args, ctx.Now = w, e, c, c.db, argv, e.now
	e.current = c
	began, offset, at := e.lastNs, e.Feed.Offset(), len(c.W.Buf)
	if e.timeless(c) {
		done = e.dispatchTimeless(ctx)
	} else {
		done = e.dispatch(ctx)
	}
	if e.cluster.on {
		e.forgetHash()
	}
	if c.Origin == OriginImport {
		e.checkImported(ctx)
	}
	if e.confirm.on || c.held != nil {
		e.hold(ctx, at, offset)
	}
	if c.leasing {
		c.noteLeased(at)
	}
	e.endReply(c)
	e.current = nil
	if done && c.wait == nil {
		e.commandDone(c)
	}
	if w == &e.discard {
		e.discard.Reset()
	}
	if len(e.blocking.ready) > 0 && e.script.run == nil {
		e.serve()
	}
	e.Stats.Loop.CommandNanos += e.lastNs - began
	return done
}

// dispatch finds the command, passes it through the gates and calls it.
func (e *Engine) dispatch(c *Ctx) bool {
	cmd := e.table.Find(c.Args)
	if cmd == nil && c.Client.Origin == OriginImport {
		cmd = e.table.FindLogged(c.Args) // as in a log, the server's own commands are not renamed
	}
	if c.Client.follows() {
		e.dispatchReplica(c, cmd)
		return true
	}
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

// dispatchReplica runs a command of a replica. Its replies would be taken for a part of the stream,
// so a command that has one ends the connection.
func (e *Engine) dispatchReplica(c *Ctx, cmd *spec.Command) {
	w, name := c.Writer, "<unknown>"
	c.Cmd, c.Client.LastCmd = cmd, cmd
	before := len(w.Buf)
	if cmd != nil {
		name = cmd.FullName()
		if e.gates(c) == passed {
			if e.call(c); len(w.Buf) == before && w.Staged == 0 {
				return
			}
		}
	}
	w.Buf = w.Buf[:before]
	e.Log.Warning("Replica %s generated a reply to command '%s', disconnecting it",
		c.Client.replica.Name(), name)
	c.Client.CloseASAP = true
}

// isHTTP reports whether the client talks HTTP, and closes its connection then. A web page can make
// a browser send requests here, and the lines of such a request would run as commands.
func (e *Engine) isHTTP(c *Ctx) bool {
	switch upper(head(c.Args[0], 5)) {
	case "POST", "HOST:":
		e.Log.Warning(
			"Possible SECURITY ATTACK detected: client %s sent an HTTP request. Connection "+
				"aborted.", c.Client.Addr)
		c.Client.CloseASAP = true
		return true
	}
	return false
}

// ProtocolError answers a client that broke the protocol. The connection is closed behind the
// reply. input is what was not understood.
func (e *Engine) ProtocolError(c *Client, err *resp.ProtocolError, input []byte) {
	msg := "ERR " + err.Error()
	e.countError(msg)
	if c.Origin == OriginMaster {
		head := resp.AppendQuoted(nil, input[:min(len(input), 128)])
		e.Log.Warning("Protocol error (%s) from master: %s (input: %s; arguments of up to %d "+
			"bytes are accepted)", err.Error(), e.Describe(c, 0), head, e.MasterInputLimit())
		e.distrustMaster(c)
		c.CloseASAP = true
		return
	}
	e.Log.Verbose("Protocol error (%s) from client: id=%d addr=%s laddr=%s", err.Error(), c.ID,
		c.Addr, c.LAddr)
	if c.Reply == ReplyOn {
		at := len(c.W.Buf)
		c.W.Error(msg)
		if c.held != nil {
			e.hold(&Ctx{Writer: &c.W, E: e, Client: c}, at, e.Feed.Offset())
		}
	}
	c.CloseAfterReply = true
	if c.Origin == OriginImport {
		c.CloseASAP = true
	}
}

// dispatchTimeless dispatches a command of the master, or of one who copies data here. While it
// runs, keys and fields that are due still exist.
func (e *Engine) dispatchTimeless(c *Ctx) (done bool) {
	outer := e.inTimeless // another client's script, which is busy
	e.inTimeless = true
	e.KS.SetExpireMode(keyspace.ExpireIgnore)
	done = e.dispatch(c)
	e.inTimeless = outer
	e.configureExpire()
	return done
}

// queue puts a command into the client's transaction.
func (e *Engine) queue(c *Ctx) {
	c.Simple("QUEUED")
	m := c.Client.multi
	if m.aborted || c.Client.watchDirty {
		return
	}
	if len(m.cmds) == 0 {
		m.all = ^spec.Flag(0)
	}
	flags := e.table.callFlags(c)
	if c.slot != 0 {
		m.route(c)
		e.noteQueued(c)
	}
	m.any |= flags
	m.all &= flags
	m.wide = m.wide || c.Cmd.WritesUnnamed()
	was := m.bytes
	m.cmds = append(m.cmds, queuedCmd{c.Cmd, len(c.Args)})
	for _, a := range c.Args {
		m.args = append(m.args, m.keep(a))
		m.argMem += int64(len(a))
	}
	if m.bytes != was {
		e.countClient(c.Client) // or a queue could outgrow maxmemory before the cron comes round
	}
}
