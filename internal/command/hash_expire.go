package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// These are the replies for one field in the HEXPIRE family.
const (
	fieldMissing = -2 // There is no such field.
	fieldNoTTL   = -1 // The field has no deadline.
	fieldRefused = 0  // The condition does not hold.
	fieldDone    = 1
	fieldDeleted = 2 // The deadline is in the past.
)

const (
	// maxFieldDeadline is the latest deadline that a client may give a field, in unix ms.
	maxFieldDeadline = 1<<46 - 1
	// maxKeptDeadline is the latest that files hold, about the year 10889. What a master or a log
	// says is beyond it (Valkey takes any 64 bits) becomes this.
	maxKeptDeadline = 1<<48 - 1
)

const (
	errFieldsMissing = "ERR Mandatory argument FIELDS is missing or not at the right position"
	errNumFields     = "ERR Number of fields must be a positive integer"
	errFieldCount    = "ERR The `numfields` parameter must match the number of arguments"
)

func httlCmd(c *engine.Ctx) {
	fieldDeadlines(c, func(c *engine.Ctx, d int64) { c.Int((d - c.Now + 999) / 1000) })
}

func hpttlCmd(c *engine.Ctx) {
	fieldDeadlines(c, func(c *engine.Ctx, d int64) { c.Int(d - c.Now) })
}

func hexpiretimeCmd(c *engine.Ctx) {
	fieldDeadlines(c, func(c *engine.Ctx, d int64) { c.Int((d + 999) / 1000) })
}

func hpexpiretimeCmd(c *engine.Ctx) {
	fieldDeadlines(c, func(c *engine.Ctx, d int64) { c.Int(d) })
}

// fieldList reads FIELDS numfields field … from argument i to the end. It replies with Redis's
// errors. badCount is the error for a count that is not a positive number.
func fieldList(c *engine.Ctx, i int, badCount string) (fields [][]byte, ok bool) {
	if i+1 >= len(c.Args) || !is(c.Args[i], "fields") {
		c.Err(errFieldsMissing)
		return nil, false
	}
	n, isInt := object.ParseInt(c.Args[i+1])
	fields = c.Args[i+2:]
	switch {
	case !isInt || n < 1:
		c.Err(badCount)
	case n != int64(len(fields)):
		c.Err(errFieldCount)
	default:
		return fields, true
	}
	return nil, false
}

// fieldDeadline converts a time argument to unix ms. unit is the argument's unit in ms. It replies
// with Redis's errors.
func fieldDeadline(c *engine.Ctx, arg []byte, unit int64, absolute bool) (deadline int64, ok bool) {
	n, ok := intArg(c, arg)
	if !ok {
		return 0, false
	}
	if n < 0 {
		c.Err("ERR invalid expire time, must be >= 0")
		return 0, false
	}
	base := c.Now
	if absolute {
		base = 0
	}
	limit, obeyed := int64(maxFieldDeadline), c.Obeyed()
	if obeyed {
		limit = maxKeptDeadline
	}
	switch {
	case n <= limit/unit && n*unit <= limit-base:
		return n*unit + base, true
	case obeyed:
		return limit, true
	}
	replyInvalidExpire(c)
	return 0, false
}

// replyMissing replies for each of n fields of a missing hash.
func replyMissing(c *engine.Ctx, n int) {
	c.Array(n)
	for range n {
		c.Int(fieldMissing)
	}
}

// fieldWrites collects what a command did to the deadlines of fields, for events and propagation.
type fieldWrites struct {
	updated [][]byte
	deleted [][]byte
}

// expire sets the deadline of a field of h, or deletes the field if the deadline is in the past.
func (w *fieldWrites) expire(c *engine.Ctx, h object.Fields, field []byte,
	deadline int64) (answer int64) {
	if c.Past(deadline) {
		h.Delete(field)
		c.PropagateAs([]byte("HDEL"), c.Args[1], field)
		w.deleted = append(w.deleted, field)
		return fieldDeleted
	}
	h.SetDeadline(field, deadline)
	w.updated = append(w.updated, field)
	return fieldDone
}

// finish sends the events and deletes the hash if it is empty.
func (w *fieldWrites) finish(c *engine.Ctx, h object.Fields, event string) {
	// The deadline is the same for all fields, so either kind is empty.
	fields := w.updated
	if len(w.deleted) > 0 {
		event, fields = "hdel", w.deleted
	}
	if len(fields) == 0 {
		return
	}
	hashChanged(c, event, len(fields), fields, 1)
	if h.Empty() {
		emptied(c, h.Edit, c.Args[1])
		return
	}
	c.DB.ArmFields(h.Edit)
}

// propagate propagates name key [deadline] FIELDS … for the updated fields. Deletions have been
// propagated before.
func (w *fieldWrites) propagate(c *engine.Ctx, name string, deadline int64) {
	if len(w.updated) == 0 {
		return
	}
	argv := [][]byte{[]byte(name), c.Args[1]}
	if deadline != 0 {
		argv = append(argv, strconv.AppendInt(nil, deadline, 10))
	}
	argv = append(argv, []byte("FIELDS"), strconv.AppendInt(nil, int64(len(w.updated)), 10))
	c.PropagateAs(append(argv, w.updated...)...)
}

func hexpire(c *engine.Ctx, unit int64, absolute bool) {
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	deadline, ok := fieldDeadline(c, c.Args[2], unit, absolute)
	if !ok {
		return
	}
	at := 3
	var cond expireCondition
	if fieldCondition(&cond, c.Args[3]) {
		at = 4
	}
	fields, ok := fieldList(c, at, "ERR Parameter `numFields` should be greater than 0")
	if !ok {
		return
	}
	if !found {
		replyMissing(c, len(fields))
		return
	}
	h.AllowDeadlines()
	var w fieldWrites
	c.Array(len(fields))
	ahead := h.Lookahead(fields, 1)
	for i, field := range fields {
		ahead.Reach(i)
		old, has := h.Deadline(field)
		switch {
		case !has:
			c.Int(fieldMissing)
		case !cond.met(old, deadline):
			c.Int(fieldRefused)
		default:
			c.Int(w.expire(c, h, field, deadline))
		}
	}
	w.finish(c, h, "hexpire")
	w.propagate(c, "HPEXPIREAT", deadline)
}

// fieldCondition reads a condition. It reports false if the argument is none.
func fieldCondition(o *expireCondition, arg []byte) bool {
	o.nx, o.xx, o.gt, o.lt = is(arg, "nx"), is(arg, "xx"), is(arg, "gt"), is(arg, "lt")
	return *o != expireCondition{}
}

// fieldDeadlines replies for each field: -2 if it is missing, -1 if it has no deadline, else it
// calls reply with the deadline.
func fieldDeadlines(c *engine.Ctx, reply func(c *engine.Ctx, deadline int64)) {
	h, found, ok := readHash(c)
	if !ok {
		return
	}
	fields, ok := fieldList(c, 2, errNumFields)
	if !ok {
		return
	}
	if !found {
		replyMissing(c, len(fields))
		return
	}
	c.Array(len(fields))
	ahead := h.Lookahead(fields, 1)
	for i, field := range fields {
		ahead.Reach(i)
		switch d, has := h.Deadline(field); {
		case !has:
			c.Int(fieldMissing)
		case d == 0:
			c.Int(fieldNoTTL)
		default:
			reply(c, d)
		}
	}
}

func hpersistCmd(c *engine.Ctx) {
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	fields, ok := fieldList(c, 2, errNumFields)
	if !ok {
		return
	}
	if !found {
		replyMissing(c, len(fields))
		return
	}
	changed := 0
	var names [][]byte
	c.Array(len(fields))
	ahead := h.Lookahead(fields, 1)
	for i, field := range fields {
		ahead.Reach(i)
		switch d, has := h.Deadline(field); {
		case !has:
			c.Int(fieldMissing)
		case d == 0:
			c.Int(fieldNoTTL)
		default:
			h.SetDeadline(field, 0)
			changed++
			if c.E.KS.P.FieldEvents {
				names = append(names, field)
			}
			c.Int(fieldDone)
		}
	}
	if changed > 0 {
		hashChanged(c, "hpersist", changed, names, 1)
	}
}
