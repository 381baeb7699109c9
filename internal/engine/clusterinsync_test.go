package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"godwit/internal/cluster/topology"
	"godwit/internal/testseed"
)

func testNode(i int) topology.NodeID { return topology.NodeID(fmt.Sprintf("%040d", i)) }

// shardState returns the state of a cluster of one shard: node 0 is its master, the others are its
// replicas.
func shardState(tb testing.TB, nodes int) *topology.State {
	s := &topology.State{}
	apply := func(a topology.Action) {
		if r := s.Apply(s.Index+1, topology.Op{Do: a}); r != "" {
			tb.Fatal(r)
		}
	}
	about := func(i int) topology.About {
		return topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7000 + i}}
	}
	apply(topology.Init{Cluster: string(testNode(100)), Node: testNode(0),
		Shard: topology.ShardID(testNode(200)), About: about(0)})
	for i := 1; i < nodes; i++ {
		apply(topology.Admit{Node: testNode(i), Shard: topology.ShardID(testNode(200 + i)),
			About: about(i)})
		apply(topology.Replicate{Node: testNode(i), Master: testNode(0)})
	}
	return s
}

// syncModel is a master, its replicas and a log that is slow, loses answers, and applies entries in
// any order.
type syncModel struct {
	tb        testing.TB
	rng       *rand.Rand
	s         inSync
	need      int
	log       *topology.State // what is true
	past      []*topology.State
	installed *topology.State // what the master knows
	flying    []*flyingEntry
	now       int64
	offset    int64
	confirmed int64
	real      map[topology.NodeID]int64 // what each replica has
	up        map[topology.NodeID]bool
}

// flyingEntry is one whose outcome the master may or may not hear of.
type flyingEntry struct {
	op       topology.Op
	answered bool   // the master has been told that it is not known
	applied  uint64 // index, 0: it was not applied yet
	refused  bool
}

func (m *syncModel) shard() *topology.Shard {
	return m.installed.Shards[topology.ShardID(testNode(200))]
}

func (m *syncModel) step() {
	id := testNode(1 + m.rng.IntN(len(m.real)))
	m.now += int64(m.rng.IntN(40))
	switch m.rng.IntN(12) {
	case 0, 1:
		m.offset += int64(m.rng.IntN(100))
	case 2, 3:
		if m.up[id] {
			m.real[id] += m.rng.Int64N(m.offset - m.real[id] + 1)
		}
	case 4, 5, 6:
		if m.up[id] {
			m.s.note(id, m.real[id], m.now)
		}
	case 7:
		if m.up[id] = m.rng.IntN(4) > 0; !m.up[id] {
			m.s.lost(id)
		}
	case 8:
		m.tick()
	case 9:
		m.apply()
	case 10:
		if n := m.rng.IntN(len(m.past)); m.past[n].Index >= m.installed.Index {
			m.installed = m.past[n]
		}
	case 11:
		m.answer()
	}
	m.confirm()
}

// tick does what Engine.inSyncCron does.
func (m *syncModel) tick() {
	sh := m.shard()
	if !m.s.asking {
		next := m.s.plan(syncPlan{set: sh.InSync, need: m.need, now: m.now, patience: 500,
			belongs: func(id topology.NodeID) bool { return id != testNode(0) }})
		if m.s.failed || sh.Confirm != m.need || !slices.Equal(next, sh.InSync) {
			m.s.ask(next)
			m.flying = append(m.flying, &flyingEntry{op: topology.Op{Do: topology.SetInSync{
				Shard: sh.ID, Term: sh.Term, Confirm: m.need, InSync: next,
				Seen: m.installed.Index}}})
		}
	}
	m.s.await(m.offset)
}

// apply applies one of the entries that are on their way.
func (m *syncModel) apply() {
	if len(m.flying) == 0 {
		return
	}
	f := m.flying[m.rng.IntN(len(m.flying))]
	if f.applied > 0 || f.refused {
		return
	}
	m.log = m.log.Clone()
	if f.refused = m.log.Apply(m.log.Index+1, f.op) != ""; !f.refused {
		f.applied = m.log.Index
	}
	m.past = append(m.past, m.log)
}

// answer tells the master of an entry: what has become of it, or that this is not known.
func (m *syncModel) answer() {
	for i, f := range m.flying {
		switch {
		case f.answered:
			continue
		case f.refused:
			m.s.answered(false)
		case f.applied > 0 && m.installed.Index >= f.applied:
			m.s.answered(true)
		case f.applied == 0 && m.rng.IntN(3) == 0:
			m.s.answered(false)
			f.answered = true
			return
		default:
			return
		}
		m.flying = slices.Delete(m.flying, i, i+1)
		return
	}
}

// confirm confirms what the master would, and looks whether all who may be promoted have it.
func (m *syncModel) confirm() {
	if sh := m.shard(); sh.Confirm > 0 {
		m.confirmed = max(m.confirmed, m.s.upto(sh.InSync, m.need))
	}
	sh := m.log.Shards[topology.ShardID(testNode(200))]
	if m.confirmed > 0 && (sh.Confirm == 0 || len(sh.InSync) < m.need) {
		m.tb.Fatalf("%d is confirmed, and the log has %d: %v", m.confirmed, sh.Confirm, sh.InSync)
	}
	for _, id := range sh.InSync {
		if m.real[id] < m.confirmed {
			m.tb.Fatalf("%d is confirmed, and %.40s, which may be promoted, has %d", m.confirmed,
				id, m.real[id])
		}
	}
}

// settle lets everything go well for a while: in the end all replicas must be in the set, and
// everything is confirmed.
func (m *syncModel) settle() {
	for range 20 {
		m.now += 100
		for id := range m.real {
			m.real[id], m.up[id] = m.offset, true
			m.s.note(id, m.offset, m.now)
		}
		m.tick()
		for range 4 * len(m.flying) {
			m.apply()
			m.installed = m.log
			m.answer()
		}
		m.flying = slices.DeleteFunc(m.flying, func(f *flyingEntry) bool {
			return f.answered && (f.refused || f.applied > 0)
		})
		m.confirm()
	}
	if sh := m.shard(); len(sh.InSync) != len(m.real) || m.confirmed != m.offset {
		m.tb.Fatalf("%d of %d replicas are in sync, %d of %d is confirmed", len(sh.InSync),
			len(m.real), m.confirmed, m.offset)
	}
}

// TestInSyncModel compares what a master confirms with what those have whom the log would let be
// promoted.
func TestInSyncModel(t *testing.T) {
	rng := testseed.Rand(t)
	for range 300 {
		replicas := 1 + rng.IntN(4)
		m := &syncModel{tb: t, rng: rng, need: 1 + rng.IntN(replicas),
			log:  shardState(t, replicas+1),
			real: map[topology.NodeID]int64{}, up: map[topology.NodeID]bool{}}
		m.installed, m.past = m.log, []*topology.State{m.log}
		for i := range replicas {
			m.real[testNode(i+1)] = 0
		}
		m.offset = 1
		m.s.begin(nil, 0, 0)
		for range 1500 {
			m.step()
		}
		m.settle()
	}
}
