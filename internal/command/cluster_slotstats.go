package command

import (
	"fmt"
	"slices"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// slotMetric is one of the statistics of a slot.
type slotMetric struct {
	name string
	of   config.SlotStats // what has to be kept for it, 0 if it is always there
	read func(e *engine.Engine, i int) int64
}

// slotMetrics lists the statistics in the order in which they are shown.
var slotMetrics = []slotMetric{
	{"key-count", 0, keysOfSlot},
	{"memory-bytes", config.SlotStatsMem, sizeOfSlot},
	{"cpu-usec", config.SlotStatsCPU,
		func(e *engine.Engine, i int) int64 { return e.SlotStats(i).Nanos / 1000 }},
	{"network-bytes-in", config.SlotStatsNet,
		func(e *engine.Engine, i int) int64 { return e.SlotStats(i).In }},
	{"network-bytes-out", config.SlotStatsNet,
		func(e *engine.Engine, i int) int64 { return e.SlotStats(i).Out }},
}

func keysOfSlot(e *engine.Engine, i int) int64 { return int64(keysIn(e, i)) }

func sizeOfSlot(e *engine.Engine, i int) (n int64) {
	for d := range e.KS.Databases() {
		n += e.KS.DB(d).SlotSize(i)
	}
	return n
}

// keptMetrics returns the statistics that are kept.
func keptMetrics(e *engine.Engine) (list []slotMetric) {
	for _, m := range slotMetrics {
		if m.of&^e.Cfg.Cluster.SlotStats == 0 {
			list = append(list, m)
		}
	}
	return list
}

// slotStats carries out CLUSTER SLOT-STATS.
func slotStats(c *engine.Ctx) {
	switch {
	case is(c.Args[2], "slotsrange") && len(c.Args) == 5:
		slotStatsRange(c)
	case is(c.Args[2], "orderby"):
		slotStatsOrdered(c)
	default:
		c.Err(errSubcommand(c))
	}
}

// slotStatsRange carries out SLOTSRANGE first last.
func slotStatsRange(c *engine.Ctx) {
	first, ok := slotArg(c, c.Args[3])
	if !ok {
		return
	}
	last, ok := slotArg(c, c.Args[4])
	if !ok {
		return
	}
	if first > last {
		c.Err(fmt.Sprintf("ERR Start slot number %d is greater than end slot number %d", first,
			last))
		return
	}
	var list []int
	for i := first; i <= last; i++ {
		if servesSlot(c.E, i) {
			list = append(list, i)
		}
	}
	writeSlotStats(c, list)
}

// servesSlot reports whether the slot belongs to the node's shard.
func servesSlot(e *engine.Engine, i int) bool {
	owner := e.SlotOwner(i)
	return owner != nil && owner == e.SelfShard()
}

// writeSlotStats replies with the statistics of slots.
func writeSlotStats(c *engine.Ctx, list []int) {
	kept := keptMetrics(c.E)
	c.Array(len(list))
	for _, i := range list {
		c.Array(2)
		c.Int(int64(i))
		c.Map(len(kept))
		for _, m := range kept {
			c.BulkString(m.name)
			c.Int(m.read(c.E, i))
		}
	}
}

// errSlotLimit is the reply to a LIMIT that is no number of slots.
const errSlotLimit = "ERR Limit has to lie in between 1 and 16384 (maximum number of slots)."

// slotOrder is the options of ORDERBY.
type slotOrder struct {
	metric slotMetric
	limit  int
	asc    bool
}

// slotStatsOrdered carries out ORDERBY metric [LIMIT n] [ASC|DESC].
func slotStatsOrdered(c *engine.Ctx) {
	o, ok := parseSlotOrder(c)
	if !ok {
		return
	}
	type slotValue struct {
		slot  int
		value int64
	}
	var list []slotValue
	for i := range slot.Count {
		if servesSlot(c.E, i) {
			list = append(list, slotValue{i, o.metric.read(c.E, i)})
		}
	}
	slices.SortStableFunc(list, func(a, b slotValue) int {
		if !o.asc {
			a, b = b, a
		}
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	slots := make([]int, min(len(list), o.limit))
	for i := range slots {
		slots[i] = list[i].slot
	}
	writeSlotStats(c, slots)
}

func parseSlotOrder(c *engine.Ctx) (o slotOrder, ok bool) {
	kept := keptMetrics(c.E)
	k := slices.IndexFunc(kept, func(m slotMetric) bool { return is(c.Args[3], m.name) })
	if k < 0 {
		c.Err("ERR Unrecognized sort metric for ORDERBY.")
		return o, false
	}
	o = slotOrder{metric: kept[k], limit: slot.Count}
	limits, orders := 0, 0
	for args := c.Args[4:]; len(args) > 0; args = args[1:] {
		switch {
		case is(args[0], "limit") && len(args) > 1:
			n, ok := object.ParseInt(args[1])
			if !ok || n < 1 || n > slot.Count {
				c.Err(errSlotLimit)
				return o, false
			}
			o.limit = int(n)
			limits++
			args = args[1:]
		case is(args[0], "asc"), is(args[0], "desc"):
			o.asc = is(args[0], "asc")
			orders++
		default:
			c.Err(engine.ErrSyntax)
			return o, false
		}
		if limits > 1 || orders > 1 {
			c.Err("ERR Multiple filters of the same type are disallowed.")
			return o, false
		}
	}
	return o, true
}
