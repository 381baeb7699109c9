package engine

// unit is an atomic unit of propagation in the making: what a transaction or a script changes reaches the sinks as a whole, or not at all.
//
// While a unit is open every propagated command is collected, be it of a handler or of the keyspace (an expiry's DEL). The arguments are copied into memory
// that the next unit uses again, since those of a script live no longer than the call. The outermost EndUnit hands everything
// over with one call of Sink.Propagate, which is what makes a unit.
//
//	MULTI … EXEC ─ BeginUnit ─┬─ SET a 1          cmds [SET a 1] [DEL b] [INCR c]
//	                          ├─ (b has expired)  dbs  [0]       [0]     [0]
//	                          ├─ EVAL ─ BeginUnit ─ INCR c ─ EndUnit
//	                          └─ EndUnit ─ Propagate(dbs, cmds)
type unit struct {
	depth   int
	dropped bool // what is collected never leaves
	dbs     []int
	cmds    [][][]byte
	args    [][]byte // of cmds, one after the other
	buf     []byte   // of args

	one    [1][][]byte // of a command outside of units
	sameDB []int       // dbs of commands outside of units
}

const (
	// keepUnitArgs and keepUnitBytes bound what a unit keeps for the next one: number of arguments, and bytes.
	keepUnitArgs  = 4096
	keepUnitBytes = 64 << 10
)

// BeginUnit opens a unit: what is propagated until the EndUnit that belongs to it is atomic. Units nest; only the outermost counts.
func (e *Engine) BeginUnit() { e.unit.depth++ }

// EndUnit closes a unit.
func (e *Engine) EndUnit() {
	u := &e.unit
	if u.depth--; u.depth > 0 {
		return
	}
	if len(u.cmds) > 0 {
		e.flushUnit()
	}
	u.dropped = false
}

// DropUnit forgets what the open unit has collected and will collect: the server ends in the middle of it.
func (e *Engine) DropUnit() { e.unit.dropped = e.unit.depth > 0 }

// InUnit reports whether a unit is open: a transaction or script is running, and what it does is not propagated yet.
func (e *Engine) InUnit() bool { return e.unit.depth > 0 }

// flushUnit hands over what the unit has collected.
func (e *Engine) flushUnit() {
	u := &e.unit
	if len(u.cmds) == 0 {
		return
	}
	if !u.dropped {
		for _, s := range e.sinks {
			s.Propagate(u.dbs, u.cmds)
		}
		if e.current != nil && len(e.sinks) > 0 {
			e.noteLogged(e.current)
		}
	}
	clear(u.cmds)
	clear(u.args)
	u.dbs, u.cmds, u.args, u.buf = u.dbs[:0], u.cmds[:0], u.args[:0], u.buf[:0]
	if cap(u.args) > keepUnitArgs {
		u.dbs, u.cmds, u.args = nil, nil, nil
	}
	if cap(u.buf) > keepUnitBytes {
		u.buf = nil
	}
}

// add collects a command.
func (u *unit) add(db int, argv [][]byte) {
	first := len(u.args)
	for _, a := range argv {
		from := len(u.buf)
		u.buf = append(u.buf, a...) // what moves to a larger block stays good in the old one
		u.args = append(u.args, u.buf[from:len(u.buf):len(u.buf)])
	}
	u.dbs = append(u.dbs, db)
	u.cmds = append(u.cmds, u.args[first:len(u.args):len(u.args)])
}
