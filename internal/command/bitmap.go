package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(bitmapHandlers)

func bitmapHandlers() engine.Handlers {
	return engine.Handlers{
		"setbit":      setbitCmd,
		"getbit":      getbitCmd,
		"bitcount":    bitcountCmd,
		"bitpos":      bitposCmd,
		"bitop":       bitopCmd,
		"bitfield":    func(c *engine.Ctx) { bitfield(c, false) },
		"bitfield_ro": func(c *engine.Ctx) { bitfield(c, true) },
	}
}

// bitOffset reads the offset of a bit. It must lie within the longest string allowed. If width is
// not 0, "#n" means n times width.
func bitOffset(c *engine.Ctx, arg []byte, width int) (int64, bool) {
	scale := int64(1)
	if width > 0 && len(arg) > 0 && arg[0] == '#' {
		scale, arg = int64(width), arg[1:]
	}
	n, ok := object.ParseInt(arg)
	if !ok || n < 0 || n > math.MaxInt64/scale || n*scale>>3 >= stringLimit(c) {
		c.Err(engine.ErrBitOffset)
		return 0, false
	}
	return n * scale, true
}

// growBits opens the string at key for the given number of changes, made long enough to hold the
// bit. It reports in grown whether that created or lengthened the string. It replies with an error
// and reports false in ok if the key holds another type, or if memory is short.
func growBits(c *engine.Ctx, key []byte, bit int64, places int) (
	x object.StringEdit, grown, ok bool) {
	e := c.DB.Lookup(key)
	if !isString(c, e) {
		return x, false, false
	}
	n, old, copied := int(bit>>3)+1, 0, int64(0)
	if e.Exists() {
		old, copied = e.StringLen(), c.E.KS.Heap.CopyBound(e, places)
	}
	if grown = !e.Exists() || old < n; !c.E.HasRoom(int64(max(n-old, 0)) + copied) {
		c.Err(engine.ErrNoMemory)
		return x, false, false
	}
	return mutable(c, key, e, n), grown, true
}

func setbitCmd(c *engine.Ctx) {
	key := c.Args[1]
	offset, ok := bitOffset(c, c.Args[2], 0)
	if !ok {
		return
	}
	on, ok := object.ParseInt(c.Args[3])
	if !ok || on&^1 != 0 {
		c.Err(engine.ErrBitValue)
		return
	}
	x, grown, ok := growBits(c, key, offset, 1)
	if !ok {
		return
	}
	i, shift := int(offset>>3), 7-uint(offset&7)
	old := x.Bytes()[i] >> shift & 1
	if grown || old != byte(on) {
		b := x.Change(i, i+1)
		b[0] = b[0]&^(1<<shift) | byte(on)<<shift
		c.Dirty(1)
		changed(c, "setbit", key)
	}
	c.Int(int64(old))
}

func getbitCmd(c *engine.Ctx) {
	offset, ok := bitOffset(c, c.Args[2], 0)
	if !ok {
		return
	}
	e := c.DB.LookupRead(c.Args[1])
	if !isString(c, e) {
		return
	}
	var scratch [24]byte
	var bit int64
	if e.Exists() {
		if b := c.DB.StringBytes(e, &scratch); offset>>3 < int64(len(b)) {
			bit = int64(b[offset>>3] >> (7 - uint(offset&7)) & 1)
		}
	}
	c.Int(bit)
}
