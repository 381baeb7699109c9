package command

import "godwit/internal/engine"

// errNoCluster is what every command of a cluster is answered by a server that is no node of one.
const errNoCluster = "ERR This instance has cluster support disabled"

func noCluster(c *engine.Ctx) { c.Err(errNoCluster) }

// clusterCommands are those of Redis Cluster. They have their arity, flags and documentation, so
// that clients learn that there is no cluster, rather than no such command.
func clusterCommands() []*engine.Command {
	cluster := &engine.Command{
		Name: "cluster", Arity: -2, Group: engine.GroupCluster, Since: "3.0.0",
		Summary: "Asks about a cluster and manages it.", Complexity: "Depends on the subcommand.",
	}
	cluster.Sub = append(clusterReads(), clusterWrites()...)
	connection := func(name string, flags engine.Flag, summary string) *engine.Command {
		return &engine.Command{
			Name: name, Arity: 1, Flags: flags | engine.Fast, Group: engine.GroupCluster, Since: "3.0.0",
			Summary: summary, Complexity: "O(1)", Categories: []string{"connection"}, Run: noCluster,
		}
	}
	const anytime = engine.Loading | engine.Stale
	return []*engine.Command{
		cluster,
		connection("asking", 0, "Says that a client follows a redirection of ASK."),
		connection("readonly", anytime, "Lets a connection read from a replica in a cluster."),
		connection("readwrite", anytime, "Ends what READONLY began."),
	}
}

// clusterSub is a subcommand of CLUSTER.
func clusterSub(name string, arity int, flags engine.Flag, since, summary string, args ...engine.Arg) *engine.Command {
	return &engine.Command{
		Name: name, Arity: arity, Flags: flags, Group: engine.GroupCluster, Since: since,
		Summary: summary, Complexity: "O(1)", Args: args, Run: noCluster,
	}
}

var nondeterministic = []string{"nondeterministic_output"}

// clusterReads are the subcommands that ask.
func clusterReads() []*engine.Command {
	const (
		stale   = engine.Stale
		anytime = engine.Loading | engine.Stale
		admin   = engine.Admin | engine.Stale
	)
	node := engine.Str("node-id")
	asks := func(c *engine.Command) *engine.Command { c.Tips = nondeterministic; return c }
	slots := asks(clusterSub("slots", 2, anytime, "3.0.0", "Lists which nodes have which slots."))
	slots.DocFlags, slots.DeprecatedSince, slots.ReplacedBy = []string{"deprecated"}, "7.0.0", "`CLUSTER SHARDS`"
	slots.History = []engine.History{
		{Since: "4.0.0", Change: "Tells the nodes' ids."}, {Since: "7.0.0", Change: "Tells more of the network."},
	}
	slaves := asks(clusterSub("slaves", 3, admin, "3.0.0", "Lists the replicas of a node.", node))
	slaves.DocFlags, slaves.DeprecatedSince, slaves.ReplacedBy = []string{"deprecated"}, "5.0.0", "`CLUSTER REPLICAS`"
	return []*engine.Command{
		asks(clusterSub("info", 2, stale, "3.0.0", "Reports on the cluster as a node sees it.")),
		asks(clusterSub("nodes", 2, stale, "3.0.0", "Lists the nodes as a node's file has them.")),
		asks(clusterSub("shards", 2, anytime, "7.0.0", "Lists which nodes have which slots, by shard.")),
		asks(clusterSub("links", 2, stale, "7.0.0", "Lists the connections to other nodes.")),
		asks(clusterSub("replicas", 3, admin, "5.0.0", "Lists the replicas of a node.", node)),
		asks(clusterSub("count-failure-reports", 3, admin, "3.0.0", "Counts the nodes that think a node fails.", node)),
		asks(clusterSub("getkeysinslot", 4, stale, "3.0.0", "Lists keys of a slot.",
			engine.Int("slot"), engine.Int("count"))),
		asks(clusterSub("myshardid", 2, stale, "7.2.0", "Tells the id of the node's shard.")),
		clusterSub("myid", 2, stale, "3.0.0", "Tells the node's id."),
		clusterSub("keyslot", 3, stale, "3.0.0", "Tells the slot of a key.", engine.Str("key")),
		clusterSub("countkeysinslot", 3, stale, "3.0.0", "Counts the keys of a slot.", engine.Int("slot")),
		clusterSub("help", 2, anytime, "5.0.0", "Lists the subcommands."),
		slots, slaves,
	}
}

// clusterWrites are the subcommands that change the cluster.
func clusterWrites() []*engine.Command {
	const change = engine.Admin | engine.Stale | engine.NoAsyncLoading
	node := engine.Str("node-id")
	slots := engine.Int("slot").Many()
	ranges := engine.Block("range", engine.Int("start-slot"), engine.Int("end-slot")).Many()
	meet := clusterSub("meet", -4, change, "3.0.0", "Makes another node known.", engine.Str("ip"), engine.Int("port"),
		engine.Int("cluster-bus-port").Opt().From("4.0.0"))
	meet.History = []engine.History{{Since: "4.0.0", Change: "Takes the port of the bus."}}
	bump := clusterSub("bumpepoch", 2, change, "3.0.0", "Moves the configuration epoch on.")
	bump.Tips = nondeterministic
	return []*engine.Command{
		clusterSub("addslots", -3, change, "3.0.0", "Gives slots to the node.", slots),
		clusterSub("addslotsrange", -4, change, "7.0.0", "Gives ranges of slots to the node.", ranges),
		clusterSub("delslots", -3, change, "3.0.0", "Takes slots from the node.", slots),
		clusterSub("delslotsrange", -4, change, "7.0.0", "Takes ranges of slots from the node.", ranges),
		clusterSub("flushslots", 2, change, "3.0.0", "Takes all slots from the node."),
		clusterSub("setslot", -4, change, "3.0.0", "Gives a slot to a node, or moves it.", engine.Int("slot"),
			engine.OneOf("subcommand", node.Renamed("importing").Tokened("IMPORTING"),
				node.Renamed("migrating").Tokened("MIGRATING"), node.Renamed("node").Tokened("NODE"), engine.Tok("stable"))),
		clusterSub("failover", -2, change, "3.0.0", "Makes a replica take its primary's place.",
			engine.OneOf("options", engine.Tok("force"), engine.Tok("takeover")).Opt()),
		clusterSub("forget", 3, change, "3.0.0", "Removes a node.", node),
		clusterSub("replicate", 3, change, "3.0.0", "Makes the node a replica.", node),
		clusterSub("reset", -2, engine.Admin|engine.NoScript|engine.Stale, "3.0.0", "Makes the node as new.",
			engine.OneOf("reset-type", engine.Tok("hard"), engine.Tok("soft")).Opt()),
		clusterSub("saveconfig", 2, change, "3.0.0", "Writes the node's file."),
		clusterSub("set-config-epoch", 3, change, "3.0.0", "Sets the epoch of a new node.", engine.Int("config-epoch")),
		meet, bump,
	}
}
