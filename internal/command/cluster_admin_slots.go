package command

import (
	"strconv"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// parseSlot reads the number of a slot.
func parseSlot(arg []byte) (int, bool) {
	n, ok := object.ParseInt(arg)
	return int(n), ok && n >= 0 && n < slot.Count
}

// changeSlots carries out ADDSLOTS and DELSLOTS, and with ranges the commands that take those.
func changeSlots(c *engine.Ctx, del, ranges bool) {
	list, fault := slotRanges(c.Args[2:], ranges)
	if ranges && len(c.Args)%2 != 0 {
		c.WrongArity()
		return
	}
	var set slot.Set
	twice := false
	for _, r := range list {
		one := slot.SetOf(r)
		common := set.Common(&one)
		twice = twice || !common.Empty()
		set.Union(&one)
	}
	if fault != "" || twice {
		if f := slotFault(c.E.Topology(), list, del); f != "" {
			fault = f
		}
		c.Err(fault)
		return
	}
	if c.E.Follows() && !del {
		c.Err("ERR This node follows a master of another cluster. End that first with CLUSTER" +
			" FOLLOW NO ONE")
		return
	}
	me := c.E.Self().ID
	var do topology.Action = topology.AddSlots{Node: me, Slots: set}
	switch {
	case del:
		do = topology.DelSlots{Node: me, Slots: set}
	case claims(c.E, &set):
		do = topology.Move{Slots: set, To: me, Keep: true}
	}
	propose(c, do, func(c *engine.Ctx, refusal string) {
		if slotRefused(refusal) {
			if f := slotFault(c.E.Topology(), list, del); f != "" {
				refusal = f
			}
		}
		okOrRefusal(c, refusal)
	})
}

// claims reports whether this node may take all slots of a set from their owners, because it has
// begun to import them key by key, or has keys of them from such an import that was given up. When
// redis-cli repairs a move, it sends SETSLOT STABLE, DELSLOTS and ADDSLOTS to the node that has
// most of a slot's keys.
func claims(e *engine.Engine, set *slot.Set) bool {
	all, sh := true, e.SelfShard()
	set.Each(func(i int) bool {
		m, owner := e.Topology().Marks[i], e.SlotOwner(i)
		all = owner != nil && owner != sh &&
			(m != nil && m.To == sh.ID || sh.Kept.Has(i) && keysIn(e, i) > 0)
		return all
	})
	return all && !set.Empty() && sh.Master == e.Self().ID
}

// slotRanges reads slots, or pairs of the first and last of a range, up to the first that cannot be
// read. Of single slots Redis reads all before it looks at any, so none is returned then.
func slotRanges(args [][]byte, ranges bool) (list []slot.Range, fault string) {
	if !ranges {
		for _, a := range args {
			n, ok := parseSlot(a)
			if !ok {
				return nil, errSlot
			}
			list = append(list, slot.Range{First: n, Last: n})
		}
		return list, ""
	}
	for ; len(args) > 1; args = args[2:] {
		first, ok := parseSlot(args[0])
		last, ok2 := parseSlot(args[1])
		switch {
		case !ok || !ok2:
			return list, errSlot
		case first > last:
			return list, "ERR start slot number " + strconv.Itoa(first) +
				" is greater than end slot number " + strconv.Itoa(last)
		}
		list = append(list, slot.Range{First: first, Last: last})
	}
	return list, ""
}

// slotFault returns what Redis would say of the first slot in the order of the arguments that
// cannot be added, or deleted. It returns "" if all can be.
func slotFault(s *topology.State, list []slot.Range, del bool) string {
	var seen slot.Set
	for _, r := range list {
		for i := r.First; i <= r.Last; i++ {
			text := "ERR Slot " + strconv.Itoa(i)
			switch free := s.Owner(i) == nil; {
			case del && free:
				return text + " is already unassigned"
			case !del && !free:
				return text + " is already busy"
			case seen.Has(i):
				return text + " specified multiple times"
			}
			seen.Add(i)
		}
	}
	return ""
}

func clusterFlushSlotsCmd(c *engine.Ctx) {
	me := c.E.Self().ID
	switch {
	case keys(c.E) > 0:
		c.Err("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.")
	case c.E.SelfShard().Master != me: // a replica has none
		c.OK()
	default:
		propose(c, topology.DelSlots{Node: me, All: true}, nil)
	}
}

// clusterSetSlotCmd carries out CLUSTER SETSLOT slot MIGRATING node | IMPORTING node | NODE node |
// STABLE [TIMEOUT ms].
func clusterSetSlotCmd(c *engine.Ctx) {
	me, sh := c.E.Self().ID, c.E.SelfShard()
	if sh.Master != me {
		c.Err("ERR Please use SETSLOT only with masters.")
		return
	}
	n, ok := parseSlot(c.Args[2])
	if !ok {
		c.Err(errSlot)
		return
	}
	if m := liveMigration(c.E, n); m != nil {
		c.Err(topology.SlotMigrates(m.To == sh.ID))
		return
	}
	r := setSlot{c: c, me: me, slot: n}
	args := c.Args[3:]
	what := args[0]
	switch {
	case is(what, "stable"):
		if r.timeout(args[1:]) {
			r.propose(topology.Unmark{Node: me, Slot: n})
		}
	case len(args) < 2:
		c.Err(errSetSlot)
	case is(what, "migrating"):
		r.mark(args, topology.SetMark{Node: me, Slot: n, Migrating: topology.NodeID(args[1])},
			!sh.Slots.Has(n), "I'm not the owner of hash slot ")
	case is(what, "importing"):
		r.mark(args, topology.SetMark{Node: me, Slot: n, Importing: topology.NodeID(args[1])},
			sh.Slots.Has(n), "I'm already the owner of hash slot ")
	case is(what, "node"):
		r.node(args)
	default:
		c.Err(errSetSlot)
	}
}

const errSetSlot = "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"

// setSlot is one run of CLUSTER SETSLOT.
type setSlot struct {
	c        *engine.Ctx
	me       topology.NodeID
	slot     int
	deadline int64
}

// timeout reads TIMEOUT ms. It reports false when it has replied with an error.
func (r *setSlot) timeout(args [][]byte) bool {
	switch {
	case len(args) == 0:
		return true
	case !is(args[0], "timeout") || len(args) > 2:
		r.c.Err(errSetSlot)
		return false
	case len(args) == 1:
		r.c.Err("ERR Missing timeout value")
		return false
	}
	ms, ok := timeoutArg(r.c, args[1])
	r.deadline = waitDeadline(r.c, ms)
	return ok
}

func (r *setSlot) propose(do topology.Action) {
	e := r.c.E
	r.c.Await(r.deadline, func(done func(string)) { e.Propose(do, done) }, okOrRefusal)
}

// mark proposes MIGRATING or IMPORTING. wrong says that the slot has the wrong owner, which the
// text tells: Redis looks at that before the node.
func (r *setSlot) mark(args [][]byte, do topology.SetMark, wrong bool, text string) {
	switch {
	case !r.timeout(args[2:]):
	case wrong && !topology.ValidID(string(args[1])):
		r.c.Err("ERR " + text + strconv.Itoa(r.slot))
	case !topology.ValidID(string(args[1])):
		r.c.Err("ERR I don't know about node " + string(args[1]))
	default:
		r.propose(do)
	}
}

// node carries out NODE, which gives the slot to a node. When this node gives it away, it first
// stops serving it: then no key can come between the check that there is none and the move.
func (r *setSlot) node(args [][]byte) {
	c, e, n := r.c, r.c.E, r.slot
	if !r.timeout(args[2:]) {
		return
	}
	to, ok := nodeArg(c, args[1], errUnknownNode)
	if !ok {
		return
	}
	var set slot.Set
	set.Add(n)
	move := topology.Move{Slots: set, To: to}
	sh, s := e.SelfShard(), e.Topology()
	target := s.ShardOf(to)
	if target != nil && target.Master == to && target.Slots.Has(n) && !target.Closing.Has(n) &&
		s.Marks[n] == nil && e.Cluster.Hears() {
		c.OK() // tools tell all masters, and the first one has made it so
		return
	}
	if !sh.Slots.Has(n) || to == r.me || target == nil || target.Master != to {
		r.propose(move)
		return
	}
	if keysIn(e, n) > 0 {
		c.Err(stillHolds(n))
		return
	}
	closing := topology.Close{Shard: sh.ID, Term: sh.Term, Slots: set}
	c.Await(r.deadline, func(done func(string)) {
		e.Propose(closing, func(refusal string) {
			if refusal == "" && keysIn(e, n) > 0 {
				open := topology.Open{Shard: closing.Shard, Slots: set}
				e.Propose(open, func(string) { done(stillHolds(n)) })
				return
			}
			if sh := e.SelfShard(); refusal != "" && (sh == nil || sh.Slots.Has(n)) {
				done(refusal) // nobody knows whether it is closed, so keys may come
				return
			}
			move.Closed = refusal == ""
			e.Propose(move, done) // if it was refused, the slot has moved just now
		})
	}, okOrRefusal)
}

func stillHolds(n int) string {
	return "ERR Can't assign hashslot " + strconv.Itoa(n) + " to a different node while I still" +
		" hold keys for this hash slot."
}
