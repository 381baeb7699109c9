package command

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/object"
)

// syncSlots carries out CLUSTER SYNCSLOTS, with which the two nodes of a migration talk:
//
//	BEGIN cluster migration node   the destination asks for the keys
//	MARK n, END n, FLUSH db        the source says, within the stream
//	ACK n, ENDED n                 the destination answers
//
// Anything else is an error, which on the connection of a migration nobody is told.
func syncSlots(c *engine.Ctx) {
	if is(c.Args[2], "begin") {
		if len(c.Args) != 6 {
			c.WrongArity()
			return
		}
		c.SyncSlots(string(c.Args[3]), string(c.Args[4]), topology.NodeID(c.Args[5]))
		return
	}
	if len(c.Args) != 4 {
		c.WrongArity()
		return
	}
	n, ok := object.ParseInt(c.Args[3])
	if !ok {
		c.Err(engine.ErrSyntax)
		return
	}
	switch source := c.Client.Origin == engine.OriginImport; {
	case source && is(c.Args[2], "mark"):
		c.E.SlotsMark(c.Client, n)
	case source && is(c.Args[2], "end"):
		c.E.SlotsEnd(c.Client, n)
	case source && is(c.Args[2], "flush"):
		c.SlotsFlush(n)
	case is(c.Args[2], "ack") && c.E.SlotsApplied(c.Client, n):
	case is(c.Args[2], "ended") && c.E.SlotsComplete(c.Client, n):
	default:
		c.Err("ERR No such message of a migration is expected on this connection")
	}
}
