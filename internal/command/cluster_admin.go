package command

import (
	"math"
	"net/netip"
	"strconv"
	"strings"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(clusterAdminHandlers)

// clusterAdminHandlers change the topology. They reply when the change is in the log that all nodes
// share, and this node acts on it.
func clusterAdminHandlers() engine.Handlers {
	h := engine.Handlers{
		"cluster|meet":                  clusterMeetCmd,
		"cluster|addslots":              func(c *engine.Ctx) { changeSlots(c, false, false) },
		"cluster|addslotsrange":         func(c *engine.Ctx) { changeSlots(c, false, true) },
		"cluster|delslots":              func(c *engine.Ctx) { changeSlots(c, true, false) },
		"cluster|delslotsrange":         func(c *engine.Ctx) { changeSlots(c, true, true) },
		"cluster|flushslots":            clusterFlushSlotsCmd,
		"cluster|setslot":               clusterSetSlotCmd,
		"cluster|replicate":             clusterReplicateCmd,
		"cluster|follow":                clusterFollowCmd,
		"cluster|forget":                clusterForgetCmd,
		"cluster|failover":              clusterFailoverCmd,
		"cluster|set-config-epoch":      clusterSetEpochCmd,
		"cluster|bumpepoch":             clusterBumpEpochCmd,
		"cluster|saveconfig":            func(c *engine.Ctx) { c.OK() },
		"cluster|count-failure-reports": clusterFailureReportsCmd,
		"cluster|addvoter":              func(c *engine.Ctx) { setVote(c, topology.VoteAlways) },
		"cluster|delvoter":              func(c *engine.Ctx) { setVote(c, topology.VoteNever) },
	}
	for name, run := range h {
		h[name] = inTopology(run)
	}
	h["cluster|reset"] = inCluster(clusterResetCmd)
	follow := h["cluster|follow"]
	h["cluster|follow"] = func(c *engine.Ctx) {
		redactAuth(c, 2)
		follow(c)
	}
	return h
}

// inTopology returns a handler for nodes that the topology knows. Others reply with an error.
func inTopology(run func(c *engine.Ctx)) func(c *engine.Ctx) {
	return inCluster(func(c *engine.Ctx) {
		if c.E.Self() == nil || c.E.Cluster == nil {
			c.Err(engine.ErrClusterDown)
			return
		}
		run(c)
	})
}

// propose makes the client wait until the action is in the log. done replies; nil replies with OK,
// or with the refusal.
func propose(c *engine.Ctx, do topology.Action, done func(c *engine.Ctx, refusal string)) {
	e := c.E
	if done == nil {
		done = okOrRefusal
	}
	c.Await(0, func(decided func(string)) { e.Propose(do, decided) }, done)
}

func okOrRefusal(c *engine.Ctx, refusal string) {
	if refusal != "" {
		c.Err(refusal)
		return
	}
	c.OK()
}

// nodeArg reads the id of a node. If it is none, it replies with the text, and what it was.
func nodeArg(c *engine.Ctx, arg []byte, text string) (topology.NodeID, bool) {
	id := topology.NodeID(arg)
	if !topology.ValidID(id) {
		c.Err(text + string(arg))
		return "", false
	}
	return id, true
}

const errUnknownNode = "ERR Unknown node "

// surplusArgs replies with the error of subcommands that refuse arguments although their arity lets
// them through.
func surplusArgs(c *engine.Ctx) {
	c.Err(errSubcommand(c))
}

func clusterMeetCmd(c *engine.Ctx) {
	if len(c.Args) > 5 {
		surplusArgs(c)
		return
	}
	port, ok := object.ParseInt(c.Args[3])
	if !ok {
		c.Err("ERR Invalid base port specified: " + string(c.Args[3]))
		return
	}
	bus := port + config.ClusterBusOffset
	if len(c.Args) == 5 {
		if bus, ok = object.ParseInt(c.Args[4]); !ok {
			c.Err("ERR Invalid bus port specified: " + string(c.Args[4]))
			return
		}
	}
	host := string(c.Args[2])
	_, err := netip.ParseAddr(host)
	if err != nil || port <= 0 || port > math.MaxUint16 || bus <= 0 || bus > math.MaxUint16 {
		c.Err("ERR Invalid node address specified: " + host + ":" + string(c.Args[3]))
		return
	}
	node := c.E.Cluster
	c.Await(0, func(done func(string)) { node.Meet(host, int(port), int(bus), done) }, okOrRefusal)
}

func clusterReplicateCmd(c *engine.Ctx) {
	me := c.E.Self().ID
	switch {
	case len(c.Args) == 4 && is(c.Args[2], "no") && is(c.Args[3], "one"):
		replicateNoOne(c, me)
		return
	case len(c.Args) != 3:
		c.WrongArity()
		return
	}
	master, ok := nodeArg(c, c.Args[2], errUnknownNode)
	if !ok {
		return
	}
	s := c.E.Topology()
	known := s.Nodes[master] != nil && s.ShardOf(master).Master == master
	if known && master != me && (!c.E.IsReplica() || c.E.Follows()) && keys(c.E) > 0 {
		c.Err("ERR To set a master the node must be empty and without assigned slots.")
		return
	}
	propose(c, topology.Replicate{Node: me, Master: master}, nil)
}

// replicateNoOne makes a replica the master of a shard of its own, without slots and keys.
func replicateNoOne(c *engine.Ctx, me topology.NodeID) {
	if c.E.SelfShard().Master == me {
		c.OK()
		return
	}
	shard := topology.ShardID(c.E.NewClusterID())
	e, do := c.E, topology.Replicate{Node: me, Shard: shard}
	c.Await(0, e.LeavingShard(func(done func(string)) { e.Propose(do, done) }), okOrRefusal)
}

// keys returns the number of keys in all databases.
func keys(e *engine.Engine) (n int) {
	for i := range e.KS.Databases() {
		n += e.KS.DB(i).Len()
	}
	return n
}

// keysIn returns the number of keys in a slot, in all databases.
func keysIn(e *engine.Engine, slot int) (n int) {
	for i := range e.KS.Databases() {
		n += e.KS.DB(i).SlotLen(slot)
	}
	return n
}

func clusterForgetCmd(c *engine.Ctx) {
	if id, ok := nodeArg(c, c.Args[2], errUnknownNode); ok {
		propose(c, topology.Forget{Node: id}, nil)
	}
}

// clusterResetCmd also serves a node that has just heard that it was removed, and is not alone yet:
// tools send FORGET to others and then RESET to the node.
func clusterResetCmd(c *engine.Ctx) {
	hard := false
	switch {
	case c.E.Topology() == nil || c.E.Cluster == nil:
		c.Err(engine.ErrClusterDown)
		return
	case len(c.Args) > 3:
		surplusArgs(c)
		return
	case len(c.Args) == 3 && is(c.Args[2], "hard"):
		hard = true
	case len(c.Args) == 3 && !is(c.Args[2], "soft"):
		c.Err(engine.ErrSyntax)
		return
	}
	node, sh := c.E.Cluster, c.E.SelfShard()
	start := func(done func(string)) { node.Reset(hard, done) }
	if c.E.IsReplica() || sh != nil && sh.Copy {
		start = c.E.LeavingShard(start)
	} else if keys(c.E) > 0 {
		c.Err("ERR CLUSTER RESET can't be called with master nodes containing keys")
		return
	}
	c.Await(0, start, okOrRefusal)
}

func clusterFailoverCmd(c *engine.Ctx) {
	mode := engine.FailoverGraceful
	switch {
	case len(c.Args) > 3:
		surplusArgs(c)
		return
	case len(c.Args) == 2:
	case is(c.Args[2], "force"):
		mode = engine.FailoverForce
	case is(c.Args[2], "takeover"):
		mode = engine.FailoverTakeover
	default:
		c.Err(engine.ErrSyntax)
		return
	}
	e, cl := c.E, c.Client
	c.Await(0, func(done func(string)) { e.ClusterFailover(cl, mode, done) }, okOrRefusal)
}

func clusterSetEpochCmd(c *engine.Ctx) {
	epoch, ok := intArg(c, c.Args[2])
	switch {
	case !ok:
		return
	case epoch < 0:
		c.Err("ERR Invalid config epoch specified: " + strconv.FormatInt(epoch, 10))
		return
	}
	propose(c, topology.SetEpoch{Node: c.E.Self().ID, Epoch: uint64(epoch)}, nil)
}

func clusterBumpEpochCmd(c *engine.Ctx) {
	before := c.E.SelfShard().Epoch
	propose(c, topology.Bump{Node: c.E.Self().ID}, func(c *engine.Ctx, refusal string) {
		sh := c.E.SelfShard()
		if refusal != "" || sh == nil {
			okOrRefusal(c, refusal)
			return
		}
		verb := "BUMPED "
		if sh.Epoch == before {
			verb = "STILL "
		}
		c.Simple(verb + strconv.FormatUint(sh.Epoch, 10))
	})
}

// clusterFailureReportsCmd replies with the number of nodes that say that a node has failed. The
// leader alone decides that here.
func clusterFailureReportsCmd(c *engine.Ctx) {
	n := c.E.Topology().Nodes[topology.NodeID(c.Args[2])]
	switch {
	case n == nil:
		c.Err(errUnknownNode + string(c.Args[2]))
	case n.Failed:
		c.Int(1)
	default:
		c.Int(0)
	}
}

func setVote(c *engine.Ctx, vote topology.Vote) {
	if id, ok := nodeArg(c, c.Args[2], errUnknownNode); ok {
		propose(c, topology.SetVote{Node: id, Vote: vote}, nil)
	}
}

// slotRefused reports whether a refusal blames a slot. Redis may blame another one, because it goes
// by the order of the arguments.
func slotRefused(refusal string) bool { return strings.HasPrefix(refusal, "ERR Slot ") }
