package command

import (
	"slices"
	"strconv"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/slot"
)

// clusterMigrationCmd carries out CLUSTER MIGRATION IMPORT, STATUS and CANCEL.
func clusterMigrationCmd(c *engine.Ctx) {
	switch what := c.Args[2]; {
	case is(what, "import"):
		importSlots(c)
	case is(what, "status"):
		if id, ok := taskArg(c); ok {
			replyTasks(c, id)
		}
	case is(what, "cancel"):
		if id, ok := taskArg(c); ok {
			cancelTasks(c, id)
		}
	default:
		c.Err(errUnknownArgument)
	}
}

const errUnknownArgument = "ERR unknown argument"

// taskArg reads ID id, or ALL, for which it returns nil. It reports false when it has replied with
// an error.
func taskArg(c *engine.Ctx) (id []byte, ok bool) {
	argc := len(c.Args)
	switch what := c.Args[3]; {
	case argc > 5:
	case is(what, "id"):
		if argc == 5 {
			return c.Args[4], true
		}
	case is(what, "all"):
		if argc == 4 {
			return nil, true
		}
	default:
		c.Err(errUnknownArgument)
		return nil, false
	}
	c.WrongArity()
	return nil, false
}

// importSlots begins a migration of slots of one other shard to this node's.
func importSlots(c *engine.Ctx) {
	if len(c.Args)%2 == 0 {
		c.WrongArity()
		return
	}
	list, fault := slotRanges(c.Args[3:], true)
	var set slot.Set
	for _, r := range list {
		for i := r.First; i <= r.Last && fault == ""; i++ {
			if set.Has(i) {
				fault = "ERR Slot " + strconv.Itoa(i) + " specified multiple times"
			}
			set.Add(i)
		}
	}
	var from *topology.Shard
	if fault == "" {
		from, fault = importSource(c.E, &set)
	}
	if fault != "" {
		c.Err(fault)
		return
	}
	b := topology.Begin{ID: c.E.NewClusterID(), Slots: set, From: from.ID,
		To: c.E.SelfShard().ID, Created: c.E.Now()}
	propose(c, b, func(c *engine.Ctx, refusal string) {
		if refusal != "" {
			c.Err(refusal)
			return
		}
		c.BulkString(b.ID)
	})
}

// importSource returns the shard that the slots come from. Redis finds faults in this order.
func importSource(e *engine.Engine, set *slot.Set) (from *topology.Shard, fault string) {
	mine := e.SelfShard()
	if !leads(e) {
		return nil, "ERR slot migration not allowed on replica."
	}
	if imports, exports := manualMoves(e); imports || exports {
		return nil, "ERR all slot states must be STABLE to start a slot migration task."
	}
	for _, r := range set.Ranges() {
		for i := r.First; i <= r.Last; i++ {
			if m := liveMigration(e, i); m != nil && m.To == mine.ID {
				return nil, "ERR overlapping import exists for slot range: " +
					topology.Ranges([]slot.Range{r})
			}
		}
		for i := r.First; i <= r.Last; i++ {
			switch o := e.SlotOwner(i); {
			case o == nil:
				return nil, "ERR slot has no owner: " + strconv.Itoa(i)
			case from != nil && o != from:
				return nil, "ERR slots belong to different source nodes"
			default:
				from = o
			}
		}
	}
	if from == mine {
		return nil, "ERR this node is already the owner of the slot range"
	}
	return from, ""
}

// tasks returns the migrations of this node with the id, or all if it is nil: those under way, the
// oldest first, and then the others, the newest first.
func tasks(e *engine.Engine, id []byte) (list []*topology.Migration) {
	var over []*topology.Migration
	for _, m := range e.Topology().Migrations {
		switch {
		case roleIn(e, m) == noRole || id != nil && m.ID != string(id):
		case m.Over():
			over = append(over, m)
		default:
			list = append(list, m)
		}
	}
	slices.Reverse(over)
	return append(list, over...)
}

// replyTasks carries out CLUSTER MIGRATION STATUS.
func replyTasks(c *engine.Ctx, id []byte) {
	list := tasks(c.E, id)
	c.Array(len(list))
	for _, m := range list {
		operation, fault := "import", m.Message
		if roleIn(c.E, m) == exporter {
			operation = "migrate"
		}
		if m.Phase == topology.Cancelled && fault == "" {
			fault = "Cancelled due to user request"
		}
		p, _ := c.E.MigrationProgress(m.ID)
		started, ended, pause := max(m.Created, p.Started), int64(-1), int64(0)
		if m.Ended > 0 {
			ended = m.Ended
		}
		if m.Phase == topology.Done && m.Paused > 0 {
			pause = max(0, m.Ended-m.Paused)
		}
		c.Map(12)
		replyTexts(c, "id", m.ID, "slots", m.Ranges(), "source", string(m.Source),
			"dest", string(m.Target), "operation", operation,
			"state", redisState(m, p), "last_error", fault)
		replyNumbers(c, "retries", 0, "create_time", m.Created, "start_time", started,
			"end_time", ended, "write_pause_ms", pause)
	}
}

// redisState returns Redis's word for how far a migration is.
func redisState(m *topology.Migration, p engine.MigrationProgress) string {
	switch m.Phase {
	case topology.Done:
		return "completed"
	case topology.Failed:
		return "failed"
	case topology.Cancelled:
		return "canceled"
	}
	if words, ok := migrationWords[p.Step]; ok {
		return words[1]
	}
	return "none"
}

// cancelTasks carries out CLUSTER MIGRATION CANCEL.
func cancelTasks(c *engine.Ctx, id []byte) {
	live := slices.DeleteFunc(tasks(c.E, id), (*topology.Migration).Over)
	cancelMigrations(c, live, func(c *engine.Ctx, n int) { c.Int(int64(n)) })
}
