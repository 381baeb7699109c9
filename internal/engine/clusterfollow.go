package engine

import (
	"strconv"
	"strings"

	"godwit/internal/slot"
)

// Refusals of CLUSTER FOLLOW.
const (
	errFollowReplica = "ERR Only a master can follow a master of another cluster"
	errFollowOther   = "ERR This node follows another shard. End that first with CLUSTER FOLLOW" +
		" NO ONE"
	errFollowFull = "ERR To follow a master of another cluster the node must be empty and" +
		" without assigned slots."
	errFollowMoves = "ERR Slots are on their way to this node"
	errFollowHalf  = "ERR This node still deletes what a migration has left. Try again"
	errFollowsNone = "ERR This node follows no other cluster"
)

// FollowShard makes this node, a master without keys and slots, copy a shard of another cluster
// from that shard's master (CLUSTER FOLLOW). If it follows that shard already, the copy goes on
// from another node. It returns an error reply, "" if it begins.
//
// The node stays the master of its own shard, and its replicas get what it gets. It takes no
// writes of clients, and nobody owns the slots until CLUSTER ADDSLOTS gives them to it. So nothing
// depends on how long it goes on: a restart or a failover ends it.
func (e *Engine) FollowShard(host string, port int, f Followed, by *Client) (refusal string) {
	v, old := &e.cluster, e.followed()
	all := slot.Set{}
	if v.state != nil {
		for _, sh := range v.state.Shards {
			all.Union(&sh.Slots)
		}
	}
	busy := all.Common(&f.Slots)
	switch {
	case !v.leads():
		return errFollowReplica
	case old != nil && (old.Slots != f.Slots || old.over):
		return errFollowOther
	case old == nil && (e.hasKeys() || !v.shard.Slots.Empty()):
		return errFollowFull
	case len(e.migrations.imports) > 0:
		return errFollowMoves
	case !v.shard.Half.Empty():
		return errFollowHalf
	case !busy.Empty():
		return "ERR Slot " + strconv.Itoa(busy.Ranges()[0].First) + " is already busy"
	}
	m := e.repl.master
	if old != nil && strings.EqualFold(m.Host, host) && m.Port == port {
		*old = Followed{Slots: f.Slots, User: f.User, Password: f.Password, TLS: f.TLS,
			fault: old.fault, errors: old.errors}
		return ""
	}
	e.setMaster(&Master{Host: host, Port: port, followed: &f}, by)
	return ""
}

// StopFollowing ends what FollowShard began (CLUSTER FOLLOW NO ONE). What was copied stays. It
// returns an error reply, or "".
func (e *Engine) StopFollowing(by *Client) (refusal string) {
	if e.followed() == nil {
		return errFollowsNone
	}
	e.Promote(by)
	e.inSync.begin(e.cluster.shard.InSync, e.Feed.Offset(), e.Steady())
	e.awaitLease()
	return ""
}

// serveGained ends what FollowShard began when somebody gives slots to this node (CLUSTER SETSLOT
// NODE): as long as it follows it serves none, and a full resynchronization would delete their
// keys.
func (e *Engine) serveGained() {
	if !e.Follows() || e.cluster.shard == nil || e.cluster.shard.Slots.Empty() {
		return
	}
	e.Log.Warning("This node has got slots %s. The shard of another cluster is not followed any "+
		"more", e.cluster.shard.Slots.String())
	e.StopFollowing(nil)
}

// hasKeys reports whether there is a key in any database.
func (e *Engine) hasKeys() bool {
	for i := range e.KS.Databases() {
		if e.KS.DB(i).Len() > 0 {
			return true
		}
	}
	return false
}

// Follows reports whether this node follows a shard of another cluster.
func (e *Engine) Follows() bool { return e.followed() != nil }
