package command

import (
	"bytes"
	"strconv"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/slot"
)

var _ = family(clusterMigrationHandlers)

// clusterMigrationHandlers move slots from shard to shard as a whole. There are two ways to ask for
// it, Valkey's at the source and Redis's at the destination, for one mechanism: see
// topology.Migration. They reply when it is in the log; it goes on by itself.
func clusterMigrationHandlers() engine.Handlers {
	return engine.Handlers{
		"cluster|migrateslots":         inTopology(migrateSlotsCmd),
		"cluster|getslotmigrations":    asMember(getSlotMigrationsCmd),
		"cluster|cancelslotmigrations": inTopology(cancelSlotMigrationsCmd),
		"cluster|migration":            inTopology(clusterMigrationCmd),
	}
}

// migrateSlotsCmd carries out CLUSTER MIGRATESLOTS SLOTSRANGE first last … NODE id, once or several
// times: all migrations begin, or none.
func migrateSlotsCmd(c *engine.Ctx) {
	r := migrateSlots{c: c, args: c.Args[2:], at: c.E.Now()}
	if !leads(c.E) {
		c.Err("ERR Slot migration can only be used on primary nodes.")
		return
	}
	if imports, exports := manualMoves(c.E); imports || exports {
		c.Err(map[bool]string{true: "ERR Slots are being manually imported",
			false: "ERR Slots are being manually migrated"}[imports])
		return
	}
	for len(r.args) > 0 {
		if !r.one() {
			return
		}
	}
	propose(c, topology.BeginAll{List: r.list}, nil)
}

// leads reports whether this node is the master of its shard.
func leads(e *engine.Engine) bool { return e.SelfShard().Master == e.Self().ID }

// manualMoves reports whether the node's shard imports slots key by key, and whether others take
// slots from it so (CLUSTER SETSLOT).
func manualMoves(e *engine.Engine) (imports, exports bool) {
	mine := e.SelfShard()
	for i, m := range e.Topology().Marks {
		imports = imports || m.To == mine.ID
		exports = exports || m.Migrating != "" && mine.Slots.Has(i)
	}
	return imports, exports
}

// migrateSlots is one run of CLUSTER MIGRATESLOTS.
type migrateSlots struct {
	c    *engine.Ctx
	args [][]byte
	at   int64            // unix ms
	list []topology.Begin // the last first: replies list the newest first
}

// one reads the ranges for one target, and the target. It reports false when it has replied with an
// error. Valkey finds faults in this order.
func (r *migrateSlots) one() bool {
	// valkey-cli sends the C string with its end.
	if word, _, _ := bytes.Cut(r.args[0], []byte{0}); !is(word, "slotsrange") {
		r.c.Err(engine.ErrSyntax)
		return false
	}
	r.args = r.args[1:]
	ranges, fault := r.ranges()
	set := slot.SetOf(ranges...)
	if fault == "" {
		fault = r.taken(&set)
	}
	var to *topology.Shard
	if fault == "" {
		to, fault = r.target()
	}
	if fault != "" {
		r.c.Err(fault)
		return false
	}
	b := topology.Begin{ID: r.c.E.NewClusterID(), Slots: set, From: r.c.E.SelfShard().ID, To: to.ID,
		Created: r.at}
	if asked := topology.Ranges(ranges); asked != topology.Ranges(set.Ranges()) {
		b.Asked = asked
	}
	r.list = append([]topology.Begin{b}, r.list...)
	return true
}

// ranges reads pairs of slots up to what is no number.
func (r *migrateSlots) ranges() (list []slot.Range, fault string) {
	var owner *topology.Shard
	for ; len(r.args) > 0; r.args = r.args[2:] {
		if _, ok := object.ParseInt(r.args[0]); !ok {
			break
		}
		first, ok := parseSlot(r.args[0])
		if !ok {
			return nil, errSlot
		}
		if len(r.args) == 1 {
			return nil, "ERR No end slot for final slot range"
		}
		last, ok := parseSlot(r.args[1])
		switch {
		case !ok:
			return nil, errSlot
		case first > last:
			return nil, "ERR Start slot number " + strconv.Itoa(first) +
				" is greater than end slot number " + strconv.Itoa(last) + "."
		}
		for i := first; i <= last; i++ {
			o := r.c.E.SlotOwner(i)
			switch {
			case o == nil:
				return nil, "ERR Slot " + strconv.Itoa(i) + " has no node served."
			case owner != nil && o != owner:
				return nil, "ERR Requested slots span multiple shards"
			}
			owner = o
		}
		for _, o := range list {
			if first <= o.Last && o.First <= last {
				return nil, "ERR Slot range " + topology.Ranges([]slot.Range{{First: first,
					Last: last}}) + " overlaps with previous range " +
					topology.Ranges([]slot.Range{o}) + "."
			}
		}
		list = append(list, slot.Range{First: first, Last: last})
	}
	switch {
	case len(list) == 0:
		return nil, "ERR No slot ranges specified"
	case owner != r.c.E.SelfShard():
		return nil, "ERR Slots are not served by this node."
	}
	return list, ""
}

// taken returns the fault of slots that another migration moves already, also one of this command.
func (r *migrateSlots) taken(set *slot.Set) (fault string) {
	set.Each(func(i int) bool {
		if e := r.c.E; liveMigration(e, i) != nil {
			fault = "ERR I am already migrating slot " + strconv.Itoa(i) + "."
		}
		return fault == ""
	})
	for i := range r.list {
		if common := r.list[i].Slots.Common(set); fault == "" && !common.Empty() {
			fault = "ERR Slot ranges in migrations overlap"
		}
	}
	return fault
}

// liveMigration returns the migration under way that moves the slot, nil if there is none.
func liveMigration(e *engine.Engine, i int) *topology.Migration {
	for _, m := range e.Topology().Migrations {
		if !m.Over() && m.Slots.Has(i) {
			return m
		}
	}
	return nil
}

// target reads NODE id.
func (r *migrateSlots) target() (to *topology.Shard, fault string) {
	if len(r.args) < 2 || !is(r.args[0], "node") {
		return nil, engine.ErrSyntax
	}
	name := string(r.args[1])
	r.args = r.args[2:]
	s, self := r.c.E.Topology(), r.c.E.Self()
	n := s.Nodes[topology.NodeID(name)]
	switch {
	case len(name) != len(self.ID):
		return nil, "ERR Invalid node name: " + name
	case n == nil:
		return nil, "ERR Unknown node name: " + name
	case n == self:
		return nil, "ERR Target node can not be this node."
	}
	if to = s.ShardOf(n.ID); to.Master != n.ID {
		return nil, "ERR Target node is not a primary: " + name
	}
	return to, ""
}

// migrationRole says what the node's shard does in a migration.
type migrationRole uint8

const (
	noRole migrationRole = iota
	exporter
	importer
)

// roleIn returns the role of this node in a migration. A replica of the source has none, as in
// Valkey.
func roleIn(e *engine.Engine, m *topology.Migration) migrationRole {
	switch mine := e.SelfShard().ID; {
	case m.To == mine:
		return importer
	case m.From == mine && leads(e):
		return exporter
	}
	return noRole
}

// getSlotMigrationsCmd carries out CLUSTER GETSLOTMIGRATIONS: the newest first, all that are under
// way and as many of the others as cluster-slot-migration-log-max-len says.
func getSlotMigrationsCmd(c *engine.Ctx) {
	all := c.E.Topology().Migrations
	var list []*topology.Migration
	over := int64(0)
	for i := len(all) - 1; i >= 0; i-- {
		m := all[i]
		if roleIn(c.E, m) == noRole {
			continue
		}
		if m.Over() {
			if over++; over > c.E.Cfg.Cluster.MigrationLogLen {
				continue
			}
		}
		list = append(list, m)
	}
	c.Array(len(list))
	for _, m := range list {
		replySlotMigration(c, m)
	}
}

func replySlotMigration(c *engine.Ctx, m *topology.Migration) {
	operation, ranges := "IMPORT", m.Asked
	if roleIn(c.E, m) == exporter {
		operation = "EXPORT"
	}
	if ranges == "" {
		ranges = m.Ranges()
	}
	p, _ := c.E.MigrationProgress(m.ID)
	updated := max(m.Created, m.Paused, m.Ended)
	c.Map(12)
	replyTexts(c, "name", m.ID, "operation", operation, "slot_ranges", ranges,
		"target_node", string(m.Target), "source_node", string(m.Source))
	replyNumbers(c, "create_time", m.Created/1000, "last_update_time", updated/1000,
		"last_ack_time", max(m.Created, p.LastAck)/1000)
	replyTexts(c, "state", valkeyState(m, operation == "EXPORT", p), "message", m.Message)
	replyNumbers(c, "cow_size", 0, "remaining_repl_size", p.Remaining)
}

// replyTexts replies with names and texts, alternating.
func replyTexts(c *engine.Ctx, list ...string) {
	for _, s := range list {
		c.BulkString(s)
	}
}

// replyNumbers replies with names and numbers, alternating.
func replyNumbers(c *engine.Ctx, list ...any) {
	for i := 0; i < len(list); i += 2 {
		c.BulkString(list[i].(string))
		switch n := list[i+1].(type) {
		case int:
			c.Int(int64(n))
		case int64:
			c.Int(n)
		}
	}
}

// migrationWords are Valkey's words and Redis's for what a node does for a migration. Redis has no
// word for a destination that makes room: its tasks begin with "none".
var migrationWords = map[string][2]string{
	"waiting":    {"waiting-to-snapshot", "wait-bgsave-start"}, // the source
	"snapshot":   {"snapshotting", "send-bulk-and-stream"},
	"streaming":  {"streaming", "send-stream"},
	"closing":    {"waiting-to-pause", "handoff-prep"},
	"draining":   {"failover-paused", "handoff"},
	"granting":   {"failover-granted", "stream-eof"},
	"clearing":   {"waiting-for-ack", "none"}, // the destination
	"preparing":  {"waiting-for-ack", "connecting"},
	"connecting": {"waiting-for-ack", "connecting"},
	"applying":   {"receiving-snapshot", "accumulate-buffer"},
	"complete":   {"failover-requested", "wait-stream-eof"},
}

// valkeyState returns Valkey's word for how far a migration is.
func valkeyState(m *topology.Migration, export bool, p engine.MigrationProgress) string {
	switch m.Phase {
	case topology.Done:
		return "success"
	case topology.Failed, topology.Cancelled:
		return string(m.Phase)
	}
	if words, ok := migrationWords[p.Step]; ok {
		return words[0]
	}
	if export {
		return "connecting"
	}
	return "waiting-for-ack"
}

// cancelSlotMigrationsCmd carries out CLUSTER CANCELSLOTMIGRATIONS: it ends all of which this node
// is the source.
func cancelSlotMigrationsCmd(c *engine.Ctx) {
	var list []*topology.Migration
	for _, m := range c.E.Topology().Migrations {
		if !m.Over() && roleIn(c.E, m) == exporter {
			list = append(list, m)
		}
	}
	cancelMigrations(c, list, func(c *engine.Ctx, n int) {
		if n == 0 {
			c.Err("ERR No migrations ongoing")
			return
		}
		c.OK()
	})
}

// cancelMigrations cancels migrations. reply gets the number of those that were: others have ended
// meanwhile.
func cancelMigrations(c *engine.Ctx, list []*topology.Migration,
	reply func(c *engine.Ctx, n int)) {
	if len(list) == 0 {
		reply(c, 0)
		return
	}
	e, at, n := c.E, c.E.Now(), 0
	c.Await(0, func(done func(string)) {
		left, fault := len(list), ""
		for _, m := range list {
			do := topology.Advance{ID: m.ID, Phase: topology.Cancelled, At: at}
			e.Propose(do, func(refusal string) {
				switch {
				case refusal == "":
					n++
				case !topology.MigrationOver(refusal):
					fault = refusal
				}
				if left--; left == 0 {
					done(fault)
				}
			})
		}
	}, func(c *engine.Ctx, refusal string) {
		if refusal != "" {
			c.Err(refusal)
			return
		}
		reply(c, n)
	})
}
