package topology

import (
	"math"
	"slices"
	"strconv"
)

func (a Init) apply(e *entry) string {
	switch {
	case len(e.Nodes) > 0:
		return "ERR The cluster exists already"
	case !ValidID(a.Cluster) || !ValidID(a.Node) || !ValidID(a.Shard):
		return "ERR Invalid id of a cluster, node or shard"
	case a.Epoch > math.MaxInt64:
		return invalidEpoch(a.Epoch)
	}
	if r := a.About.Refusal(); r != "" {
		return r
	}
	e.Cluster, e.Epoch, e.NextID = a.Cluster, a.Epoch, 1
	e.Nodes, e.Shards = map[NodeID]*Node{}, map[ShardID]*Shard{}
	e.Marks, e.Forgotten = map[int]*Mark{}, map[NodeID]uint64{}
	e.join(a.Node, a.Shard, a.About, a.Boot)
	e.Shards[a.Shard].Epoch, e.Shards[a.Shard].Copy = a.Epoch, a.Copy
	e.Timeout, e.Longest = a.Timeout, a.Timeout
	return ""
}

func invalidEpoch(n uint64) string {
	return "ERR Invalid config epoch specified: " + strconv.FormatUint(n, 10)
}

// join adds a node as the master of a new shard.
func (e *entry) join(id NodeID, shard ShardID, about About, boot uint64) {
	e.Nodes[id] = &Node{ID: id, Raft: e.NextID, Shard: shard, About: about, Boot: boot,
		Joined: e.index}
	e.NextID++
	e.Shards[shard] = &Shard{ID: shard, Master: id, Last: id, Boot: boot, Term: 1}
}

func (a Admit) apply(e *entry) string {
	switch {
	case len(e.Nodes) == 0:
		return errNotMember
	case !ValidID(a.Node) || !ValidID(a.Shard):
		return "ERR Invalid id of a node or shard"
	case a.Epoch > math.MaxInt64:
		return invalidEpoch(a.Epoch)
	}
	if r := a.About.Refusal(); r != "" {
		return r
	}
	if n := e.Nodes[a.Node]; n != nil {
		if n.About.Address == a.About.Address {
			return ""
		}
		return "ERR Node " + string(a.Node) + " is a member already, at another address"
	}
	if e.Shards[a.Shard] != nil {
		return "ERR Shard " + string(a.Shard) + " exists already"
	}
	all := e.owned()
	if busy := a.Slots.Common(&all); !busy.Empty() {
		return busySlot(first(&busy))
	}
	unique := true
	for _, sh := range e.Shards {
		unique = unique && sh.Epoch != a.Epoch
	}
	for id, sh := range e.Shards {
		if sh.Copy {
			e.editShard(id).Copy = false
		}
	}
	e.join(a.Node, a.Shard, a.About, a.Boot)
	sh := e.Shards[a.Shard]
	sh.Slots = a.Slots
	sh.Epoch, e.Epoch = a.Epoch, max(e.Epoch, a.Epoch)
	if a.Epoch > 0 && !unique {
		e.Epoch++
		sh.Epoch = e.Epoch
	}
	delete(e.Forgotten, a.Node)
	return ""
}

func (a Forget) apply(e *entry) string {
	if a.Node == e.by {
		return "ERR I tried hard but I can't forget myself..."
	}
	n := e.Nodes[a.Node]
	if n == nil {
		if e.Forgotten[a.Node] > 0 {
			return ""
		}
		return unknownNode(a.Node)
	}
	if sh := e.ShardOf(e.by); sh != nil && sh.Master == a.Node {
		return "ERR Can't forget my master!"
	}
	if sh := e.Shards[n.Shard]; e.holds(sh, a.Node) {
		text := "ERR Node " + string(a.Node) + " is the master of slots. "
		if e.lost(sh) {
			return text + "Give them up with CLUSTER DELSLOTSRANGE before it is forgotten"
		}
		return text + "Move them to others, or promote a replica, before it is forgotten"
	}
	e.remove(a.Node)
	return ""
}

// holds reports whether the node is the one with the data of the shard's slots: its master, or the
// last one while there is none.
func (e *entry) holds(sh *Shard, id NodeID) bool {
	return !sh.Slots.Empty() && (sh.Master == id || sh.Master == "" && sh.Last == id)
}

func (a Leave) apply(e *entry) string {
	if e.Nodes[a.Node] == nil {
		if e.Forgotten[a.Node] > 0 {
			return ""
		}
		return unknownNode(a.Node)
	}
	if len(e.Nodes) == 1 {
		return "ERR The last node of a cluster cannot leave it"
	}
	e.remove(a.Node)
	return ""
}

// remove takes a node out of the cluster. A shard whose last node it was is gone, with its slots.
func (e *entry) remove(id NodeID) {
	sh := e.Shards[e.Nodes[id].Shard]
	e.quit(id)
	delete(e.Nodes, id)
	e.dropEmpty(sh.ID)
	e.Forgotten[id] = e.index
	for len(e.Forgotten) > keepForgotten {
		oldest := id
		for k, at := range e.Forgotten {
			if at < e.Forgotten[oldest] || at == e.Forgotten[oldest] && k < oldest {
				oldest = k
			}
		}
		delete(e.Forgotten, oldest)
	}
}

// quit makes the node nothing to its shard but a member: neither its master nor in sync.
func (e *entry) quit(id NodeID) {
	sh := e.ShardOf(id)
	if sh.Master == id {
		e.vacate(sh.ID)
	}
	sh = e.editShard(sh.ID)
	e.setInSync(sh, without(sh.InSync, id))
	if sh.Last == id {
		sh.Boot = noBoot
	}
	if b := sh.Before; b != nil {
		next := Before{b.Last, b.Boot, without(b.InSync, id)}
		if b.Last == id {
			next.Boot = noBoot
		}
		sh.Before = &next
	}
}

// noBoot is a Shard's Boot when its last master has left or started anew: nobody has it. A node
// that comes back to the shard has not got the data that it had.
const noBoot = math.MaxUint64

// dropEmpty removes a shard without nodes, and what is said of it.
func (e *entry) dropEmpty(id ShardID) {
	for _, n := range e.Nodes {
		if n.Shard == id {
			return
		}
	}
	e.endMigrations(func(m *Migration) bool { return m.From == id || m.To == id },
		"The shard has no nodes any more")
	delete(e.Shards, id)
	e.tidyMarks()
}

func (a Tell) apply(e *entry) string {
	if e.Nodes[a.Node] == nil {
		return unknownNode(a.Node)
	}
	if r := a.About.Refusal(); r != "" {
		return r
	}
	e.editNode(a.Node).About = a.About
	return ""
}

func (a SetFailed) apply(e *entry) string {
	if e.Nodes[a.Node] == nil {
		return unknownNode(a.Node)
	}
	e.editNode(a.Node).Failed = a.Failed
	return ""
}

func (a SetVote) apply(e *entry) string {
	if e.Nodes[a.Node] == nil {
		return unknownNode(a.Node)
	}
	always, willing := 0, 0
	for id, n := range e.Nodes {
		if id != a.Node && n.Vote == VoteAlways {
			always++
		}
		if id != a.Node && n.Vote != VoteNever {
			willing++
		}
	}
	switch {
	case a.Vote != VoteAuto && a.Vote != VoteAlways && a.Vote != VoteNever:
		return "ERR Invalid vote"
	case a.Vote == VoteAlways && always >= MaxVoters:
		return "ERR There are " + strconv.Itoa(MaxVoters) + " voters already"
	case a.Vote == VoteNever && willing == 0:
		return "ERR All other nodes are no voters"
	}
	e.editNode(a.Node).Vote = a.Vote
	return ""
}

func (a Replicate) apply(e *entry) string {
	n := e.Nodes[a.Node]
	if n == nil {
		return unknownNode(a.Node)
	}
	old := e.Shards[n.Shard]
	if a.Master == "" {
		return a.detach(e, old)
	}
	master := e.Nodes[a.Master]
	switch {
	case master == nil:
		return unknownNode(a.Master)
	case a.Master == a.Node:
		return "ERR Can't replicate myself"
	case e.mastered(a.Master) == nil:
		return "ERR I can only replicate a master, not a replica."
	case e.holds(old, a.Node):
		return errNotEmpty
	case old.ID == master.Shard:
		return ""
	case a.Spared && !old.Spares(a.Node):
		return "ERR The shard needs the replica to confirm writes"
	}
	movers := []NodeID{a.Node}
	if old.Master == a.Node { // of no slots: its replicas come along
		movers = e.Members(old.ID)
	}
	for _, id := range movers {
		e.quit(id)
		e.editNode(id).Shard = master.Shard
	}
	e.dropEmpty(old.ID)
	e.editShard(master.Shard).Replicated = true
	return ""
}

const errNotEmpty = "ERR To set a master the node must be empty and without assigned slots."

// detach makes the node the master of a new shard.
func (a Replicate) detach(e *entry, old *Shard) string {
	switch {
	case old.Master == a.Node:
		return ""
	case e.holds(old, a.Node):
		return errNoMaster
	case !ValidID(a.Shard):
		return "ERR Invalid id of a shard"
	case e.Shards[a.Shard] != nil:
		return "ERR Shard " + string(a.Shard) + " exists already"
	}
	e.quit(a.Node)
	e.editNode(a.Node).Shard = a.Shard
	e.Shards[a.Shard] = &Shard{ID: a.Shard, Master: a.Node, Last: a.Node,
		Boot: e.Nodes[a.Node].Boot, Term: 1}
	e.dropEmpty(old.ID)
	return ""
}

// without returns the list without an element. It never changes list.
func without(list []NodeID, id NodeID) []NodeID {
	if !slices.Contains(list, id) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(o NodeID) bool { return o == id })
}
