package topology

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
	"godwit/internal/testseed"
)

func id(kind string, n int) string { return fmt.Sprintf("%s%038x", kind, n) }

func nodeID(n int) NodeID { return NodeID(id("aa", n)) }

func shardID(n int) ShardID { return ShardID(id("bb", n)) }

// generator makes entries that are mostly possible, from few ids and slots.
type generator struct {
	rng  *rand.Rand
	next int
	req  uint64
}

func (g *generator) node(s *State) NodeID {
	ids := s.NodeIDs()
	if g.rng.IntN(20) == 0 || len(ids) == 0 {
		return nodeID(g.rng.IntN(12))
	}
	return ids[g.rng.IntN(len(ids))]
}

func (g *generator) shard(s *State) *Shard {
	ids := s.ShardIDs()
	if len(ids) == 0 || g.rng.IntN(30) == 0 {
		return &Shard{ID: shardID(99)}
	}
	return s.Shards[ids[g.rng.IntN(len(ids))]]
}

// slots returns some of 40 slots, or some of those of a shard.
func (g *generator) slots(sh *Shard) (set slot.Set) {
	for range 1 + g.rng.IntN(4) {
		set.Add(g.rng.IntN(40) * 400)
	}
	if sh != nil && g.rng.IntN(4) > 0 {
		if own := set.Common(&sh.Slots); !own.Empty() {
			return own
		}
		if !sh.Slots.Empty() {
			return slot.SetOf(slot.Range{First: first(&sh.Slots), Last: first(&sh.Slots)})
		}
	}
	return set
}

func (g *generator) fresh() int { g.next++; return g.next }

func (g *generator) op(s *State) Op {
	g.req++
	op := Op{By: g.node(s), Req: g.req, Do: g.action(s)}
	if g.rng.IntN(3) == 0 {
		op.By, op.Req = "", 0
	}
	id := ""
	switch a := op.Do.(type) {
	case Receive:
		id = a.ID
	case Advance:
		id = a.ID
	}
	if m := s.Migration(id); m != nil && s.Nodes[m.Target] != nil && g.rng.IntN(4) > 0 {
		op.By, op.Req = m.Target, g.req
	}
	return op
}

func (g *generator) action(s *State) Action {
	n, sh := g.node(s), g.shard(s)
	switch g.rng.IntN(24) {
	case 0, 1, 2:
		a := Admit{Node: nodeID(g.rng.IntN(12)), Shard: shardID(g.fresh())}
		a.About.Port = 7000 + g.rng.IntN(2)
		if g.rng.IntN(2) == 0 {
			a.Slots, a.Epoch = g.slots(nil), uint64(g.rng.IntN(9))
		}
		return a
	case 3, 4:
		if len(s.Nodes) > 4 || g.rng.IntN(5) == 0 {
			return []Action{Forget{n}, Leave{n}}[g.rng.IntN(2)]
		}
		return g.slotAction(s, n, sh)
	case 5:
		return Tell{n, About{Name: "x", NoFailover: g.rng.IntN(2) == 0}}
	case 6:
		return SetFailed{n, g.rng.IntN(2) == 0}
	case 7:
		return SetVote{n, []Vote{VoteAuto, VoteAlways, VoteNever}[g.rng.IntN(3)]}
	case 8, 9, 10:
		if g.rng.IntN(4) == 0 {
			return Replicate{Node: n, Shard: shardID(g.fresh())}
		}
		return Replicate{Node: n, Master: g.node(s)}
	case 11, 12, 13:
		return g.shardAction(s, n, sh)
	case 14:
		return SetInSync{sh.ID, sh.Term, sh.Boot, g.rng.IntN(8) / 7, []NodeID{g.node(s)}, s.Index}
	case 16:
		return Started{n, uint64(g.rng.IntN(9))}
	case 17:
		if g.rng.IntN(2) == 0 {
			return Settle{s.TimeoutAt - min(s.TimeoutAt, uint64(g.rng.IntN(2)))}
		}
		return SetTimeout{[]int64{100, 1000, 5000}[g.rng.IntN(3)]}
	case 15:
		return []Action{SetEpoch{n, uint64(g.rng.IntN(9))}, Bump{n}}[g.rng.IntN(2)]
	}
	return g.slotAction(s, n, sh)
}

func (g *generator) shardAction(s *State, n NodeID, sh *Shard) Action {
	members := s.Members(sh.ID)
	if sh.Master != "" && g.rng.IntN(4) == 0 {
		return Decline{sh.ID, sh.Term}
	}
	if sh.Master != "" && g.rng.IntN(4) > 0 || len(members) == 0 {
		return Vacate{sh.ID, sh.Term, int64(g.rng.IntN(2))}
	}
	p := Promote{Shard: sh.ID, Term: sh.Term, Force: g.rng.IntN(8) == 0}
	p.Node = members[g.rng.IntN(len(members))]
	if g.rng.IntN(8) > 0 {
		p.Boot = s.Nodes[p.Node].Boot
	}
	return p
}

func (g *generator) slotAction(s *State, n NodeID, sh *Shard) Action {
	switch g.rng.IntN(11) {
	case 10:
		return Dropped{sh.ID, sh.Term, g.slots(&Shard{Slots: sh.Half}),
			s.Index - uint64(g.rng.IntN(2))}
	case 0:
		return AddSlots{n, g.slots(nil)}
	case 1:
		return DelSlots{n, g.slots(s.ShardOf(n)), g.rng.IntN(20) == 0}
	case 2:
		slots := g.slots(s.ShardOf(n))
		if g.rng.IntN(2) == 0 {
			return SetMark{Node: n, Slot: first(&slots), Migrating: g.node(s)}
		}
		return SetMark{Node: n, Slot: g.rng.IntN(40) * 400, Importing: g.node(s)}
	case 3:
		return Unmark{n, g.rng.IntN(40) * 400}
	case 4:
		return Close{sh.ID, sh.Term, g.slots(sh)}
	case 5:
		if !sh.Closing.Empty() {
			return Move{sh.Closing, n, g.rng.IntN(2) == 0, g.rng.IntN(2) == 0}
		}
		return Move{g.slots(nil), n, g.rng.IntN(8) == 0, g.rng.IntN(2) == 0}
	case 6:
		return Open{sh.ID, sh.Closing}
	case 7:
		begin := func() Begin {
			return Begin{ID: id("cc", g.fresh()), Slots: g.slots(sh), From: sh.ID,
				To: g.shard(s).ID}
		}
		if g.rng.IntN(3) == 0 {
			return BeginAll{[]Begin{begin(), begin()}}
		}
		return begin()
	}
	if len(s.Migrations) == 0 {
		return Bump{n}
	}
	phases := []Phase{Copying, Closed, Done, Failed, Cancelled, Done, Closed}
	m := s.Migrations[len(s.Migrations)-1-g.rng.IntN(min(3, len(s.Migrations)))]
	if m.Phase == Copying && !m.Ready && g.rng.IntN(2) == 0 {
		return Receive{m.ID}
	}
	if next := map[Phase]Phase{Copying: Closed, Closed: Done}[m.Phase]; g.rng.IntN(4) > 0 {
		return Advance{ID: m.ID, Phase: cmp.Or(next, Closed), Message: "m"}
	}
	return Advance{ID: m.ID, Phase: phases[g.rng.IntN(len(phases))], Message: "m"}
}

// start returns the state of a cluster of one node.
func start(t testing.TB) *State {
	s := &State{}
	op := Op{Do: Init{Cluster: id("dd", 0), Node: nodeID(0), Shard: shardID(0)}}
	require.Empty(t, s.Apply(1, op))
	require.NoError(t, s.Check())
	return s
}

// TestRandom applies random entries. The state keeps to its rules, an entry that is refused or that
// comes again changes nothing but what is known of requests, and neither encoding the entry nor the
// state makes a difference. Older copies of the state stay as they were.
func TestRandom(t *testing.T) {
	rng := testseed.Rand(t)
	accepted := map[string]int{}
	for round := 0; round < 8 || round < 300 && len(unseen(accepted)) > 0; round++ {
		g := generator{rng: rng}
		s := start(t)
		other := s.Clone()
		for index := uint64(2); index < 300; index++ {
			op := g.op(s)
			before, bytes := s.Clone(), string(s.Encode())
			refusal := s.Apply(index, op)
			require.NoError(t, s.Check(), "%d %s %s", index, op.Encode(), refusal)
			require.Equal(t, bytes, string(before.Encode()))
			if refusal != "" {
				same := string(bare(s, before).Encode())
				require.Equal(t, bytes, same, "%s %s", op.Encode(), refusal)
			} else {
				accepted[op.Name()]++
			}
			decoded, err := DecodeOp(op.Encode())
			require.NoError(t, err)
			require.Equal(t, refusal, other.Apply(index, decoded))
			text := string(s.Encode())
			require.Equal(t, text, string(other.Encode()), "%s", op.Encode())
			if other, err = Decode(other.Encode()); err != nil {
				t.Fatal(err)
			}
			again := s.Clone()
			require.Empty(t, again.Apply(index, op)) // the same entry
			require.Equal(t, text, string(again.Encode()))
			if op.Req > 0 && s.Nodes[op.By] != nil && before.Nodes[op.By] != nil {
				require.Equal(t, refusal, again.Apply(index+1, op)) // the same request
				require.Equal(t, text, string(bare(again, s).Encode()), "%s", op.Encode())
			}
		}
	}
	require.Empty(t, unseen(accepted))
}

// unseen returns the kinds of entries that were never accepted. Two are only possible at first.
func unseen(accepted map[string]int) (names []string) {
	for _, r := range actions {
		if r.name != "init" && r.name != "set-epoch" && accepted[r.name] == 0 {
			names = append(names, r.name)
		}
	}
	return names
}

// bare returns s with the index and the requests of an older state.
func bare(s, old *State) *State {
	s = s.Clone()
	s.Index = old.Index
	for id, n := range s.Nodes {
		if o := old.Nodes[id]; o != nil && len(n.Requests)+len(o.Requests) > 0 {
			n = s.editNode(id)
			n.Requests, n.Floor = o.Requests, o.Floor
		}
	}
	return s
}
