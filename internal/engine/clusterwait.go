package engine

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/spec"
)

// errMayNotWait is the reply to a command that cannot wait where it runs.
const errMayNotWait = "ERR The command waits for other nodes of the cluster, which is not" +
	" possible in a script"

// errMixedQueue is the reply to EXEC of commands that wait for other nodes, and others. Other
// clients are served meanwhile, so such a transaction would not be one.
const errMixedQueue = errExecRefused + "commands that wait for other nodes of the cluster and" +
	" others cannot be in one transaction"

// Await makes the client wait until what start begins is decided. start is run at once. It calls
// done once, with the error reply or "", now or later, with the executor held. Then reply answers
// the client. When the deadline, by the steady clock in ms, passes before that, the client is told
// that nobody has answered. 0 is none.
//
// A command of a transaction makes EXEC wait. In a script it is refused.
//
// Neither start nor reply may use the Ctx or the arguments of the handler later. reply has its own.
func (c *Ctx) Await(deadline int64, start func(done func(refusal string)),
	reply func(c *Ctx, refusal string)) {
	if x := c.Client.awaits; x != nil {
		x.await(c, start, reply)
		return
	}
	if !c.MayBlock() {
		c.Err(errMayNotWait)
		return
	}
	e, cl := c.E, c.Client
	var w *waiter
	decided, early := false, ""
	start(func(refusal string) {
		switch {
		case w == nil:
			decided, early = true, refusal
		case cl.wait == w:
			e.abandon(w, func(c *Ctx) { reply(c, refusal) })
		}
	})
	if decided {
		reply(c, early)
		return
	}
	c.Block(Wait{Type: object.String, Deadline: deadline, OnTimeout: undecided})
	w = cl.wait
}

// undecided answers a client whose wait ends before there is an answer.
func undecided(c *Ctx) {
	c.Err("CLUSTERDOWN The cluster has not answered in time. The request may still come true")
}

// awaitsCluster reports whether the client, which is blocked, waits for other nodes.
func (c *Client) awaitsCluster() bool {
	return c.wait.cmd.Is(spec.AwaitsCluster) || c.awaits != nil
}

// QueueAwaits reports whether a command that the client has queued waits for other nodes.
func (c *Client) QueueAwaits() bool {
	return c.multi != nil && c.multi.any&spec.AwaitsCluster != 0 && len(c.multi.cmds) > 0
}

// awaiting is a transaction whose commands wait for other nodes. They run one after the other, and
// other clients in between. Their replies are collected.
type awaiting struct {
	e     *Engine
	cl    *Client
	w     *waiter // of EXEC, nil until it waits
	out   resp.Writer
	next  int      // in multi.cmds
	args  [][]byte // of the commands from next on
	last  [][]byte // arguments of the one before next
	waits bool     // the one before next has not replied yet
}

// ExecAwaiting runs the client's transaction as ExecMulti does, if its commands wait for other
// nodes.
func (c *Ctx) ExecAwaiting(conditions func(c *Ctx) (hold bool, err string)) {
	if c.execRefused(conditions) {
		return
	}
	e, cl := c.E, c.Client
	if cl.multi.all&spec.AwaitsCluster == 0 || !c.MayBlock() {
		e.Discard(cl)
		c.Err(errMixedQueue)
		return
	}
	e.Unwatch(cl)
	x := &awaiting{e: e, cl: cl, args: cl.multi.args, out: resp.Writer{Proto: cl.W.Proto}}
	cl.awaits = x
	if x.run() {
		x.reply(c)
		e.endMulti(cl)
		return
	}
	c.Block(Wait{Type: object.String, OnTimeout: undecided})
	x.w = cl.wait
}

// run runs commands until one waits. It reports whether all have replied.
func (x *awaiting) run() bool {
	cmds := x.cl.multi.cmds
	for x.next < len(cmds) {
		q := cmds[x.next]
		x.last, x.args = x.args[:q.argc:q.argc], x.args[q.argc:]
		x.next++
		x.nest(func(n *Ctx) {
			if msg := x.e.gatesAtExec(n); msg != passed {
				n.Err(string(msg))
			} else {
				x.e.call(n)
			}
		})
		if x.waits {
			return false
		}
	}
	return true
}

// nest runs fn as the command before next.
func (x *awaiting) nest(fn func(n *Ctx)) {
	outer := x.e.current
	x.e.current = x.cl
	n := x.e.nested(x.cl, x.cl.multi.cmds[x.next-1].cmd, x.last)
	n.Writer = &x.out
	fn(n)
	x.e.unnest()
	x.e.current = outer
}

// await is Await of a command of the transaction.
func (x *awaiting) await(c *Ctx, start func(done func(refusal string)),
	reply func(c *Ctx, refusal string)) {
	decided, early := false, ""
	start(func(refusal string) {
		switch {
		case !x.waits:
			decided, early = true, refusal
		case x.cl.wait == x.w:
			x.waits = false
			x.nest(func(n *Ctx) { reply(n, refusal) })
			if x.run() {
				x.e.abandon(x.w, x.reply)
			}
		}
	})
	if decided {
		reply(c, early)
		return
	}
	x.waits = true
}

// reply replies to EXEC.
func (x *awaiting) reply(c *Ctx) {
	c.Array(len(x.cl.multi.cmds))
	c.Buf = append(c.Buf, x.out.Buf...)
}

// Propose hands an action to the cluster's log. See ClusterNode.
func (e *Engine) Propose(do topology.Action, done func(refusal string)) {
	e.Cluster.Propose(topology.Op{Do: do}, done)
}

// NewClusterID returns a random id for a shard or a migration.
func (e *Engine) NewClusterID() string { return e.hexID(40) }
