package command

import (
	"godwit/internal/engine"
	"godwit/internal/propagation"
)

// debugLaterSubs returns the subcommands of DEBUG that belong to replication and clusters. The
// latter answer as those of a Redis that is in no cluster.
func debugLaterSubs() []debugSub {
	return []debugSub{
		{"replicate", 3, 1 << 20, " <string> ...",
			[]string{"Send a command to replicas."}, func(c *engine.Ctx) {
				if c.E.IsReplica() {
					c.Err("ERR A replica passes on what its master sends, and nothing else")
					return
				}
				c.E.Feed.Send(propagation.Replicas, c.DB.ID(), c.Args[2:])
				c.OK()
			}},
		{"repl-pause", 3, 3, " <clear|after-fork|before-rdb-channel|on-streaming-repl-buf>",
			[]string{"Stop the process at a place of a full synchronization."},
			func(c *engine.Ctx) {
				for _, at := range []string{engine.PauseNowhere, engine.PauseSnapshot,
					engine.PauseBeforeChannel, engine.PauseKeptStream} {
					if is(c.Args[2], at) {
						c.E.Debug.ReplPause = at
						c.OK()
						return
					}
				}
				wrongSub(c)
			}},
		{"drop-cluster-packet-filter", 3, 3, " <packet-type>",
			[]string{"Drop packets of a cluster, of which there are none."},
			func(c *engine.Ctx) {
				if _, ok := intArg(c, c.Args[2]); ok {
					c.OK()
				}
			}},
		{"clusterlink", 5, 5, " KILL <to|from|all> <node-id>",
			[]string{"End connections of a cluster."}, func(c *engine.Ctx) {
				c.Err("ERR Debug option only available for cluster mode enabled setup!")
			}},
		{"internal_secret", 2, 2, "", []string{"The secret of a cluster."},
			func(c *engine.Ctx) { c.Err("ERR Internal secret is missing") }},
		{"mark-internal-client", 2, 3, " [UNMARK]", []string{
			"Let the connection use internal commands, of which there are none."},
			func(c *engine.Ctx) {
				if len(c.Args) == 3 && !is(c.Args[2], "unmark") {
					wrongSub(c)
					return
				}
				c.Client.Internal = len(c.Args) == 2
				c.OK()
			}},
	}
}
