package command

import (
	"fmt"

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
		"sync":      func(c *engine.Ctx) { c.Err(errNoReplication) },
		"replconf":  replconfCmd,
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

func psyncCmd(c *engine.Ctx) {
	if _, ok := intArg(c, c.Args[2]); ok {
		c.Err(errNoReplication)
	}
}

// replconfCmd checks the options of a replica. None has an effect, because no SYNC will follow.
func replconfCmd(c *engine.Ctx) {
	if len(c.Args)%2 == 0 {
		c.Err(engine.ErrSyntax)
		return
	}
	for args := c.Args[1:]; len(args) > 0; args = args[2:] {
		value := args[1]
		switch {
		case is(args[0], "listening-port"):
			if _, ok := intArg(c, value); !ok {
				return
			}
		case is(args[0], "ip-address"):
			if len(value) >= 256 {
				c.Err(fmt.Sprintf(
					"ERR REPLCONF ip-address provided by replica instance is too long: %d bytes",
					len(value)))
				return
			}
		case is(args[0], "capa"):
		case is(args[0], "rdb-only"), is(args[0], "rdb-channel"):
			if n, ok := intArg(c, value); !ok {
				return
			} else if n < 0 || n > 1 {
				c.Err("ERR value is out of range, value must between 0 and 1")
				return
			}
		case is(args[0], "rdb-filter-only"):
			if len(value) > 0 && !is(value, "functions") {
				c.Err("ERR Unsupported rdb-filter-only option: " + string(value))
				return
			}
		case is(args[0], "main-ch-client-id"):
			if id, ok := intArg(c, value); ok {
				c.Err(fmt.Sprintf("ERR Unrecognized RDB client id: %d", id))
			}
			return
		case is(args[0], "getack") && c.Client.Origin == engine.OriginMaster:
			c.E.AckMaster()
			return
		case is(args[0], "ack"), is(args[0], "getack"):
			c.Err(errNoReplication) // Redis replies only to a replica, and leaves others waiting.
			return
		default:
			c.Err("ERR Unrecognized REPLCONF option: " + string(args[0]))
			return
		}
	}
	c.OK()
}
