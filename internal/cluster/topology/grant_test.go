package topology

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
	"godwit/internal/testseed"
)

// TestGrants lets nodes lag behind the log, each by as much as it likes, and a leader that proposes
// grants only when all of them have applied the last revocation. Whatever the entries are, at no
// time do two nodes believe that they may confirm writes for the same slot. Nodes that were removed
// are among them: nobody has told them.
func TestGrants(t *testing.T) {
	rng := testseed.Rand(t)
	granted := 0
	for range 40 {
		g := generator{rng: rng}
		history := []*State{{}, start(t)}
		applied := map[NodeID]uint64{nodeID(0): 1}
		var waiting *Op // for slots that are closed before it
		for range 400 {
			s := history[len(history)-1]
			index := s.Index + 1
			op := g.op(s)
			if waiting != nil && rng.IntN(3) == 0 {
				op = *waiting
			}
			if before := s.Before(op); len(before) > 0 {
				move := op
				waiting, op = &move, before[0]
			}
			for _, id := range sortedKeys(applied) { // some catch up
				if lag := int(s.Index - applied[id]); rng.IntN(4) == 0 && lag > 0 {
					applied[id] += uint64(rng.IntN(lag + 1))
				}
			}
			requireOneOwner(t, history, applied, op)
			if op.Grants() && behind(applied, s.Revoked) {
				continue // the leader waits
			}
			next := s.Clone()
			if next.Apply(index, op) == "" && op.Grants() {
				granted++
			}
			history = append(history, next)
			for id := range next.Nodes {
				if _, known := applied[id]; !known || next.Nodes[id].Joined == index {
					applied[id] = index
				}
			}
			requireOneOwner(t, history, applied, op)
		}
	}
	require.NotZero(t, granted)
}

func behind(applied map[NodeID]uint64, revoked uint64) bool {
	for _, index := range applied {
		if index < revoked {
			return true
		}
	}
	return false
}

func requireOneOwner(t *testing.T, history []*State, applied map[NodeID]uint64, op Op) {
	var all slot.Set
	for id, index := range applied {
		sh := history[index].mastered(id)
		if sh == nil {
			continue
		}
		mine := sh.Slots
		mine.Subtract(&sh.Closing)
		twice := all.Common(&mine)
		require.True(t, twice.Empty(), "%s: %v after %s", id, twice, op.Encode())
		all.Union(&mine)
	}
}
