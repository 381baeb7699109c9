package propagation

import (
	"math/bits"
	"slices"

	"godwit/internal/resp"
)

// unit is a unit in the making. While it is open each command is encoded into its memory, which the
// next unit uses again; a target's share of it is put together at the end.
//
//	text  *3…SET a 1…  *2…DEL b…  *2…INCR c…
//	cmds  {end 27,db 0}  {end 47}   {end 69}
type unit struct {
	depth   int
	dropped bool // what is collected never leaves
	cmds    []unitCommand
	text    []byte
}

// unitCommand is a command of a unit. It begins where the one before it ends.
type unitCommand struct {
	end int // in the text
	db  int
	to  Targets
}

const (
	// keepCommands and keepBytes bound what a unit keeps for the next one.
	keepCommands = 4096
	keepBytes    = 64 << 10
)

// Begin opens a unit: what is sent until the End that belongs to it is atomic. Units nest; only the
// outermost counts.
func (f *Feed) Begin() { f.unit.depth++ }

// End closes a unit. The outermost one is sent then; sent reports that.
func (f *Feed) End() (sent bool) {
	u := &f.unit
	if u.depth--; u.depth > 0 {
		return false
	}
	sent = f.Flush()
	u.dropped = false
	return sent
}

// Drop forgets what the open unit has collected and will collect: the server ends in the middle of
// it.
func (f *Feed) Drop() { f.unit.dropped = f.unit.depth > 0 }

// InUnit reports whether a unit is open: what is sent now leaves later.
func (f *Feed) InUnit() bool { return f.unit.depth > 0 }

// Flush sends what the open unit has collected so far, and reports whether that was anything.
func (f *Feed) Flush() (sent bool) {
	u := &f.unit
	if len(u.cmds) == 0 {
		return false
	}
	if !u.dropped {
		sent = f.flush()
	}
	u.cmds, u.text = u.cmds[:0], u.text[:0]
	if cap(u.cmds) > keepCommands {
		u.cmds = nil
	}
	if cap(u.text) > keepBytes {
		u.text = nil
	}
	return sent
}

func (f *Feed) flush() (sent bool) {
	room := f.unit.room()
	for on := f.attached; on != 0; on &= on - 1 {
		i := bits.TrailingZeros8(uint8(on))
		n := f.unit.count(1 << i)
		if n == 0 {
			continue
		}
		sent = true
		if b := f.targets[i].BeginUnit(room); b != nil {
			from := len(b.B)
			f.unit.appendTo(b, 1<<i, n)
			f.count(i, len(b.B)-from)
		}
	}
	return sent
}

// add collects a command.
func (u *unit) add(to Targets, db int, argv [][]byte) {
	u.text = resp.AppendCommand(u.text, argv...)
	u.cmds = append(u.cmds, unitCommand{end: len(u.text), db: db, to: to})
}

// forget takes away what was collected for targets.
func (u *unit) forget(to Targets) {
	for i := range u.cmds {
		u.cmds[i].to &^= to
	}
}

// count returns how many commands are for a target.
func (u *unit) count(to Targets) (n int) {
	for i := range u.cmds {
		if u.cmds[i].to&to != 0 {
			n++
		}
	}
	return n
}

const (
	multi = "*1\r\n$5\r\nMULTI\r\n"
	exec  = "*1\r\n$4\r\nEXEC\r\n"
)

// room returns the bytes that the unit takes for one target, unless it changes databases.
func (u *unit) room() int { return len(u.text) + len(multi) + len(exec) + selectBytes }

// appendTo appends the n commands that are for a target.
func (u *unit) appendTo(b *Buffer, to Targets, n int) {
	b.B = slices.Grow(b.B, u.room())
	from, first := 0, true
	for _, c := range u.cmds {
		if c.to&to != 0 {
			b.enter(c.db)
			if first && n > 1 {
				b.B = append(b.B, multi...)
			}
			first = false
			b.B = append(b.B, u.text[from:c.end]...)
		}
		from = c.end
	}
	if n > 1 {
		b.B = append(b.B, exec...)
	}
}
