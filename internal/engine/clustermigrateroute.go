package engine

import (
	"strconv"

	"godwit/internal/propagation"
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// routeExport returns the exports that get a command which is propagated: those of the slots of its
// keys. A command that empties databases is told to them in another form, because it would empty
// those of the destination.
func (e *Engine) routeExport(db int, argv [][]byte) (to propagation.Targets) {
	cmd := e.table.FindLogged(argv)
	if cmd == nil || cmd.UsesShardChannels() {
		return 0
	}
	switch e.table.routes[cmd.ID()] {
	case routeOne:
		return e.migrations.of(slot.Of(argv[cmd.FirstKey()]))
	case routeNone:
		return e.routeKeyless(cmd, db, argv)
	}
	refs, _ := cmd.KeyRefs(e.migrations.refs[:0], argv)
	for _, r := range refs {
		to |= e.migrations.of(slot.Of(argv[r.Pos]))
	}
	e.migrations.refs = refs[:0]
	return to
}

// routeHead returns how many arguments of a command tell routeExport which exports get it, 0 for
// all of them.
func (e *Engine) routeHead(name []byte) int {
	cmd := e.table.FindLogged([][]byte{name})
	if cmd == nil || e.table.routes[cmd.ID()] != routeOne {
		return 0
	}
	return cmd.FirstKey() + 1
}

// of returns the exports of a slot.
func (g *migrations) of(i int) (to propagation.Targets) {
	if !g.exported.Has(i) {
		return 0
	}
	for _, x := range g.exports {
		if x.bit != 0 && x.slots.Has(i) {
			to |= x.bit
		}
	}
	return to
}

// syncSlots is how a message of the stream between two nodes begins.
var syncSlots = [2][]byte{[]byte("CLUSTER"), []byte("SYNCSLOTS")}

// routeKeyless is routeExport for a command without keys.
func (e *Engine) routeKeyless(cmd *spec.Command, db int, argv [][]byte) propagation.Targets {
	switch cmd.FullName() {
	case "flushall":
		db = -1
	case "flushdb":
	case "cluster|flushslot":
		if i, err := strconv.Atoi(string(argv[2])); err == nil {
			return e.migrations.of(i)
		}
		return 0
	default:
		return 0
	}
	for _, x := range e.migrations.exports {
		if x.bit != 0 {
			e.sendExport(x, "FLUSH", int64(db))
		}
	}
	return 0
}

// sendExport puts a message into the stream of an export.
func (e *Engine) sendExport(x *export, what string, n int64) {
	var num [20]byte
	e.Feed.Send(x.bit, propagation.NoDB,
		[][]byte{syncSlots[0], syncSlots[1], []byte(what), strconv.AppendInt(num[:0], n, 10)})
}
