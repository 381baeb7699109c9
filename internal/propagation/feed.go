// Package propagation turns what commands change into the bytes that the append-only file and the
// replicas get.
//
//	MULTI … EXEC ─ Begin ─┬─ SET a 1            targets: log, replicas
//	                      ├─ DEL b              b has expired
//	                      ├─ EVAL ─ Begin ─ INCR c ─ End
//	                      └─ End ─→ SELECT 0  MULTI  SET a 1  DEL b  INCR c  EXEC
//
// A unit is what one command, transaction or script changes: a target gets all of it, or nothing.
// It is a stream of commands in the protocol. Several commands stand between MULTI and EXEC. Where
// the database changes there is a SELECT. The first one stands before the MULTI, as in Redis 7.0.
// Redis 8 writes it within; both read both.
//
// Each command is encoded once, whatever the number of targets. What differs between them is added
// around it: which commands they get, and the SELECTs.
package propagation

import (
	"math/bits"
	"strconv"

	"godwit/internal/resp"
)

// Targets is a set of the places that changes are sent to. It is chosen for each command. Scripts
// know the numbers (redis.set_repl).
type Targets uint8

// The targets. Those from FirstExport on are places that get the changes of some keys only.
const (
	Log         Targets = 1 << iota // the append-only file
	Replicas                        // the replication backlog
	FirstExport                     // and those above it
	numTargets  = 8
	All         = Log | Replicas
	// MaxExports is how many exports there can be.
	MaxExports = numTargets - 2
)

// Target takes the bytes of units, in order.
type Target interface {
	// BeginUnit returns the buffer that a unit will be appended to, nil if the target wants none
	// now. The unit is expected to need room for n bytes at most.
	BeginUnit(n int) *Buffer
	// EndBatch is called when a batch of commands ends, before its replies are sent.
	EndBatch()
}

// Buffer is the end of a target's stream. The target owns it, and may take bytes out of it between
// units, but must not change them before EndBatch.
type Buffer struct {
	B  []byte // whole units
	DB int    // the database that the stream has selected, NoDB for none
}

// NoDB is the selected database at the beginning of a stream.
const NoDB = -1

// enter selects the database for the commands that follow. Those of NoDB belong to none.
func (b *Buffer) enter(db int) {
	if db != b.DB && db != NoDB {
		b.DB = db
		b.B = AppendSelect(b.B, db)
	}
}

// selectBytes is the most bytes that a SELECT takes.
const selectBytes = len("*2\r\n$6\r\nSELECT\r\n$20\r\n\r\n") + 20

// AppendSelect appends the command SELECT db in the protocol.
func AppendSelect(b []byte, db int) []byte {
	var num [20]byte
	return resp.AppendCommand(b, selectName, strconv.AppendInt(num[:0], int64(db), 10))
}

var selectName = []byte("SELECT")

// Feed sends units to the targets that are attached to it. The zero value has none.
type Feed struct {
	// Sent, if it is set, is called when the target Replicas has got something, which is always
	// whole units. It must not send anything itself.
	Sent func()
	// Route, if it is set, returns the exports that a command is for, whatever other targets it is
	// sent to. It may send them something else instead, before that command.
	Route func(db int, argv [][]byte) Targets
	// Head, which is set with Route, returns how many arguments Route needs of a command with the
	// name, 0 for all of them. Route gets no others.
	Head func(name []byte) int

	targets  [numTargets]Target
	attached Targets
	offset   int64
	unit     unit
	flat     []byte   // of args
	args     [][]byte // what Route looks at
}

// Attach adds a target: the commands to come are sent to it. It does not get what the open unit has
// collected: a target begins with the data set as it is now.
func (f *Feed) Attach(to Targets, t Target) {
	if f.attached&to == 0 {
		f.unit.forget(to)
	}
	f.targets[bits.TrailingZeros8(uint8(to))] = t
	f.attached |= to
}

// Detach takes targets away.
func (f *Feed) Detach(to Targets) { f.attached &^= to }

// Reattach brings back targets that were detached.
func (f *Feed) Reattach(to Targets) { f.attached |= to }

// Attached returns the targets that are attached.
func (f *Feed) Attached() Targets { return f.attached }

// Offset returns the number of bytes that the target Replicas has got. Bytes for the log alone do
// not count.
func (f *Feed) Offset() int64 { return f.offset }

// MaxOffset is the largest offset that is believed when a master or a file says it. Behind it there
// is room for more than a server can send, so that no sum of offsets and lengths overflows.
const MaxOffset = 1 << 62

// SetOffset sets what Offset returns: the stream goes on from there. It must not be beyond
// MaxOffset.
func (f *Feed) SetOffset(n int64) { f.offset = n }

// Selected returns the database that the stream of the replicas has selected, NoDB for none.
func (f *Feed) Selected() int {
	if f.attached&Replicas != 0 {
		if b := f.targets[bits.TrailingZeros8(uint8(Replicas))].BeginUnit(0); b != nil {
			return b.DB
		}
	}
	return NoDB
}

// Send sends a command to those of the targets that are attached, as a unit of its own or as a part
// of the open one. argv is borrowed.
func (f *Feed) Send(to Targets, db int, argv [][]byte) {
	if f.Route != nil && to < FirstExport {
		to |= f.route(db, argv)
	}
	to &= f.attached
	if to == 0 {
		return
	}
	if f.unit.depth > 0 {
		f.unit.add(to, db, argv)
		return
	}
	var text []byte // of the command
	room := selectBytes + resp.CommandRoom(argv)
	for ; to != 0; to &= to - 1 {
		i := bits.TrailingZeros8(uint8(to))
		b := f.targets[i].BeginUnit(room)
		if b == nil {
			continue
		}
		from := len(b.B)
		b.enter(db)
		if text == nil {
			at := len(b.B)
			b.B = resp.AppendCommand(b.B, argv...)
			text = b.B[at:]
		} else {
			b.B = append(b.B, text...)
		}
		f.count(i, len(b.B)-from)
	}
}

// route calls Route with a copy of the command: who sends commands may have them on its stack,
// where nobody but the compiler can see who uses them.
func (f *Feed) route(db int, argv [][]byte) Targets {
	f.flat, f.args = append(f.flat[:0], argv[0]...), f.args[:0]
	if n := f.Head(f.flat); n > 0 && n < len(argv) {
		argv = argv[:n] // values may be large
	}
	f.flat = f.flat[:0]
	for _, a := range argv {
		f.flat = append(f.flat, a...)
	}
	rest := f.flat
	for _, a := range argv {
		f.args = append(f.args, rest[:len(a):len(a)])
		rest = rest[len(a):]
	}
	to := f.Route(db, f.args)
	if cap(f.flat) > keepBytes {
		f.flat, f.args = nil, nil
	}
	return to
}

// Relay sends bytes to the replicas as they are: what a master has sent to this server. They are
// whole commands. What this server sends itself later begins with a SELECT.
func (f *Feed) Relay(text []byte) {
	if f.attached&Replicas == 0 {
		return
	}
	i := bits.TrailingZeros8(uint8(Replicas))
	if b := f.targets[i].BeginUnit(len(text)); b != nil {
		b.B = append(b.B, text...)
		b.DB = NoDB
		f.count(i, len(text))
	}
}

// EndBatch tells the targets that a batch of commands has ended.
func (f *Feed) EndBatch() {
	for on := f.attached; on != 0; on &= on - 1 {
		f.targets[bits.TrailingZeros8(uint8(on))].EndBatch()
	}
}

// count counts n bytes that target i has got.
func (f *Feed) count(i, n int) {
	if Targets(1<<i) != Replicas {
		return
	}
	f.offset += int64(n)
	if f.Sent != nil {
		f.Sent()
	}
}
