package command

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/slot"
)

var _ = family(clusterReadHandlers)

func clusterReadHandlers() engine.Handlers {
	return engine.Handlers{
		"cluster|info":      asMember(clusterInfoCmd),
		"cluster|nodes":     asMember(clusterNodesCmd),
		"cluster|slots":     asMember(clusterSlotsCmd),
		"cluster|shards":    asMember(clusterShardsCmd),
		"cluster|links":     asMember(clusterLinksCmd),
		"cluster|replicas":  asMember(clusterReplicasCmd),
		"cluster|slaves":    asMember(clusterReplicasCmd),
		"cluster|myid":      asMember(myIDCmd),
		"cluster|myshardid": asMember(clusterMyShardIDCmd),
		"cluster|help":      inCluster(helpOf(clusterHelp...)),
		"asking":            inCluster(askingCmd),
		"readonly":          inCluster(func(c *engine.Ctx) { readOnlyCmd(c, true) }),
		"readwrite":         inCluster(func(c *engine.Ctx) { readOnlyCmd(c, false) }),
	}
}

// asMember is inCluster for handlers that need the topology, and this node in it. Both are there
// but for moments at the start and while the node leaves one cluster for another.
func asMember(fn func(c *engine.Ctx)) func(c *engine.Ctx) {
	return inCluster(func(c *engine.Ctx) {
		if c.E.Self() == nil {
			c.Err("CLUSTERDOWN The node is in no cluster at the moment")
			return
		}
		fn(c)
	})
}

func askingCmd(c *engine.Ctx) {
	c.Client.Ask()
	c.OK()
}

// readOnlyCmd carries out READONLY and READWRITE.
func readOnlyCmd(c *engine.Ctx, on bool) {
	c.Client.ReadOnly = on
	c.OK()
}

// myIDCmd carries out CLUSTER MYID and SENTINEL MYID.
func myIDCmd(c *engine.Ctx) { c.BulkString(string(c.E.Self().ID)) }

func clusterMyShardIDCmd(c *engine.Ctx) { c.BulkString(string(c.E.SelfShard().ID)) }

// clusterInfoCmd carries out CLUSTER INFO. The lines of Raft come last: Redis has none.
func clusterInfoCmd(c *engine.Ctx) {
	t, v := &infoText{e: c.E}, c.E.ClusterView()
	assigned, ok := c.E.SlotCounts()
	state := "fail"
	if c.E.ClusterUp() {
		state = "ok"
	}
	t.str("cluster_state", state)
	t.nums("cluster_slots_assigned", assigned, "cluster_slots_ok", ok, "cluster_slots_pfail", 0,
		"cluster_slots_fail", assigned-ok, "cluster_known_nodes", len(v.List),
		"cluster_size", v.Size(), "cluster_current_epoch", int(v.Epoch),
		"cluster_my_epoch", int(c.E.SelfShard().Epoch))
	f := c.E.ClusterFacts()
	clusterCounts(t, "sent", f.Sent)
	clusterCounts(t, "received", f.Received)
	t.num("total_cluster_links_buffer_limit_exceeded", f.LimitExceeded)
	if r := f.Raft; r.Role != "" {
		t.str("cluster_raft_role", r.Role)
		t.str("cluster_raft_leader", string(r.Leader))
		t.nums("cluster_raft_current_term", int(r.Term), "cluster_raft_commit_index", int(r.Commit),
			"cluster_raft_last_applied", int(r.Applied), "cluster_raft_log_entries",
			int(r.LogEntries), "cluster_raft_voters", len(r.Voters))
	}
	c.Verbatim("txt", t.b.String())
}

// clusterCounts writes how many messages of each kind there were, and of all.
func clusterCounts(t *infoText, what string, counts map[string]int64) {
	all := int64(0)
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		t.num("cluster_stats_messages_"+kind+"_"+what, counts[kind])
		all += counts[kind]
	}
	t.num("cluster_stats_messages_"+what, all)
}

// clusterNodesCmd carries out CLUSTER NODES.
func clusterNodesCmd(c *engine.Ctx) {
	links := linksOf(c)
	var b strings.Builder
	for _, n := range c.E.ClusterView().List {
		b.WriteString(clusterNodeLine(c, n, links[n.ID]))
		b.WriteByte('\n')
	}
	c.Verbatim("txt", b.String())
}

// linksOf returns the links that this node has opened, by the nodes at their other ends.
func linksOf(c *engine.Ctx) map[topology.NodeID]*engine.LinkFacts {
	links := map[topology.NodeID]*engine.LinkFacts{}
	for _, l := range c.E.ClusterFacts().Links {
		if l.To {
			links[l.Node] = &l
		}
	}
	return links
}

// clusterNodeLine returns a node's line of CLUSTER NODES. link is nil if there is none to it.
func clusterNodeLine(c *engine.Ctx, n *topology.Node, link *engine.LinkFacts) string {
	v, a := c.E.ClusterView(), &n.About
	shard := v.Shards[n.Shard]
	self := n == c.E.Self()
	master, state, heard := "-", "disconnected", int64(0)
	if v.RoleOf(n) == topology.Replica {
		master = string(shard.Last)
	}
	if link != nil {
		state, heard = "connected", link.Heard
	} else if self {
		state = "connected"
	}
	host := a.IP + ":" + strconv.Itoa(engine.ClientPort(n, c.Client)) + "@" +
		strconv.Itoa(a.BusPort)
	if a.Hostname != "" {
		host += "," + a.Hostname
	}
	words := []string{string(n.ID), host, nodeFlags(v, n, self), master, "0",
		strconv.FormatInt(heard, 10), strconv.FormatUint(shard.Epoch, 10), state}
	if v.RoleOf(n) == topology.Master && !shard.Slots.Empty() {
		words = append(words, shard.Slots.String())
	}
	if self {
		words = append(words, openSlots(v, shard.ID)...)
	}
	return strings.Join(words, " ")
}

// nodeFlags returns the flags of a node as CLUSTER NODES shows them.
func nodeFlags(v *topology.View, n *topology.Node, self bool) string {
	role := "master"
	if v.RoleOf(n) == topology.Replica {
		role = "slave"
	}
	if self {
		role = "myself," + role
	}
	if n.Failed {
		role += ",fail"
	}
	if n.About.NoFailover {
		role += ",nofailover"
	}
	return role
}

// openSlots returns the slots that the shard gives or takes key by key: "[5->-id]" and "[6-<-id]".
func openSlots(v *topology.View, shard topology.ShardID) (words []string) {
	master := func(id topology.ShardID) string { return string(v.Shards[id].Last) }
	for _, i := range slices.Sorted(maps.Keys(v.Marks)) {
		m, owner := v.Marks[i], v.Part(i)
		if m.Migrating != "" && owner != nil && owner.ID == shard {
			words = append(words, "["+strconv.Itoa(i)+"->-"+master(m.Migrating)+"]")
		}
		if m.Importing != "" && m.To == shard {
			words = append(words, "["+strconv.Itoa(i)+"-<-"+master(m.Importing)+"]")
		}
	}
	return words
}

// clusterReplicasCmd carries out CLUSTER REPLICAS.
func clusterReplicasCmd(c *engine.Ctx) {
	v := c.E.ClusterView()
	n := v.Nodes[topology.NodeID(c.Args[2])]
	switch {
	case n == nil:
		c.Err("ERR Unknown node " + string(c.Args[2]))
		return
	case v.RoleOf(n) != topology.Master:
		c.Err("ERR The specified node is not a master")
		return
	}
	links, replicas := linksOf(c), v.PartOf(n.ID).Replicas
	c.Array(len(replicas))
	for _, r := range replicas {
		c.BulkString(clusterNodeLine(c, r, links[r.ID]))
	}
}

// clusterLinksCmd carries out CLUSTER LINKS.
func clusterLinksCmd(c *engine.Ctx) {
	links := c.E.ClusterFacts().Links
	c.Array(len(links))
	for _, l := range links {
		direction, events := "from", ""
		if l.To {
			direction = "to"
		}
		if l.Readable {
			events = "r"
		}
		if l.Writable {
			events += "w"
		}
		c.Map(6)
		c.BulkString("direction")
		c.BulkString(direction)
		c.BulkString("node")
		c.BulkString(string(l.Node))
		c.BulkString("create-time")
		c.Int(l.Created)
		c.BulkString("events")
		c.BulkString(events)
		c.BulkString("send-buffer-allocated")
		c.Int(l.Buffer)
		c.BulkString("send-buffer-used")
		c.Int(l.Queued)
	}
}

// slotRun is neighbouring slots of one shard.
type slotRun struct {
	slot.Range
	part *topology.Part
}

// slotRuns returns all slots that have an owner, in ascending order.
func slotRuns(v *topology.View) (runs []slotRun) {
	for _, p := range v.Parts {
		for _, r := range p.Slots.Ranges() {
			runs = append(runs, slotRun{r, p})
		}
	}
	slices.SortFunc(runs, func(a, b slotRun) int { return a.First - b.First })
	return runs
}
