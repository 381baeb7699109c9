package vfs

import (
	"math/rand/v2"
	"path/filepath"
	"sort"
)

// The seeds of Crash that have a fixed meaning. All others are random.
const (
	// LoseAll loses everything that was not synced.
	LoseAll uint64 = iota
	// KeepAll keeps everything, except what a failed Sync dropped: the process was killed, not the
	// machine.
	KeepAll
	// KeepNames keeps names and loses data, as in the empty file after a rename without Sync.
	KeepNames
	// KeepData keeps data and loses names.
	KeepData
	FirstRandomSeed
)

// Crash returns a file system that holds what is left of this one after a power loss now. m itself
// goes on unchanged. Of each file's unsynced changes the first ones survive, the last of them
// perhaps in part. Of the unsynced changes of names any may survive, each as a whole. A file whose
// folder is lost is lost. The same history and seed give the same result.
func (m *Mem) Crash(seed uint64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crash(seed)
}

func (m *Mem) crash(seed uint64) *Mem {
	c := crasher{seed: seed, rnd: rand.New(rand.NewPCG(seed, 0x5f3759df)), nodes: map[*node]*node{}}
	names := make(map[string]*node, len(m.synced))
	for name, n := range m.synced {
		names[name] = n
	}
	for _, change := range m.namePending {
		if c.keepName() {
			change.apply(names)
		}
	}
	out := NewMem()
	// Sorted, so that a folder comes before its content, and random numbers in the same order.
	for _, name := range sorted(names) {
		if dir := out.names[filepath.Dir(name)]; dir == nil || !dir.dir {
			continue
		}
		n := c.node(names[name])
		out.names[name], out.synced[name] = n, n
	}
	return out
}

func sorted(names map[string]*node) []string {
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// crasher decides what survives.
type crasher struct {
	seed  uint64
	rnd   *rand.Rand
	nodes map[*node]*node // a node that two names lead to stays one
}

func (c *crasher) keepName() bool {
	switch c.seed {
	case LoseAll, KeepData:
		return false
	case KeepAll, KeepNames:
		return true
	}
	return c.rnd.IntN(2) == 0
}

// node returns what is left of n. It is the same for whoever reads it now and after the next power
// loss.
func (c *crasher) node(n *node) *node {
	if done := c.nodes[n]; done != nil {
		return done
	}
	data := append([]byte{}, n.synced...)
	kept := n.pending[:c.keepData(len(n.pending))]
	for i, change := range kept {
		if c.seed >= FirstRandomSeed && i == len(kept)-1 && change.bytes != nil {
			change.bytes = change.bytes[:c.rnd.IntN(len(change.bytes)+1)]
			if len(change.bytes) == 0 {
				break // not even a gap before it
			}
		}
		data = change.apply(data)
	}
	left := &node{dir: n.dir, perm: n.perm, data: data, synced: append([]byte{}, data...)}
	c.nodes[n] = left
	return left
}

// keepData returns how many of n changes to a file's data survive.
func (c *crasher) keepData(n int) int {
	switch c.seed {
	case LoseAll, KeepNames:
		return 0
	case KeepAll, KeepData:
		return n
	}
	return c.rnd.IntN(n + 1)
}
