package topology

import (
	"cmp"
	"slices"

	"godwit/internal/slot"
)

// View is a state in the form that commands and redirections need. It is read only, and so is the
// state that it was made of.
type View struct {
	*State
	// List has all nodes, in the order in which they joined.
	List []*Node
	// Parts has all shards, in the order of their ids.
	Parts []*Part
	// owner is for each slot the index in Parts, plus 1.
	owner [slot.Count]uint16
}

// Part is a shard with its nodes.
type Part struct {
	*Shard
	// Head is the master, or the last one while there is none. It is nil if that has left.
	Head *Node
	// Replicas are the other nodes, in the order in which they joined.
	Replicas []*Node
}

// NewView returns the view of a state. Nobody may change the state any more.
func NewView(s *State) *View {
	v := &View{State: s, List: make([]*Node, 0, len(s.Nodes))}
	for _, n := range s.Nodes {
		v.List = append(v.List, n)
	}
	slices.SortFunc(v.List, func(a, b *Node) int { return cmp.Compare(a.Raft, b.Raft) })
	parts := make(map[ShardID]*Part, len(s.Shards))
	for i, id := range s.ShardIDs() {
		p := &Part{Shard: s.Shards[id]}
		v.Parts = append(v.Parts, p)
		parts[id] = p
		p.Slots.Each(func(k int) bool { v.owner[k] = uint16(i + 1); return true })
	}
	for _, n := range v.List {
		if p := parts[n.Shard]; p.Last == n.ID {
			p.Head = n
		} else {
			p.Replicas = append(p.Replicas, n)
		}
	}
	return v
}

// Part returns the shard that owns the slot, nil if nobody does.
func (v *View) Part(slot int) *Part {
	if i := v.owner[slot]; i > 0 {
		return v.Parts[i-1]
	}
	return nil
}

// PartOf returns the shard of a node, nil if it is not a member.
func (v *View) PartOf(id NodeID) *Part {
	n := v.Nodes[id]
	if n == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(v.Parts, n.Shard, func(p *Part, id ShardID) int {
		return cmp.Compare(p.ID, id)
	})
	return v.Parts[i]
}

// RoleOf returns the role that others are told of a node: that of its shard's head is Master, also
// while it may not confirm writes.
func (v *View) RoleOf(n *Node) Role {
	if sh := v.Shards[n.Shard]; sh.Last == n.ID {
		return Master
	}
	return Replica
}

// Assigned returns the number of slots that have an owner.
func (v *View) Assigned() int {
	all := v.owned()
	return all.Len()
}

// Size returns the number of shards with slots.
func (v *View) Size() (n int) {
	for _, p := range v.Parts {
		if !p.Slots.Empty() {
			n++
		}
	}
	return n
}

// Spares reports whether the shard can do without a replica: those that remain in sync are as many
// as must confirm writes.
func (sh *Shard) Spares(id NodeID) bool {
	return sh.Confirm == 0 || len(without(sh.InSync, id)) >= sh.Confirm
}
