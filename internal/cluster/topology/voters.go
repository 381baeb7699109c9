package topology

import (
	"cmp"
	"slices"
)

// MaxVoters is the highest number of voters of the Raft group.
const MaxVoters = 7

// Voters returns which nodes shall be the voters, in ascending order, given those that are. There
// are as many as the largest odd number that is at most MaxVoters and the number of nodes that may
// vote. Nodes that are gone (for so long that they should be replaced) are avoided; then the voters
// spread over zones, hosts and shards. While nothing would get better, current stays.
func (s *State) Voters(current []NodeID, gone func(NodeID) bool) []NodeID {
	v := voting{State: s, gone: gone}
	for _, n := range s.Nodes {
		if n.Vote != VoteNever {
			v.able = append(v.able, n)
		}
	}
	slices.SortFunc(v.able, func(a, b *Node) int { return cmp.Compare(a.Raft, b.Raft) })
	v.want = min(MaxVoters, len(v.able))
	v.want -= 1 - v.want%2
	if v.want < 1 {
		v.want = len(v.able)
	}
	old := slices.Clone(current)
	slices.Sort(old)
	for { // what is chosen depends on old too, so the next choice may be better still
		chosen := v.choose(old)
		if slices.Compare(v.faults(chosen), v.faults(old)) >= 0 {
			return old
		}
		old = chosen
	}
}

type voting struct {
	*State
	able []*Node // in the order of their Raft ids
	want int
	gone func(NodeID) bool
}

// choose takes one node after the other, always one that adds the fewest faults.
func (v *voting) choose(current []NodeID) (list []NodeID) {
	for len(list) < max(v.want, v.always()) {
		var best NodeID
		var least []int
		for _, n := range v.able {
			if slices.Contains(list, n.ID) {
				continue
			}
			faults := v.faults(append(slices.Clone(list), n.ID))
			faults = append(faults, 1)
			if slices.Contains(current, n.ID) {
				faults[len(faults)-1] = 0
			}
			if best == "" || slices.Compare(faults, least) < 0 {
				best, least = n.ID, faults
			}
		}
		list = append(list, best)
	}
	slices.Sort(list)
	return list
}

// faults counts what is bad about a set of voters, the worst first.
func (v *voting) faults(list []NodeID) []int {
	var strangers, gone, missing, zones, hosts, shards int
	for _, n := range v.able {
		if n.Vote == VoteAlways && !slices.Contains(list, n.ID) {
			missing++
		}
	}
	for i, id := range list {
		n := v.Nodes[id]
		if n == nil || n.Vote == VoteNever {
			strangers++
			continue
		}
		if v.gone(id) {
			gone++
		}
		for _, before := range list[:i] {
			o := v.Nodes[before]
			if o == nil {
				continue
			}
			zones += one(o.About.Zone == n.About.Zone)
			hosts += one(o.About.IP == n.About.IP)
			shards += one(o.Shard == n.Shard)
		}
	}
	size := max(v.want-len(list), len(list)-max(v.want, v.always()))
	return []int{strangers, missing, max(size, 0), gone, zones, hosts, shards}
}

func (v *voting) always() (n int) {
	for _, node := range v.able {
		n += one(node.Vote == VoteAlways)
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
