package sim

import (
	"hash/fnv"
	"slices"

	"godwit/internal/cluster/topology"
)

// checker looks for broken rules.
//
//   - One owner: at any instant of true time at most one node of a cluster may confirm writes to a
//     slot.
//   - Agreement: states of the same index of the same cluster are equal, and obey State.Check.
//   - Nobody becomes a shard's master with the data of another one while a node has the
//     shard's.
//   - No confirmed write is lost: with Confirm, a node that becomes able to confirm has all writes
//     that were confirmed before, unless at some time no node that the log calls complete was
//     alive.
//   - Nobody confirms a write to a slot in which there is half an import, by a migration that has
//     not come to its end. What comes back with a new master, or with an old one's files, is not
//     held against it: the server only waits a while for that.
type checker struct {
	w      *World
	states map[stateKey]uint64
	newest map[string]*topology.State // by cluster
	last   map[rangeKey]reign         // who could confirm last
	by     [ranges]*host              // who has confirmed the last write
	// confirmed are the writes that must not be lost.
	confirmed map[rangeKey][]uint32
	heirs     map[topology.ShardID]reign // the last master of each shard
	done      map[string]bool            // migrations that have moved their slots
	excused   map[string]bool            // others whose data may be served
}

type stateKey struct {
	cluster string
	index   uint64
}

type rangeKey struct {
	cluster string
	r       int
}

// reign is the time of one master.
type reign struct {
	h    *host
	life int
	term uint64
}

func (c *checker) init(w *World) {
	c.w, c.states = w, map[stateKey]uint64{}
	c.newest = map[string]*topology.State{}
	c.heirs = map[topology.ShardID]reign{}
	c.done, c.excused = map[string]bool{}, map[string]bool{}
	c.confirmed, c.last = map[rangeKey][]uint32{}, map[rangeKey]reign{}
}

// agreed looks at a state that a node has taken over.
func (c *checker) agreed(h *host, s *topology.State) {
	if err := s.Check(); err != nil {
		c.w.fail("%v: state %d: %v", h, s.Index, err)
	}
	f := fnv.New64a()
	f.Write(s.Encode())
	k := stateKey{s.Cluster, s.Index}
	if old, ok := c.states[k]; ok && old != f.Sum64() {
		c.w.fail("%v: state %d differs from another node's", h, s.Index)
	}
	c.states[k] = f.Sum64()
	c.w.mix('s', f.Sum(nil))
	if n := c.newest[s.Cluster]; n == nil || n.Index < s.Index {
		c.newest[s.Cluster] = s
		c.noteChanges(n, s)
		c.excuse()
	}
}

// noteChanges writes what a new state has changed into the trace.
func (c *checker) noteChanges(old, s *topology.State) {
	if old == nil {
		return
	}
	c.count(old, s)
	if !c.w.opt.Verbose {
		return
	}
	for _, id := range s.ShardIDs() {
		a, b := old.Shards[id], s.Shards[id]
		if a == b {
			continue
		}
		c.w.note("[%.4s %d] shard %.4s: master %s last %s term %d slots %v closing %v in sync %v",
			s.Cluster, s.Index, id, c.w.name(b.Master), c.w.name(b.Last), b.Term, b.Slots,
			b.Closing, c.w.nameAll(b.InSync))
	}
	for _, id := range s.NodeIDs() {
		a, b := old.Nodes[id], s.Nodes[id]
		if a == nil || a.Failed != b.Failed || a.Boot != b.Boot || a.Shard != b.Shard {
			c.w.note("[%.4s %d] node %s: raft %d boot %d shard %.4s failed %v", s.Cluster, s.Index,
				c.w.name(id), b.Raft, b.Boot, b.Shard, b.Failed)
		}
	}
	for _, id := range old.NodeIDs() {
		if s.Nodes[id] == nil {
			c.w.note("[%.4s %d] node %s is gone", s.Cluster, s.Index, c.w.name(id))
		}
	}
}

// count counts what a new state has changed.
func (c *checker) count(old, s *topology.State) {
	for id, n := range s.Nodes {
		if o := old.Nodes[id]; o == nil || o.Raft != n.Raft {
			c.w.stats.Joins++
		}
	}
	for r := range ranges {
		a, b := old.Owner(r*rangeSize), s.Owner(r*rangeSize)
		if a != nil && b != nil && a.ID != b.ID {
			c.w.stats.Moves++
		}
	}
	for _, m := range s.Migrations {
		if o := old.Migration(m.ID); m.Phase == topology.Done && (o == nil || o.Phase != m.Phase) {
			c.w.stats.Migrations++
			c.done[m.ID] = true
		}
	}
}

// step looks at who may confirm writes now.
func (c *checker) step() {
	var now [ranges][]*host
	for _, h := range c.w.hosts {
		if h.node == nil || h.server.shard() == nil || h.clock() >= h.lease {
			continue
		}
		for r := range ranges {
			if !h.server.able(r) {
				continue
			}
			for _, o := range now[r] {
				if o.server.state.Cluster == h.server.state.Cluster {
					c.w.fail("%v and %v may both confirm writes to slot %d", o, h, r*rangeSize)
				}
			}
			now[r] = append(now[r], h)
			k := rangeKey{h.server.state.Cluster, r}
			if v := (reign{h, h.life, h.server.term}); c.last[k] != v {
				c.becomes(h, k)
				c.last[k] = v
			}
		}
	}
}

// becomes looks at the data of a node that serves a range from now on.
func (c *checker) becomes(h *host, k rangeKey) {
	if c.w.opt.Confirm == 0 || len(c.confirmed[k]) == 0 {
		return
	}
	has := map[uint32]bool{}
	for _, e := range h.server.data.of(k.r) {
		has[e.write] = true
	}
	for _, write := range c.confirmed[k] {
		if !has[write] {
			c.w.fail("%v serves slot %d and lacks write %d, which was confirmed", h,
				k.r*rangeSize, write)
			return
		}
	}
}

// confirm notes a confirmed write.
func (c *checker) confirm(h *host, sh *topology.Shard, e entry) {
	k := rangeKey{h.server.state.Cluster, e.slots}
	c.by[e.slots] = h
	for _, o := range c.w.hosts {
		if o != h && o.server.able(e.slots) && o.server.state.Cluster == k.cluster {
			c.w.fail("%v confirms a write to slot %d, %v may too", h, e.slots*rangeSize, o)
		}
	}
	for _, has := range h.server.data.of(e.slots) {
		if c.half(has) {
			c.w.fail("%v serves slot %d with half a copy in it, of migration %.4s", h,
				e.slots*rangeSize, has.via)
			return
		}
	}
	if c.w.opt.Confirm > 0 {
		c.confirmed[k] = append(c.confirmed[k], e.write)
	}
}

// half reports whether a migration that has not moved its slots has brought an entry.
func (c *checker) half(e entry) bool {
	return e.via != "" && !c.done[e.via] && !c.excused[e.via]
}

// inherits looks at the data of a node that begins to lead. Half imports that the log does not know
// any more have come back.
func (c *checker) inherits(h *host, sh *topology.Shard) {
	for _, e := range h.server.data.log {
		if c.half(e) && !sh.Half.Has(e.slots*rangeSize) {
			c.excused[e.via] = true
		}
	}
}

// heir looks at the data of a node that is about to be the master of a shard in a new term.
func (c *checker) heir(h *host, sh *topology.Shard) {
	before := c.heirs[sh.ID]
	if sh.Term <= before.term || sh.Boot != h.boot {
		return
	}
	c.heirs[sh.ID] = reign{h, h.life, sh.Term}
	if before.h == nil || before.h == h || h.server.data.shard == sh.ID {
		return
	}
	for _, o := range c.w.hosts {
		has := o.server.data
		if o.node == nil {
			has = o.server.saved
		}
		if o != h && (o.node == nil || o.server.whole) && has.shard == sh.ID &&
			len(has.log) > 0 && slices.Contains(h.server.state.Members(sh.ID), o.id) {
			c.w.fail("%v is the master of shard %.4s with other data, %v has that", h, sh.ID, o)
		}
	}
}

// crashed is called when a process has ended.
func (c *checker) crashed(*host) { c.excuse() }

// excuse forgets what was confirmed in shards of which no complete node is alive.
func (c *checker) excuse() {
	if c.w.opt.Confirm == 0 {
		return
	}
	for _, cluster := range sortedKeys(c.newest) {
		s := c.newest[cluster]
		for _, id := range s.ShardIDs() {
			sh := s.Shards[id]
			if sh.Slots.Empty() || c.survives(s, sh) {
				continue
			}
			for r := range ranges {
				k := rangeKey{cluster, r}
				if sh.Slots.Has(r*rangeSize) && len(c.confirmed[k]) > 0 {
					c.w.note("no complete node of shard %.4s is alive", id)
					c.confirmed[k] = nil
				}
			}
		}
	}
}

// survives reports whether a node lives that has all confirmed writes of the shard.
func (c *checker) survives(s *topology.State, sh *topology.Shard) bool {
	return slices.ContainsFunc(c.w.hosts, func(h *host) bool {
		n := s.Nodes[h.id]
		if n == nil || n.Shard != sh.ID || h.node == nil || h.boot != n.Boot {
			return false
		}
		return h.id == sh.Last && n.Boot == sh.Boot || slices.Contains(sh.InSync, h.id)
	})
}
