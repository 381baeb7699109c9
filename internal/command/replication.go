package command

import (
	"godwit/internal/engine"
)

var _ = family(replicationHandlers)

// replicationHandlers returns the commands that change a server's role, or make a replica of a
// client.
func replicationHandlers() engine.Handlers {
	return engine.Handlers{
		"replicaof": replicaofCmd,
		"slaveof":   replicaofCmd,
		"failover":  failoverCmd,
		"psync":     psyncCmd,
		"sync":      func(c *engine.Ctx) { c.Sync() },
	}
}

// failoverCmd checks its options first, in any order and each at most once.
func failoverCmd(c *engine.Ctx) {
	if c.E.ClusterEnabled() {
		c.Err("ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.")
		return
	}
	if len(c.Args) == 2 && is(c.Args[1], "abort") {
		if !c.E.AbortFailover("Failover manually aborted") {
			c.Err("ERR No failover in progress.")
			return
		}
		c.OK()
		return
	}
	var o engine.FailoverOptions
	for args := c.Args[1:]; len(args) > 0; {
		n := 1
		switch {
		case is(args[0], "timeout") && len(args) > 1 && o.Timeout == 0:
			ms, ok := intArg(c, args[1])
			if !ok {
				return
			}
			if ms <= 0 {
				c.Err("ERR FAILOVER timeout must be greater than 0")
				return
			}
			o.Timeout, n = ms, 2
		case is(args[0], "to") && len(args) > 2 && o.Host == "":
			port, ok := intArg(c, args[2])
			if !ok {
				return
			}
			o.Host, o.Port, n = string(args[1]), int(port), 3
		case is(args[0], "force") && !o.Force:
			o.Force = true
		default:
			c.Err(engine.ErrSyntax)
			return
		}
		args = args[n:]
	}
	if msg := c.E.StartFailover(o); msg != "" {
		c.Err(msg)
		return
	}
	c.OK()
}

// psyncCmd takes a third argument from a master that hands its role over (FAILOVER).
func psyncCmd(c *engine.Ctx) {
	at, ok := intArg(c, c.Args[2])
	switch {
	case !ok:
	case len(c.Args) > 3 && is(c.Args[3], "failover"):
		c.PsyncFailover(string(c.Args[1]), at)
	default:
		c.Psync(string(c.Args[1]), at)
	}
}
