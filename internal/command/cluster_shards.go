package command

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
)

// clusterSlotsCmd carries out CLUSTER SLOTS.
func clusterSlotsCmd(c *engine.Ctx) {
	runs := slotRuns(c.E.ClusterView())
	c.Array(len(runs))
	for _, r := range runs {
		var nodes []*topology.Node
		if r.part.Head != nil {
			nodes = append(nodes, r.part.Head)
		}
		for _, n := range r.part.Replicas {
			if !n.Failed {
				nodes = append(nodes, n)
			}
		}
		c.Array(2 + len(nodes))
		c.Int(int64(r.First))
		c.Int(int64(r.Last))
		for _, n := range nodes {
			replySlotNode(c, n)
		}
	}
}

// replySlotNode replies with a node as CLUSTER SLOTS has it: the preferred endpoint, or null for
// the one that the client knows, the port and the id, and how else it can be reached.
func replySlotNode(c *engine.Ctx, n *topology.Node) {
	kind := c.E.Cfg.Cluster.Endpoint
	c.Array(4)
	if kind == config.EndpointUnknown {
		c.Null()
	} else {
		c.BulkString(c.E.Endpoint(n))
	}
	c.Int(int64(engine.ClientPort(n, c.Client)))
	c.BulkString(string(n.ID))
	var more []string
	if kind != config.EndpointIP {
		more = append(more, "ip", n.About.IP)
	}
	if kind != config.EndpointHostname && n.About.Hostname != "" {
		more = append(more, "hostname", n.About.Hostname)
	}
	c.Map(len(more) / 2)
	for _, s := range more {
		c.BulkString(s)
	}
}

// clusterShardsCmd carries out CLUSTER SHARDS. It does not tell the shards' ids, as Valkey does:
// some clients refuse names that they do not know.
func clusterShardsCmd(c *engine.Ctx) {
	v := c.E.ClusterView()
	c.Array(len(v.Parts))
	for _, p := range v.Parts {
		c.Map(2)
		c.BulkString("slots")
		ranges := p.Slots.Ranges()
		c.Array(2 * len(ranges))
		for _, r := range ranges {
			c.Int(int64(r.First))
			c.Int(int64(r.Last))
		}
		c.BulkString("nodes")
		nodes := p.Replicas
		if p.Head != nil {
			nodes = append([]*topology.Node{p.Head}, nodes...)
		}
		c.Array(len(nodes))
		for _, n := range nodes {
			replyShardNode(c, n)
		}
	}
}

// replyShardNode replies with a node as CLUSTER SHARDS has it. As in Valkey, the zone is told where
// there is one.
func replyShardNode(c *engine.Ctx, n *topology.Node) {
	a, v := &n.About, c.E.ClusterView()
	fields := 6
	for _, more := range []bool{a.Port != 0, a.TLSPort != 0, a.Hostname != "", a.Zone != ""} {
		if more {
			fields++
		}
	}
	c.Map(fields)
	c.BulkString("id")
	c.BulkString(string(n.ID))
	if a.Port != 0 {
		c.BulkString("port")
		c.Int(int64(a.Port))
	}
	if a.TLSPort != 0 {
		c.BulkString("tls-port")
		c.Int(int64(a.TLSPort))
	}
	c.BulkString("ip")
	c.BulkString(a.IP)
	c.BulkString("endpoint")
	c.BulkString(c.E.Endpoint(n))
	if a.Hostname != "" {
		c.BulkString("hostname")
		c.BulkString(a.Hostname)
	}
	c.BulkString("role")
	c.BulkString(string(v.RoleOf(n)))
	c.BulkString("replication-offset")
	c.Int(c.E.NodeOffset(n))
	c.BulkString("health")
	c.BulkString(c.E.NodeHealth(n))
	if a.Zone != "" {
		c.BulkString("availability-zone")
		c.BulkString(a.Zone)
	}
}
