package movein

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/slot"
	"godwit/internal/slot/nodes"
)

// shard is a master of the source.
type shard struct {
	master string // its address
	slots  slot.Set
}

// pair is a shard of the source, and the master of the target that gets it.
type pair struct {
	slots    slot.Set
	from     *node   // master of the shard
	to       *node   // master of the target
	replicas []*node // of to
	follows  bool
	stopped  bool // this run has ended that
	taken    bool // to may own the slots
}

// spare is a master of the target that had slots before.
type spare struct {
	node *node
	had  slot.Set
}

// check looks whether the source can be moved into the target, and decides what goes where. It
// changes nothing.
func (m *mover) check() error {
	shards, err := m.sourceShards()
	if err != nil {
		return err
	}
	if err := m.twoClusters(); err != nil {
		return err
	}
	keys, err := m.sourceKeys(shards)
	if err != nil {
		return err
	}
	about, err := m.from.node(shards[0].master).info("server")
	if err != nil {
		return err
	}
	kind := "Redis " + about["redis_version"]
	if v := about["valkey_version"]; v != "" {
		kind = "Valkey " + v
	}
	m.say("source: %s, %d shards, %d keys", kind, len(shards), keys)
	all, err := m.from.all()
	if err != nil {
		return err
	}
	m.findFences(all)
	if err := m.findFollowed(); err != nil {
		return err
	}
	if len(m.pairs) == 0 {
		err = m.pairUp(shards)
	} else {
		err = m.takeUp(shards)
	}
	if err != nil {
		return err
	}
	m.sayFences()
	return errors.Join(m.fenced(), m.noMigrations())
}

// twoClusters wants the source and the target to have no node in common.
func (m *mover) twoClusters() error {
	from, err := m.from.view()
	if err != nil {
		return err
	}
	to, err := m.to.view()
	if err != nil {
		return err
	}
	for _, l := range to {
		if from.Find(l.ID) != nil {
			return fmt.Errorf("the source and the target are one cluster: both have node %s", l.ID)
		}
	}
	return nil
}

// sourceShards returns the shards of the source in the order of their slots. It is an error if they
// have not all slots, do not agree on them, or move some.
func (m *mover) sourceShards() (list []shard, err error) {
	v, err := m.from.view()
	if err != nil {
		return nil, err
	}
	var all slot.Set
	for _, l := range v.Masters() {
		if down(&l) || l.Has("fail?") {
			return nil, fmt.Errorf("source: the master at %s has failed", l.Addr)
		}
		list = append(list, shard{m.from.node(l.Addr).addr, l.Slots})
		all.Union(&l.Slots)
	}
	if n := all.Len(); n != slot.Count {
		missing := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
		missing.Subtract(&all)
		return nil, fmt.Errorf("source: %d slots have no owner: %s", slot.Count-n, missing)
	}
	for _, s := range list {
		if err := m.sourceMaster(s, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// sourceMaster asks a master of the source whether it agrees with what another node has said.
func (m *mover) sourceMaster(s shard, list []shard) error {
	n := m.from.node(s.master)
	info, err := n.clusterInfo()
	if err != nil {
		return err
	}
	if info["cluster_state"] != "ok" {
		return fmt.Errorf("source: the cluster is down, says %s", n.addr)
	}
	v, err := n.view()
	if err != nil {
		return err
	}
	masters := v.Masters()
	if !slices.EqualFunc(masters, list, func(l nodes.Line, o shard) bool {
		return l.Slots == o.slots && m.from.node(l.Addr).addr == o.master
	}) {
		return fmt.Errorf("source: its nodes do not agree who has which slots; %s differs", n.addr)
	}
	for _, l := range v {
		for i := range l.Moving {
			return fmt.Errorf("source: slot %d is being moved, says %s", i, n.addr)
		}
	}
	return nil
}

// clusterInfo returns the fields of CLUSTER INFO.
func (n *node) clusterInfo() (map[string]string, error) {
	v, err := n.do("CLUSTER", "INFO")
	fields := map[string]string{}
	for line := range strings.Lines(v.Text()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, err
}

// noMigrations returns an error if the source moves slots as a whole.
func (m *mover) noMigrations() error {
	for _, p := range m.pairs {
		if err := p.from.noMigrations(); err != nil {
			return err
		}
	}
	return nil
}

// noMigrations asks a server that may be able to do that.
func (n *node) noMigrations() error {
	for _, command := range [][]any{{"CLUSTER", "GETSLOTMIGRATIONS"},
		{"CLUSTER", "MIGRATION", "STATUS", "ALL"}} {
		v, err := n.do(command...)
		if errors.As(err, new(refusal)) {
			continue // it does not know it
		}
		if err != nil {
			return err
		}
		for _, job := range v.Elems {
			words := job.Strings()
			i := slices.Index(words, "state")
			if i < 0 || i+1 >= len(words) {
				continue
			}
			switch words[i+1] {
			case "success", "failed", "canceled", "cancelled", "completed":
			default:
				return fmt.Errorf("source: slots are being moved, says %s", n.addr)
			}
		}
	}
	return nil
}

// sourceKeys returns the number of keys of the source, and notes in which databases they are.
func (m *mover) sourceKeys(shards []shard) (total int64, err error) {
	m.dbs = nil
	for _, s := range shards {
		space, err := m.from.node(s.master).info("keyspace")
		if err != nil {
			return 0, err
		}
		for name, text := range space {
			db, err := strconv.Atoi(strings.TrimPrefix(name, "db"))
			count, _, _ := strings.Cut(strings.TrimPrefix(text, "keys="), ",")
			n, err2 := strconv.ParseInt(count, 10, 64)
			if err != nil || err2 != nil {
				continue
			}
			total += n
			if !slices.Contains(m.dbs, db) {
				m.dbs = append(m.dbs, db)
			}
		}
	}
	slices.Sort(m.dbs)
	return total, nil
}

// targetMasters returns the lines of the target's masters with their replicas that work: those with
// the most replicas first, then in the order of their slots.
func (m *mover) targetMasters() (masters []nodes.Line, replicas map[string][]*node, err error) {
	v, err := m.to.view()
	if err != nil {
		return nil, nil, err
	}
	replicas = map[string][]*node{}
	for _, l := range v {
		switch {
		case l.Has("slave") && !down(&l):
			replicas[l.Master] = append(replicas[l.Master], m.to.node(l.Addr))
		case l.Has("master"):
			masters = append(masters, l)
		}
	}
	slices.SortStableFunc(masters, func(a, b nodes.Line) int {
		return cmp.Or(len(replicas[b.ID])-len(replicas[a.ID]), lowest(&a.Slots)-lowest(&b.Slots),
			strings.Compare(a.Addr, b.Addr))
	})
	return masters, replicas, nil
}

// lowest returns the first slot of a set, one behind the last if it is empty.
func lowest(s *slot.Set) int {
	low := slot.Count
	s.Each(func(i int) bool { low = i; return false })
	return low
}

// pairUp gives each shard a master of the target that is empty.
func (m *mover) pairUp(shards []shard) error {
	masters, replicas, err := m.targetMasters()
	if err != nil {
		return err
	}
	if len(masters) < len(shards) {
		return fmt.Errorf("target: it has %d masters, but each of the %d shards needs one. Add "+
			"empty masters; the slots can be rebalanced when all has moved", len(masters),
			len(shards))
	}
	for i, l := range masters {
		n := m.to.node(l.Addr)
		if err := n.isEmpty(); err != nil {
			return err
		}
		if !l.Slots.Empty() {
			m.spares = append(m.spares, &spare{n, l.Slots})
		}
		if i < len(shards) {
			m.pairs = append(m.pairs, &pair{slots: shards[i].slots, to: n,
				from: m.from.node(shards[i].master), replicas: replicas[l.ID]})
		}
	}
	m.say("target: %d masters, empty", len(masters))
	return nil
}

// isEmpty returns an error if the node cannot follow, or has keys or functions.
func (n *node) isEmpty() error {
	about, err := n.info("server")
	if err != nil {
		return err
	}
	if about["godwit_version"] == "" {
		return fmt.Errorf("target: the server at %s is not Godwit", n.addr)
	}
	space, err := n.info("keyspace")
	if err != nil {
		return err
	}
	for name := range space {
		if strings.HasPrefix(name, "db") {
			return fmt.Errorf("target: the master at %s has keys", n.addr)
		}
	}
	v, err := n.do("FUNCTION", "LIST")
	if err == nil && len(v.Elems) > 0 {
		return fmt.Errorf("target: the master at %s has libraries of functions", n.addr)
	}
	return err
}

// findFollowed finds the masters of the target that follow another cluster already.
func (m *mover) findFollowed() error {
	masters, replicas, err := m.targetMasters()
	if err != nil {
		return err
	}
	for _, l := range masters {
		n := m.to.node(l.Addr)
		info, err := n.info("replication")
		if err != nil {
			return err
		}
		text, follows := info["follow_slots"]
		if !follows {
			continue
		}
		p := &pair{to: n, follows: true, replicas: replicas[l.ID]}
		if p.slots, err = slot.Parse(text); err != nil {
			return fmt.Errorf("target at %s: follow_slots %s: %w", n.addr, text, err)
		}
		p.from = m.from.node(info["master_host"] + ":" + info["master_port"])
		m.pairs = append(m.pairs, p)
	}
	return nil
}

// takeUp holds what an earlier run has left against the source.
func (m *mover) takeUp(shards []shard) error {
	for _, s := range shards {
		if !slices.ContainsFunc(m.pairs, func(p *pair) bool { return p.slots == s.slots }) {
			return fmt.Errorf("target: some masters follow another cluster, but none follows the "+
				"shard with slots %s. End that with --cancel", s.slots)
		}
	}
	if len(m.pairs) != len(shards) {
		return errors.New("target: masters follow shards that the source does not have. End that " +
			"with --cancel")
	}
	m.say("target: %d masters follow the source already", len(m.pairs))
	return nil
}
