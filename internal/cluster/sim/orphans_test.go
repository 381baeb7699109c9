package sim

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
)

// replicas returns the machines that run, of the replicas of a shard.
func (w *World) replicas(s *topology.State, sh *topology.Shard) (list []*host) {
	for _, h := range w.hosts {
		if n := s.Nodes[h.id]; h.node != nil && n != nil && n.Shard == sh.ID && h.id != sh.Master {
			list = append(list, h)
		}
	}
	return list
}

// fewest returns the shard with the fewest replicas that run.
func (w *World) fewest(s *topology.State) (least topology.ShardID) {
	for _, id := range s.ShardIDs() {
		if least == "" ||
			len(w.replicas(s, s.Shards[id])) < len(w.replicas(s, s.Shards[least])) {
			least = id
		}
	}
	return least
}

// TestOrphans kills all replicas of a master. It gets one of a shard that has several, which keeps
// one, unless they are not to move.
func TestOrphans(t *testing.T) {
	adopted, kept := 0, 0
	for i := range uint64(24) {
		opt := Options{Seed: 1 + i/2, Nodes: 8, Confirm: -1, Settled: i%2 == 1}
		within(t, opt, func(w *World) {
			w.clients()
			w.runFor(2 * Timeout)
			state := w.hosts[0].node.State()
			most, least := 0, w.fewest(state)
			for _, sh := range state.Shards {
				most = max(most, len(w.replicas(state, sh)))
			}
			victims := w.replicas(state, state.Shards[least])
			if len(state.Shards) < 2 || len(victims) == 0 || len(victims) > 2 {
				return
			}
			for _, h := range victims {
				h.crash()
			}
			found := w.runUntil(9*time.Second, func() bool {
				now := w.leader()
				if now == nil {
					return false
				}
				sh := now.node.State().Shards[least]
				return sh != nil && len(w.replicas(now.node.State(), sh)) > 0
			})
			if found != (most > 1 && !w.opt.Settled) {
				w.fail("one of %d replicas was given: %v", most, found)
			}
			if found {
				adopted++
			} else {
				kept++
			}
			w.runFor(8 * time.Second)
			for _, sh := range w.leader().node.State().Shards {
				if len(w.replicas(w.leader().node.State(), sh)) == 0 && found {
					w.fail("shard %s has no replica any more", sh.ID)
				}
			}
		})
	}
	t.Logf("%d masters got a replica, %d did not", adopted, kept)
	require.Positive(t, adopted)
	require.Positive(t, kept)
}

// TestOrphansWhileOthersLag kills all replicas of a master while the other shards have one replica
// each that keeps up, the one with the lowest id. Writes wait for these, so they must stay.
func TestOrphansWhileOthersLag(t *testing.T) {
	crowded := 0
	for seed := range uint64(8) {
		within(t, Options{Seed: 1 + seed, Nodes: 8, Confirm: 1}, func(w *World) {
			w.clients()
			w.runFor(2 * Timeout)
			state := w.hosts[0].node.State()
			orphan := w.fewest(state)
			victims := w.replicas(state, state.Shards[orphan])
			if len(state.Shards) < 2 || len(victims) == 0 {
				return
			}
			keep := map[topology.NodeID]topology.ShardID{}
			for _, id := range state.ShardIDs() {
				list := w.replicas(state, state.Shards[id])
				if id == orphan || len(list) < 2 {
					continue
				}
				slices.SortFunc(list, func(a, b *host) int { return cmp.Compare(a.id, b.id) })
				keep[list[0].id] = id
				for _, h := range list[1:] {
					h.server.lags = true
				}
				crowded++
			}
			w.runFor(Timeout)
			for _, h := range victims {
				h.crash()
			}
			w.runUntil(9*time.Second, func() bool {
				now := w.leader()
				for id, shard := range keep {
					if now != nil && now.node.State().Nodes[id].Shard != shard {
						w.fail("shard %s gave its replica in sync", shard)
					}
				}
				return w.failure != ""
			})
		})
	}
	require.Positive(t, crowded)
}
