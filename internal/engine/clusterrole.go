package engine

import (
	"slices"

	"godwit/internal/cluster/topology"
)

// followShard makes the server play the role that the installed topology gives to it.
func (e *Engine) followShard() {
	v := &e.cluster
	if v.self == nil || v.shard == nil {
		return
	}
	defer e.configureExpire()
	switch master := v.state.Nodes[v.shard.Master]; {
	case v.leads() && e.declines():
		v.declined = v.promotion()
		e.Log.Warning("This node cannot take over the shard: its data went for a full " +
			"synchronization with the old master")
	case v.leads():
		e.lead()
	case master != nil:
		e.follow(master)
	case e.repl.master == nil && v.shard.Last == v.self.ID:
		e.shard.synced = true // even if it is empty: it is all that this node ever had
		e.leaveRestored()
		e.beRevoked()
	case e.repl.master == nil:
		if last := v.state.Nodes[v.shard.Last]; last != nil {
			e.follow(last)
		}
	}
}

// lead makes the server the master of its shard, in the shard's term.
func (e *Engine) lead() {
	sh := e.cluster.shard
	if e.shard.leads && e.shard.data == sh.ID && e.shard.term == sh.Term {
		return
	}
	if e.repl.master != nil {
		e.Log.Notice("Failover election won: I'm the new master.")
		e.Promote(nil)
	}
	e.leaveRestored()
	e.dropPeers()
	e.shard = shardRole{leads: true, synced: true, data: sh.ID, term: sh.Term,
		begin: e.Feed.Offset(), resumed: e.shard.resumed && e.shard.data == sh.ID, db: e.shard.db}
	e.inSync.begin(sh.InSync, e.Feed.Offset(), e.Steady())
	e.configureConfirm()
	e.awaitLease()
	if sh.Before != nil {
		e.keepInSync() // nothing is confirmed before
	}
}

// dropPeers ends the links of the shard's replicas: a link is of one term, which its handshake
// told. They come back, and go on where they are.
func (e *Engine) dropPeers() {
	for _, r := range slices.Clone(e.repl.replicas.list) {
		if r.node != "" {
			e.Kill(r.Client)
		}
	}
}

// follow makes the server a replica of another node.
func (e *Engine) follow(n *topology.Node) {
	host, port := e.replicationAddress(n)
	if m := e.repl.master; m != nil && m.Host == host && m.Port == port && m.followed == nil {
		if m.refusals > 0 { // the two nodes may be of one mind now
			m.refusals, m.retryAt = 0, e.Steady()
		}
		return
	}
	e.Log.Notice("Following node %.40s (%s:%d), the master of this shard", n.ID, host, port)
	demoted := e.shard.leads && e.shard.data == e.cluster.shard.ID
	e.shard.leads = false
	e.rejoin()
	e.SetMaster(host, port, nil)
	if demoted {
		e.leaveClients()
	}
	if e.shard.restored {
		e.shard.restored, e.repl.master.db = false, e.shard.db
	}
	e.endHold()
}

// replicationAddress returns where a node offers the stream of replication.
func (e *Engine) replicationAddress(n *topology.Node) (host string, port int) {
	a := &n.About.Address
	if host, port = a.IP, a.Port; host == "" {
		host = a.Hostname
	}
	if e.Cfg.TLSReplication && a.TLSPort != 0 {
		port = a.TLSPort
	}
	return host, port
}

// ClusterFailover carries out CLUSTER FAILOVER of the client. done is called with the error reply,
// "" if the failover begins.
func (e *Engine) ClusterFailover(by *Client, mode FailoverMode, done func(refusal string)) {
	m, v := e.repl.master, &e.cluster
	var master *topology.Node
	if v.shard != nil {
		master = v.state.Nodes[v.shard.Master]
	}
	switch {
	case v.role == topology.Master:
		done("ERR You should send CLUSTER FAILOVER to a replica")
		return
	case m == nil:
		done("ERR I'm a replica but my master is unknown to me")
		return
	case mode == FailoverGraceful && (master == nil || master.Failed || m.state != LinkConnected):
		done("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE")
		return
	case mode == FailoverTakeover && v.cut:
		done("ERR TAKEOVER promotes nobody without a majority of the cluster's voters, because " +
			"they may have another master for this shard. Bring voters back first")
		return
	}
	e.Log.Notice("%s failover user request accepted (user request from '%s').",
		[...]string{"Manual", "Forced", "Takeover"}[mode], e.describeClient(by))
	e.Cluster.Failover(mode, done)
}
