package command

import (
	"godwit/internal/engine"
)

// errNoReplication is the reply to a command that would make the server a replica, or a master of
// one.
const errNoReplication = "ERR This server has no replication"

var _ = family(replicationHandlers)

// replicationHandlers returns commands that act as on a master without replicas. A command that
// would start replication fails with an error of Godwit's own.
func replicationHandlers() engine.Handlers {
	return engine.Handlers{
		"replicaof": replicaofCmd,
		"slaveof":   replicaofCmd,
		"failover":  failoverCmd,
		"psync":     psyncCmd,
		"sync":      func(c *engine.Ctx) { c.Sync() },
	}
}

// failoverCmd checks its options first, in any order and each at most once. Then it replies that
// there is no replica.
func failoverCmd(c *engine.Ctx) {
	if len(c.Args) == 2 && is(c.Args[1], "abort") {
		c.Err("ERR No failover in progress.")
		return
	}
	var to, force, timeout bool
	for args := c.Args[1:]; len(args) > 0; {
		n := 1
		switch {
		case is(args[0], "timeout") && len(args) > 1 && !timeout:
			ms, ok := intArg(c, args[1])
			if !ok {
				return
			}
			if ms <= 0 {
				c.Err("ERR FAILOVER timeout must be greater than 0")
				return
			}
			timeout, n = true, 2
		case is(args[0], "to") && len(args) > 2 && !to:
			if _, ok := intArg(c, args[2]); !ok {
				return
			}
			to, n = true, 3
		case is(args[0], "force") && !force:
			force = true
		default:
			c.Err(engine.ErrSyntax)
			return
		}
		args = args[n:]
	}
	c.Err("ERR FAILOVER requires connected replicas.")
}

// psyncCmd takes a third argument from a master that hands its role over (FAILOVER).
func psyncCmd(c *engine.Ctx) {
	if len(c.Args) > 3 && is(c.Args[3], "failover") {
		c.Err("ERR PSYNC FAILOVER can't be sent to a master.")
		return
	}
	if at, ok := intArg(c, c.Args[2]); ok {
		c.Psync(string(c.Args[1]), at)
	}
}
