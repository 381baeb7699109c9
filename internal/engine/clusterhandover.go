package engine

import (
	"strings"
	"time"

	"godwit/internal/cluster/topology"
)

// The times of a handing over, as parts of the node timeout.
const (
	askAgainParts = 2 // the leader may have changed, and know of nothing
	// patienceParts is for what passes: a replica that has lost its link because it takes over, or
	// that has just got one, which the leader has not heard of.
	patienceParts = 4
)

// mayHandOver reports whether the server is a master whose shard another node should take over
// before it stops. If there is nobody who could, it says so in the log.
func (e *Engine) mayHandOver() bool {
	c := &e.cluster
	if !c.on || !e.Cfg.Cluster.HandOver || e.Cluster == nil || !c.leads() ||
		c.shard.Slots.Empty() {
		return false
	}
	why := ""
	switch {
	case !e.hasSuccessor():
		why = "it has no replica that follows"
	case c.cut:
		why = "this node hears of no majority of the cluster's voters"
	default:
		return true
	}
	e.notHandedOver(why)
	return false
}

// notHandedOver says why the server stops with its shard.
func (e *Engine) notHandedOver(why string) {
	e.Log.Warning("Not handing the shard over before shutting down: %s. Its slots are not served "+
		"until this node is back, or counts as failed and a replica takes over.", why)
}

// hasSuccessor reports whether a node of the shard follows this one that may be promoted.
func (e *Engine) hasSuccessor() (found bool) {
	e.Replicas(func(r *Replica) {
		n := e.cluster.state.Nodes[r.node]
		found = found || n != nil && !n.About.NoFailover && r.State == ReplicaOnline &&
			!r.Client.CloseASAP
	})
	return found
}

// beginHandover begins to hand the shard over. It is given up at the steady ms until.
func (e *Engine) beginHandover(until int64) {
	e.Log.Notice("Handing the shard over to a replica before shutting down (shutdown-timeout %d).",
		e.Cfg.ShutdownTimeout)
	e.ending.hand = handover{step: handsOver, began: e.Steady(), term: e.cluster.shard.Term}
	e.askSuccessor(until)
}

// askSuccessor has the leader choose who takes over.
func (e *Engine) askSuccessor(until int64) {
	h := &e.ending.hand
	asked := e.Steady()
	h.asked, h.refusal = asked, ""
	limit := time.Duration(max(until-asked, 1)) * time.Millisecond
	e.Cluster.HandOver(limit, func(refusal string) {
		if h.asked == asked {
			h.refusal = refusal
		}
	})
}

// goOnHandingOver is called several times a second while the shard is being handed over. It reports
// whether the shutdown has to wait for that.
func (e *Engine) goOnHandingOver() bool {
	h, c, now := &e.ending.hand, &e.cluster, e.Steady()
	if next := e.successor(); next != nil {
		e.Log.Notice("Handed the shard over to node %.40s (%s:%d) before shutting down.", next.ID,
			next.About.IP, next.About.Port)
		h.step = handedOver
		e.resumePostponed() // they are redirected before the server ends
		return true
	}
	if c.leads() && c.shard.Term != h.term {
		// Who was to take over could not. The new term has cut the links of the other replicas.
		h.again, h.term, h.began = true, c.shard.Term, now
		e.askSuccessor(e.ending.until)
	}
	if why := e.handingFails(); why != "" {
		h.step = handNone
		e.notHandedOver(why)
		if c.leads() {
			e.Cluster.Keep() // the shutdown may yet wait for replicas
		}
		return false
	}
	if h.refusal != "" || now-h.asked >= c.nodeTimeout()/askAgainParts {
		e.askSuccessor(e.ending.until)
	}
	return true
}

// farewellTurns is for how many turns of the cron the end waits for clients to be redirected. Some
// may be slow to take their replies, or send half a command.
const farewellTurns = 10

// redirects reports whether the end has to wait, now that the shard is handed over: there are
// clients whose commands have yet to come again, or whose replies have yet to leave.
func (e *Engine) redirects() (some bool) {
	h := &e.ending.hand
	if h.turns++; h.turns > farewellTurns {
		return false
	}
	e.Clients(func(c *Client) bool {
		if c.Conn != nil && c.Class != ClassReplica && !c.Origin.Feeds() && !c.CloseASAP {
			in, _, out := c.Conn.Buffers()
			some = out > 0 || len(c.W.Buf) > 0 || in > 0 && !c.Postponed() && !c.Waits()
		}
		return !some
	})
	return some
}

// successor returns the node that has become the shard's master in place of this one, nil if there
// is none.
func (e *Engine) successor() *topology.Node {
	c := &e.cluster
	if c.shard == nil || c.leads() || e.repl.master == nil {
		return nil
	}
	return c.state.Nodes[c.shard.Master]
}

// handingFails returns why nobody takes over, "" as long as somebody may.
func (e *Engine) handingFails() string {
	h, c, now := &e.ending.hand, &e.cluster, e.Steady()
	if e.hasSuccessor() {
		h.alone = 0
	} else if h.alone == 0 {
		h.alone = now
	}
	patience := c.nodeTimeout() / patienceParts
	switch {
	case h.refusal != "" && c.leads() && now-h.began >= patience:
		return strings.TrimPrefix(h.refusal, "ERR ")
	case h.alone != 0 && c.leads() && !h.again:
		return "the replica is gone"
	case h.alone != 0 && now-h.alone >= patience && (!c.leads() || now-h.began >= patience):
		return "the replica is gone"
	case c.leads() && h.again && now-h.began >= c.nodeTimeout():
		return "this node was promoted again, and no replica has taken over since"
	case c.leads() && (c.cut || now-h.began >= c.nodeTimeout()):
		return "no leader of the cluster has taken it up"
	case now >= e.ending.until:
		return "no replica has taken over within shutdown-timeout"
	}
	return ""
}

// keepShard takes the handing over back, because the server goes on.
func (e *Engine) keepShard() {
	if e.ending.hand.asked != 0 {
		e.Cluster.Keep()
	}
	e.ending.hand = handover{}
}
