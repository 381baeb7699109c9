package command

import (
	"fmt"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// errNoReplication is why a server that shall become a replica, or feed one, does not.
const errNoReplication = "ERR This server has no replication"

// replicationCommands answer as a primary without replicas does. What would begin a replication is
// refused with an error of our own.
func replicationCommands() []*engine.Command {
	const admin = engine.Admin | engine.NoScript
	const change = admin | engine.Stale | engine.NoAsyncLoading
	const feed = admin | engine.NoAsyncLoading | engine.NoMulti
	of := []engine.Arg{engine.OneOf("args",
		engine.Block("host-port", engine.Str("host"), engine.Int("port")),
		engine.Block("no-one", engine.Tok("no"), engine.Tok("one")))}
	return []*engine.Command{
		{
			Name: "replicaof", Arity: 3, Flags: change, Group: engine.GroupServer, Since: "5.0.0",
			Summary: "Ends being a replica, which the server never is.", Complexity: "O(1)", Args: of, Run: replicaofCmd,
		},
		{
			Name: "slaveof", Arity: 3, Flags: change, Group: engine.GroupServer, Since: "1.0.0",
			Summary: "An older name of REPLICAOF.", Complexity: "O(1)", Args: of, Run: replicaofCmd,
			DocFlags: []string{"deprecated"}, DeprecatedSince: "5.0.0", ReplacedBy: "`REPLICAOF`",
		},
		{
			Name: "failover", Arity: -1, Flags: admin | engine.Stale, Group: engine.GroupServer, Since: "6.2.0",
			Summary: "Would hand over to a replica.", Complexity: "O(1)",
			Args: []engine.Arg{
				engine.Block("target", engine.Str("host"), engine.Int("port"), engine.Tok("force").Opt()).Tokened("TO").Opt(),
				engine.Tok("abort").Opt(), engine.Int("milliseconds").Tokened("TIMEOUT").Opt(),
			},
			Run: failoverCmd,
		},
		{
			Name: "psync", Arity: -3, Flags: feed, Group: engine.GroupServer, Since: "2.8.0",
			Summary: "What a replica asks for the changes with.",
			Args:    []engine.Arg{engine.Str("replicationid"), engine.Int("offset")},
			Run:     psyncCmd,
		},
		{
			Name: "sync", Arity: 1, Flags: feed, Group: engine.GroupServer, Since: "1.0.0",
			Summary: "What an old replica asks for the data set with.",
			Run:     func(c *engine.Ctx) { c.Err(errNoReplication) },
		},
		{
			Name: "replconf", Arity: -1, Flags: admin | engine.Loading | engine.Stale | engine.AllowBusy,
			Group: engine.GroupServer, Since: "3.0.0", DocFlags: []string{"syscmd"},
			Summary: "What a replica tells of itself with.", Complexity: "O(1)", Run: replconfCmd,
		},
	}
}

func replicaofCmd(c *engine.Ctx) {
	if is(c.Args[1], "no") && is(c.Args[2], "one") {
		c.OK()
		return
	}
	if port, ok := object.ParseInt(c.Args[2]); !ok || port < 0 || port > 65535 {
		c.Err("ERR Invalid master port")
		return
	}
	c.Err(errNoReplication)
}

// failoverCmd reads the options, in any order and each once, before it says that there is no
// replica.
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

// replconfCmd checks what a replica says. None of it has an effect: there will be no SYNC.
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
				c.Err(fmt.Sprintf("ERR REPLCONF ip-address provided by replica instance is too long: %d bytes", len(value)))
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
		case is(args[0], "ack"), is(args[0], "getack"):
			c.Err(errNoReplication) // Redis answers only to a replica, and leaves others waiting
			return
		default:
			c.Err("ERR Unrecognized REPLCONF option: " + string(args[0]))
			return
		}
	}
	c.OK()
}
