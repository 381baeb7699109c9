package command

import (
	"net"
	"strconv"
	"strings"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
)

var _ = family(sentinelHandlers)

func sentinelHandlers() engine.Handlers {
	return engine.Handlers{
		"sentinel|ckquorum":                ofMaster(ckquorumCmd),
		"sentinel|get-master-addr-by-name": masterAddrCmd,
		"sentinel|help":                    helpOf(sentinelHelp...),
		"sentinel|master":                  ofMaster(sentinelMasterCmd),
		"sentinel|masters":                 sentinelMastersCmd,
		"sentinel|myid":                    asMember(myIDCmd),
		"sentinel|replicas":                ofMaster(sentinelReplicasCmd),
		"sentinel|sentinels":               ofMaster(sentinelSentinelsCmd),
		"sentinel|slaves":                  ofMaster(sentinelReplicasCmd),
	}
}

// sentinelHelp lists the lines of SENTINEL HELP.
var sentinelHelp = []string{
	"CKQUORUM <master-name>",
	"    Whether enough voters are there to replace the master.",
	"GET-MASTER-ADDR-BY-NAME <master-name>",
	"    The address and port of the master.",
	"MASTER <master-name>",
	"    The state of the master.",
	"MASTERS",
	"    The state of all masters.",
	"MYID",
	"    The id of this node.",
	"REPLICAS <master-name>",
	"    The state of the master's replicas.",
	"SENTINELS <master-name>",
	"    The other nodes of the cluster.",
}

// ofMaster makes a handler of one that takes the shard which the first argument names.
func ofMaster(fn func(c *engine.Ctx, m engine.NamedMaster)) func(c *engine.Ctx) {
	return func(c *engine.Ctx) {
		m, ok := c.E.MasterNamed(string(c.Args[2]))
		if !ok {
			c.Err("ERR No such master with that name")
			return
		}
		fn(c, m)
	}
}

// masterAddrCmd carries out SENTINEL GET-MASTER-ADDR-BY-NAME. A node that hears of no majority
// would send clients to a master that may have been replaced, or that takes no writes. With an
// error they ask another node.
func masterAddrCmd(c *engine.Ctx) {
	m, ok := c.E.MasterNamed(string(c.Args[2]))
	switch {
	case !c.E.HearsMajority():
		c.Err("IDONTKNOW This node does not hear of a majority of the cluster's voters. Please " +
			"ask another one.")
	case !ok:
		c.NullArray()
	default:
		host, port := c.E.SentinelAddress(m.Head, c.Client)
		bulks(c, []string{host, strconv.Itoa(port)})
	}
}

// ckquorumCmd carries out SENTINEL CKQUORUM: a majority of the voters is the quorum.
func ckquorumCmd(c *engine.Ctx, _ engine.NamedMaster) {
	all, alive := c.E.Voters()
	usable := strconv.Itoa(alive) + " usable Sentinels. "
	if alive > all/2 {
		c.Simple("OK " + usable + "Quorum and failover authorization can be reached")
		return
	}
	c.Err("NOQUORUM " + usable + "Not enough available Sentinels to reach the specified quorum " +
		"for this master. Not enough available Sentinels to reach the majority and authorize a " +
		"failover")
}

func sentinelMastersCmd(c *engine.Ctx) {
	masters := c.E.Masters()
	voters, _ := c.E.Voters()
	c.Array(len(masters))
	for _, m := range masters {
		replySentinelMaster(c, m, voters)
	}
}

func sentinelMasterCmd(c *engine.Ctx, m engine.NamedMaster) {
	voters, _ := c.E.Voters()
	replySentinelMaster(c, m, voters)
}

func sentinelReplicasCmd(c *engine.Ctx, m engine.NamedMaster) {
	c.Array(len(m.Replicas))
	for _, n := range m.Replicas {
		replySentinelReplica(c, m, n)
	}
}

func sentinelSentinelsCmd(c *engine.Ctx, _ engine.NamedMaster) {
	nodes := c.E.ClusterView().List
	c.Array(len(nodes) - 1)
	for _, n := range nodes {
		if n != c.E.Self() {
			replySentinel(c, n)
		}
	}
}

// sentinelFields are names and values, in turn, of what SENTINEL tells of a node.
type sentinelFields []string

func (f *sentinelFields) str(name, value string)       { *f = append(*f, name, value) }
func (f *sentinelFields) num(name string, value int64) { f.str(name, strconv.FormatInt(value, 10)) }

// reply replies with the fields. All values are strings.
func (f sentinelFields) reply(c *engine.Ctx) {
	c.Map(len(f) / 2)
	for _, s := range f {
		c.BulkString(s)
	}
}

// sentinelNode returns the fields that all nodes have. What a Sentinel measures on its own links to
// them is told as of links that are idle.
func sentinelNode(c *engine.Ctx, n *topology.Node, name, role string) (f sentinelFields) {
	timeout := c.E.Topology().Timeout
	host, port := c.E.SentinelAddress(n, c.Client)
	f.str("name", name)
	f.str("ip", host)
	f.num("port", int64(port))
	f.str("runid", string(n.ID))
	f.str("flags", sentinelFlags(c, n, role))
	f.num("link-pending-commands", 0)
	f.num("link-refcount", 1)
	silent := int64(0)
	if n.Failed {
		silent = c.E.FailedFor(n) + timeout
	}
	f.num("last-ping-sent", silent)
	f.num("last-ok-ping-reply", silent)
	f.num("last-ping-reply", silent)
	if n.Failed {
		f.num("s-down-time", c.E.FailedFor(n))
		if role == "master" {
			f.num("o-down-time", c.E.FailedFor(n))
		}
	}
	f.num("down-after-milliseconds", timeout)
	return f
}

// sentinelFlags returns the flags of a node. A node that hears of no majority knows of no other
// whether it is up; nor does it confirm writes itself.
func sentinelFlags(c *engine.Ctx, n *topology.Node, role string) string {
	var flags []string
	if n.Failed || !c.E.HearsMajority() {
		flags = append(flags, "s_down")
	}
	if n.Failed && role == "master" {
		flags = append(flags, "o_down")
	}
	flags = append(flags, role)
	if n.Failed || !c.E.HearsMajority() && n != c.E.Self() {
		flags = append(flags, "disconnected")
	}
	if role == "master" && c.E.Topology().ShardOf(n.ID).Master == "" {
		flags = append(flags, "failover_in_progress")
	}
	return strings.Join(flags, ",")
}

func replySentinelMaster(c *engine.Ctx, m engine.NamedMaster, voters int) {
	f := sentinelNode(c, m.Head, m.Name, "master")
	f.num("info-refresh", 0)
	f.str("role-reported", "master")
	f.num("role-reported-time", c.E.RoleFor(m.Head))
	f.num("config-epoch", int64(m.Epoch))
	f.num("num-slaves", int64(len(m.Replicas)))
	f.num("num-other-sentinels", int64(len(c.E.ClusterView().List)-1))
	f.num("quorum", int64(voters/2+1))
	f.num("failover-timeout", c.E.Cfg.Cluster.FailoverTimeout)
	f.num("parallel-syncs", int64(max(1, len(m.Replicas))))
	f.reply(c)
}

// replySentinelReplica replies with the fields of a replica. Whether another node has the link to
// its master is only known to the master.
func replySentinelReplica(c *engine.Ctx, m engine.NamedMaster, n *topology.Node) {
	host, port := c.E.SentinelAddress(n, c.Client)
	master, masterPort := c.E.SentinelAddress(m.Head, c.Client)
	f := sentinelNode(c, n, net.JoinHostPort(host, strconv.Itoa(port)), "slave")
	f.num("info-refresh", 0)
	f.str("role-reported", "slave")
	f.num("role-reported-time", c.E.RoleFor(n))
	down, status := int64(0), "ok"
	if up, since := c.E.HasLink(n); !up {
		down, status = since, "err"
	}
	f.num("master-link-down-time", down)
	f.str("master-link-status", status)
	f.str("master-host", master)
	f.num("master-port", int64(masterPort))
	priority := int64(100)
	if n.About.NoFailover {
		priority = 0
	}
	f.num("slave-priority", priority)
	f.num("slave-repl-offset", c.E.NodeOffset(n))
	f.num("replica-announced", 1)
	f.reply(c)
}

// replySentinel replies with the fields of a node as a Sentinel.
func replySentinel(c *engine.Ctx, n *topology.Node) {
	f := sentinelNode(c, n, string(n.ID), "sentinel")
	f.num("last-hello-message", 0)
	f.str("voted-leader", "?")
	f.num("voted-leader-epoch", 0)
	f.reply(c)
}
