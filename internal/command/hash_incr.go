package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

func hincrbyCmd(c *engine.Ctx) {
	delta, ok := intArg(c, c.Args[3])
	if !ok {
		return
	}
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	var old int64
	if found {
		v, has := h.Get(c.Args[2])
		if old = v.N; has && !v.IsInt {
			if old, ok = object.ParseInt(v.B); !ok {
				c.Err("ERR hash value is not an integer")
				return
			}
		}
	}
	n, ok := addInt(old, delta)
	if !ok {
		c.Err(engine.ErrOverflow)
		return
	}
	if !found {
		h = newHash(c)
	}
	var buf [20]byte
	h.SetKeep(c.Args[2], strconv.AppendInt(buf[:0], n, 10))
	hashChanged(c, "hincrby", 1, c.Args[2:3], 1)
	c.Int(n)
}

func hincrbyfloatCmd(c *engine.Ctx) {
	delta, ok := object.ParseLongDouble(c.Args[3])
	if !ok {
		c.Err(engine.ErrNotFloat)
		return
	}
	if delta.IsInf() {
		c.Err("ERR value is NaN or Infinity")
		return
	}
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	var old object.LongDouble
	if found {
		if v, has := h.Get(c.Args[2]); has {
			var digits [20]byte
			if old, ok = object.ParseLongDouble(valueText(v, &digits)); !ok {
				c.Err("ERR hash value is not a float")
				return
			}
		}
	}
	sum, ok := old.Add(delta)
	if !ok {
		c.Err(engine.ErrNaNInfinity)
		return
	}
	if !found {
		h = newHash(c)
	}
	var buf [64]byte
	text := sum.Append(buf[:0])
	h.SetKeep(c.Args[2], text)
	hashChanged(c, "hincrbyfloat", 1, c.Args[2:3], 1)
	propagateField(c, h, c.Args[2], text)
	c.Bulk(text)
}

// propagateField propagates the result of a float increment instead of the increment, because other
// machines might round it differently. It keeps the field's deadline.
func propagateField(c *engine.Ctx, h object.Fields, field, value []byte) {
	if d, _ := h.Deadline(field); d != 0 {
		c.PropagateAs([]byte("HSETEX"), c.Args[1], []byte("KEEPTTL"), []byte("FIELDS"), []byte("1"),
			field, value)
	} else {
		c.PropagateAs([]byte("HSET"), c.Args[1], field, value)
	}
}
